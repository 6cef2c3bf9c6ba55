import json
from datetime import UTC, datetime

import pytest

from bio_mcp.adapters.embedded.database import Connection, Database
from bio_mcp.adapters.embedded.schema import EARLIER, MIGRATIONS
from bio_mcp.adapters.embedded.sync_state import SqliteJobs
from bio_mcp.errors import StoreFailed
from bio_mcp.ports.state import Job


def test_jobs_of_before_they_were_numbered_come_first_by_their_times(tmp_path):
    old = Database(tmp_path, migrations=MIGRATIONS[:1])
    with old.writing() as connection:
        for day in (2, 3, 1):
            at = datetime(2040, 1, day, tzinfo=UTC).isoformat(timespec="microseconds")
            row = (f"j{day}", "sync", "waiting", "k", at, at, json.dumps({"query_key": "k"}), "{}", "{}")
            connection.execute("INSERT INTO jobs VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", row)
    old.close()
    jobs = SqliteJobs(Database(tmp_path))
    assert [each.job_id for each in jobs.newest("sync", 9)] == ["j3", "j2", "j1"]
    now = datetime(2026, 1, 1, tzinfo=UTC)
    jobs.put(Job("new", "sync", "running", now, now, {"query_key": "k"}))
    jobs.put(jobs.get("j2"))
    assert jobs.latest("sync", "k").job_id == "new"


def test_a_corpus_of_before_the_first_release_is_refused_and_left_as_it_is(tmp_path):
    with Database(tmp_path).writing() as connection:
        connection.execute(f"PRAGMA user_version = {EARLIER}")
    with pytest.raises(StoreFailed, match="before its first release") as failure:
        SqliteJobs(Database(tmp_path)).newest("sync", 1)
    assert not failure.value.retryable


@pytest.mark.parametrize("at", range(5))
def test_a_new_corpus_file_that_another_process_makes_while_it_is_opened_is_no_foreign_one(tmp_path, at):
    ran = []

    class Meeting(Connection):
        """Another process opens the corpus before statement number `at`."""

        def execute(self, *statement):
            ran.append(statement)
            if len(ran) == at + 1:
                with Database(tmp_path).writing() as other:
                    other.execute("INSERT INTO settings VALUES ('change', 1)")
            return super().execute(*statement)

    class Late(Database):
        connections = Meeting

    with Late(tmp_path).reading() as connection:
        assert connection.execute("SELECT value FROM settings").fetchall() == [(1,)]
    assert len(ran) > at + 1

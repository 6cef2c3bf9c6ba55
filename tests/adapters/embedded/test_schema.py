import json
from datetime import UTC, datetime

import pytest

from bio_mcp.adapters.embedded.checkpoints import SqliteCheckpoints
from bio_mcp.adapters.embedded.database import Database
from bio_mcp.adapters.embedded.documents import SqliteDocuments
from bio_mcp.adapters.embedded.opening import Connection
from bio_mcp.adapters.embedded.schema import MIGRATIONS
from bio_mcp.literature import serial
from bio_mcp.literature.records import Article
from bio_mcp.ports.state import Checkpoint

BY_KEY = 3  # steps of the last schema whose watermarks had no terms


def test_watermarks_that_had_no_term_get_that_of_the_newest_sync_of_their_key(tmp_path):
    old = Database(tmp_path, migrations=MIGRATIONS[:BY_KEY])
    windows = {"edat": "2025-12-31"}
    with old.writing() as connection:
        for key in ("synced", "set by hand"):
            row = (key, "2025-12-30T05:00:00Z", json.dumps(windows))
            connection.execute("INSERT INTO checkpoints VALUES (?, ?, ?)", row)
        for day, term in ((2, "new"), (1, "old")):
            at = datetime(2026, 1, day, tzinfo=UTC).isoformat(timespec="microseconds")
            row = (f"j{day}", "sync", "succeeded", "synced", at, at, json.dumps({"term": term}), "{}", "{}")
            connection.execute("INSERT INTO jobs VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", row)
    old.close()
    checkpoints = SqliteCheckpoints(Database(tmp_path))
    assert checkpoints.all() == [
        Checkpoint("set by hand", "2025-12-30T05:00:00Z", windows),
        Checkpoint("synced", "2025-12-30T05:00:00Z", windows, "new"),
    ]


def test_a_corpus_of_before_papers_were_found_by_doi_finds_them_once_it_is_opened(tmp_path):
    step = next(place for place, each in enumerate(MIGRATIONS) if "TABLE paper_identifiers" in each)
    old = Database(tmp_path, migrations=MIGRATIONS[:step])
    with old.writing() as connection:
        for pmid in range(1, 30):
            article = serial.dumps(Article(str(pmid), doi=f"10.1000/A{pmid}", pmcid=f"PMC{pmid}"))
            connection.execute("INSERT INTO articles VALUES (?, ?)", (pmid, b"damaged" if pmid == 7 else article))
    old.close()
    documents = SqliteDocuments(Database(tmp_path), serial)
    assert documents.resolve(["doi:10.1000/a9", "pmcid:PMC3", "pmcid:PMC7"]) == {
        "doi:10.1000/a9": "9",
        "pmcid:PMC3": "3",
    }


@pytest.mark.parametrize("at", range(6))
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

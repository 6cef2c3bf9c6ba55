"""The authorizations of a laptop: private, durable, and gone with their file."""

import shutil
import stat
from datetime import UTC, datetime, timedelta

import pytest

from bio_mcp.adapters.embedded.authorizations import FILE, SqliteAuthorizations
from bio_mcp.errors import StoreFailed
from bio_mcp.ports.authorizations import Authorization

SESSION = Authorization("session", "k", "ann", datetime.now(UTC) + timedelta(days=1), {})


def test_the_file_is_this_users_alone(tmp_path, closed):
    closed(SqliteAuthorizations(tmp_path)).put(SESSION)
    assert stat.S_IMODE((tmp_path / FILE).stat().st_mode) == 0o600


def test_another_process_sees_each_write(tmp_path, closed):
    one, other = closed(SqliteAuthorizations(tmp_path)), closed(SqliteAuthorizations(tmp_path))
    one.put(SESSION)
    assert other.get("session", "k") is not None
    other.revoke("ann")
    assert one.get("session", "k") is None


def test_a_commit_is_on_the_disk_before_it_is_reported(tmp_path, closed):
    store = closed(SqliteAuthorizations(tmp_path))
    store.put(SESSION)
    with store._file.transaction("BEGIN") as connection:
        assert connection.execute("PRAGMA synchronous").fetchone() == (2,)


def test_what_has_expired_leaves_the_file(tmp_path, closed):
    now = [1_000.0]
    store = closed(SqliteAuthorizations(tmp_path, lambda: now[0]))
    for number in range(50):
        ends = datetime.fromtimestamp(1_010, UTC)
        store.put(Authorization("session", f"k{number}", "ann", ends, {}))
    now[0] = 1_020.0
    store.put(SESSION)
    with store._file.transaction("BEGIN") as connection:
        assert connection.execute("SELECT count(*) FROM authorizations").fetchone() == (1,)


@pytest.mark.parametrize("suffixes", [[""], ["", "-wal", "-shm"]])
def test_whoever_deletes_the_file_of_a_running_server_signs_everybody_out_of_it(tmp_path, closed, suffixes):
    server, command = closed(SqliteAuthorizations(tmp_path)), closed(SqliteAuthorizations(tmp_path))
    server.put(SESSION)
    for suffix in suffixes:
        (tmp_path / (FILE + suffix)).unlink()
    assert server.get("session", "k") is None
    server.put(SESSION)
    assert command.revoke("ann") == 1
    assert server.get("session", "k") is None


def test_a_file_that_was_put_back_is_the_one_that_a_running_server_reads_and_writes(tmp_path, closed):
    server = closed(SqliteAuthorizations(tmp_path / "home"))
    with_session = closed(SqliteAuthorizations(tmp_path / "other"))
    with_session.put(SESSION)
    with_session.close()
    assert server.get("session", "k") is None
    shutil.move(tmp_path / "other" / FILE, tmp_path / "home" / FILE)
    assert server.get("session", "k") is not None
    server.put(Authorization("session", "other", "ann", SESSION.expires, {}))
    command = closed(SqliteAuthorizations(tmp_path / "home"))
    assert command.revoke("ann") == 2
    assert server.of("session", "ann") == []


def test_a_revocation_in_a_file_that_was_replaced_meanwhile_is_not_acknowledged(tmp_path, closed):
    server = closed(SqliteAuthorizations(tmp_path))
    server.put(SESSION)

    def revoke_and_replace():
        with server._file.transaction("BEGIN IMMEDIATE") as connection:
            connection.execute("DELETE FROM authorizations")
            (tmp_path / FILE).unlink()

    with pytest.raises(StoreFailed, match="authorizations was replaced") as raised:
        revoke_and_replace()
    assert raised.value.retryable

"""The authorizations of a laptop: private, durable, and gone with their file."""

import stat
from datetime import UTC, datetime, timedelta

from bio_mcp.adapters.embedded.authorizations import FILE, SqliteAuthorizations
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

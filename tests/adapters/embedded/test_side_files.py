"""Files beside the corpus: private, apart from it, made anew when damaged, and gone when somebody deletes them."""

import os
import shutil
import sqlite3
import stat
from contextlib import closing
from datetime import UTC, datetime, timedelta
from threading import Event, Thread

import pytest

from bio_mcp.adapters.embedded.database import WITNESSES
from bio_mcp.adapters.embedded.side_files import SideFile, SqliteAuthorizations, SqliteBudgets, SqliteCache, SqliteCalls
from bio_mcp.errors import NotFound, StoreFailed
from bio_mcp.ports.state import Authorization, CallRecord
from tests.adapters.clocks import Clock

LIMIT = MB = 1 << 20
SESSION = Authorization("session", "k", "ann", datetime.now(UTC) + timedelta(days=1), {})
MADE = {
    SqliteAuthorizations: SqliteAuthorizations,
    SqliteBudgets: SqliteBudgets,
    SqliteCache: lambda directory: SqliteCache(directory, 1),
    SqliteCalls: lambda directory: SqliteCalls(directory, 7, 1),
}


def call(number, read=b""):
    at = datetime.fromtimestamp(number, UTC)
    return CallRecord(f"id{number}", "rag.search", {}, "in", "out", "ok", at, {}, read)


@pytest.fixture
def clock():
    return Clock(1_000_000.0)


@pytest.fixture
def cache(tmp_path, clock, closed):
    return closed(SqliteCache(tmp_path / "home", 1, clock))


def used(store: SideFile):
    with store.transaction("BEGIN") as connection:
        return connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0] > 0


@pytest.mark.parametrize("kind", MADE)
def test_a_file_is_this_users_alone_and_may_be_deleted_or_be_of_another_version(tmp_path, closed, kind):
    with closing(sqlite3.connect(tmp_path / kind.file)) as connection:
        connection.executescript("CREATE TABLE answers (something_else TEXT); PRAGMA user_version = 99;")
    store = closed(MADE[kind](tmp_path))
    assert used(store)
    for suffixes in ([""], ["", "-wal", "-shm"]):
        for suffix in suffixes:
            (tmp_path / (kind.file + suffix)).unlink()
        assert used(store)
    assert stat.S_IMODE((tmp_path / kind.file).stat().st_mode) == 0o600


@pytest.mark.parametrize("kind", MADE)
def test_a_place_that_cannot_be_written_is_a_failure_of_the_file_alone(tmp_path, kind):
    (tmp_path / "file").write_text("not a directory")
    with pytest.raises(StoreFailed, match=f"{kind.what} cannot be used"):
        used(MADE[kind](tmp_path / "file"))


def test_it_stays_within_its_size_and_gives_up_what_is_over_and_then_the_oldest_first(cache, clock, tmp_path):
    cache.put({"keep": b"old but good"}, 86_400)
    for number in range(600):
        clock.now += 10
        cache.put({f"over {number}": os.urandom(10_000)}, 30)
    assert set(cache.get(["keep"])) == {"keep"}
    for number in range(600):
        clock.now += 1
        cache.put({f"{number:04}": os.urandom(10_000)}, 86_400)
    held = cache.get([f"{number:04}" for number in range(600)])
    assert 40 <= len(held) <= LIMIT // 10_000
    assert sorted(held) == [f"{number:04}" for number in range(600 - len(held), 600)]
    cache.close()
    assert sum(path.stat().st_size for path in (tmp_path / "home").iterdir()) < 2 * LIMIT


@pytest.mark.parametrize(
    "damage",
    [
        lambda path: path.write_bytes(b"no database at all " * 1_000),
        lambda path: path.write_bytes(path.read_bytes()[:4_096] + os.urandom(20_000)),
        lambda path: path.write_bytes(path.read_bytes()[:5_000]),
    ],
)
def test_a_damaged_file_is_recreated(tmp_path, clock, damage):
    first = SqliteCache(tmp_path, 1, clock)
    first.put({f"{number}": os.urandom(3_000) for number in range(20)}, 60)
    first.close()
    damage(tmp_path / SqliteCache.file)
    cache = SqliteCache(tmp_path, 1, clock)
    for _ in range(3):  # it fails, is deleted, and is whole
        try:
            cache.put({"a": b"one"}, 60)
            held = cache.get(["a", *map(str, range(20))])
        except StoreFailed:
            continue
    assert held["a"].value == b"one"
    cache.close()


def test_somebody_who_writes_for_too_long_is_not_waited_for(cache, tmp_path):
    cache.put({"a": b"one"}, 60)
    writer = sqlite3.connect(tmp_path / "home" / SqliteCache.file, isolation_level=None)
    writer.execute("BEGIN IMMEDIATE")
    assert cache.get(["a"])["a"].value == b"one"
    with pytest.raises(StoreFailed):
        cache.put({"b": b"two"}, 60)
    writer.execute("ROLLBACK")
    writer.close()
    cache.put({"b": b"two"}, 60)
    assert cache.get(["b"])["b"].value == b"two"


def test_a_reader_that_is_interrupted_leaves_nothing_behind(cache):
    cache.put({"a": b"one"}, 60)
    with pytest.raises(KeyboardInterrupt), cache.transaction("BEGIN"):
        raise KeyboardInterrupt
    assert cache.get(["a"])["a"].value == b"one"


def test_it_may_be_closed_while_another_thread_uses_it(cache):
    stop = Event()

    def use():
        while not stop.is_set():
            cache.put({"a": b"one"}, 60)

    thread = Thread(target=use)
    thread.start()
    for _ in range(20):
        cache.close()
    stop.set()
    thread.join()
    assert cache.get(["a"])["a"].value == b"one"


def test_whoever_deletes_the_file_of_a_running_server_signs_everybody_out_of_it(tmp_path, closed):
    server, command = closed(SqliteAuthorizations(tmp_path)), closed(SqliteAuthorizations(tmp_path))
    server.put(SESSION)
    with server.transaction("BEGIN") as connection:
        assert connection.execute("PRAGMA synchronous").fetchone() == (2,)  # a commit is on the disk
    (tmp_path / SqliteAuthorizations.file).unlink()
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
    shutil.move(tmp_path / "other" / SqliteAuthorizations.file, tmp_path / "home" / SqliteAuthorizations.file)
    assert server.get("session", "k") is not None
    server.put(Authorization("session", "other", "ann", SESSION.expires, {}))
    command = closed(SqliteAuthorizations(tmp_path / "home"))
    assert command.revoke("ann") == 2
    assert server.of("session", "ann") == []


def test_a_revocation_in_a_file_that_was_replaced_meanwhile_is_not_acknowledged(tmp_path, closed):
    server = closed(SqliteAuthorizations(tmp_path))
    server.put(SESSION)

    def revoke_and_replace():
        with server.transaction("BEGIN IMMEDIATE") as connection:
            connection.execute("DELETE FROM authorizations")
            (tmp_path / SqliteAuthorizations.file).unlink()

    with pytest.raises(StoreFailed, match="authorizations was replaced") as raised:
        revoke_and_replace()
    assert raised.value.retryable


def test_a_call_is_deleted_after_its_days_and_one_that_would_take_much_of_the_file_is_not_stored(tmp_path, closed):
    clock = Clock()
    calls = closed(SqliteCalls(tmp_path, 7, 1, clock))
    calls.record(call(1))
    calls.record(call(2, bytes(MB // 4)))
    clock.sleep(7 * 86_400 - 1)
    assert calls.latest(5) == [calls.get("id1")] == [call(1)]
    clock.sleep(2)
    with pytest.raises(NotFound, match="7 days"):
        calls.get("id1")
    assert calls.latest(5) == []
    for number in range(3, WITNESSES + 3):
        assert len(rows_of(calls)) == number - 2
        calls.record(call(number))
    assert len(rows_of(calls)) == WITNESSES


def rows_of(calls):
    with calls.transaction("BEGIN") as connection:
        return connection.execute("SELECT correlation_id FROM calls").fetchall()


def test_calls_under_a_clock_that_was_ahead_end_none_of_those_before(tmp_path, closed):
    clock = Clock()
    calls = closed(SqliteCalls(tmp_path, 7, 1, clock))
    calls.record(call(1))
    clock.sleep(4 * 365 * 86_400)
    for number in range(2, WITNESSES):
        calls.record(call(number))
    clock.now = 10.0
    calls.record(call(WITNESSES))
    assert calls.get("id1") == call(1)
    assert len(calls.latest(99)) == WITNESSES

"""The cache's file: bounded, apart from the corpus, made anew when it is damaged, gone when somebody deletes it."""

import os
import sqlite3
from threading import Event, Thread

import pytest

from bio_mcp.adapters.embedded.cache import FILE, SqliteCache
from bio_mcp.errors import StoreFailed
from tests.adapters.clocks import Clock

LIMIT = 1 << 20


@pytest.fixture
def clock():
    return Clock(1_000_000.0)


@pytest.fixture
def cache(tmp_path, clock):
    cache = SqliteCache(tmp_path / "home", LIMIT, clock)
    yield cache
    cache.close()


def test_it_stays_within_its_size_and_gives_up_the_oldest_first(cache, clock, tmp_path):
    for number in range(600):
        clock.now += 1
        cache.put({f"{number:04}": os.urandom(10_000)}, 86_400)
    held = cache.get([f"{number:04}" for number in range(600)])
    assert 40 <= len(held) <= LIMIT // 10_000
    assert sorted(held) == [f"{number:04}" for number in range(600 - len(held), 600)]
    cache.close()
    assert sum(path.stat().st_size for path in (tmp_path / "home").iterdir()) < 2 * LIMIT


def test_what_is_over_makes_room_before_anything_else_does(cache, clock):
    cache.put({"keep": b"old but good"}, 86_400)
    for number in range(600):
        clock.now += 10
        cache.put({f"{number}": os.urandom(10_000)}, 30)
    assert set(cache.get(["keep"])) == {"keep"}


def test_what_one_process_keeps_another_finds(cache, clock, tmp_path):
    cache.put({"a": b"one"}, 60)
    other = SqliteCache(tmp_path / "home", LIMIT, clock)
    assert other.get(["a"])["a"].value == b"one"
    other.close()


@pytest.mark.parametrize("suffixes", [("",), ("", "-wal", "-shm")])
def test_it_may_be_deleted_at_any_time(cache, clock, tmp_path, suffixes):
    cache.put({"a": b"one"}, 60)
    for suffix in suffixes:
        (tmp_path / "home" / (FILE + suffix)).unlink(missing_ok=True)
    cache.put({"b": b"two"}, 60)
    other = SqliteCache(tmp_path / "home", LIMIT, clock)
    other.put({"c": b"three"}, 60)
    assert other.get(["c"])["c"].value == b"three"
    other.close()


@pytest.mark.parametrize(
    "damage",
    [
        lambda path: path.write_bytes(b"no database at all " * 1_000),
        lambda path: path.write_bytes(path.read_bytes()[:4_096] + os.urandom(20_000)),
        lambda path: path.write_bytes(path.read_bytes()[:5_000]),
    ],
)
def test_a_damaged_file_is_recreated(tmp_path, clock, damage):
    first = SqliteCache(tmp_path, LIMIT, clock)
    first.put({f"{number}": os.urandom(3_000) for number in range(20)}, 60)
    first.close()
    damage(tmp_path / FILE)
    cache = SqliteCache(tmp_path, LIMIT, clock)
    for _ in range(3):  # it fails, is deleted, and is whole
        try:
            cache.put({"a": b"one"}, 60)
            held = cache.get(["a", *map(str, range(20))])
        except StoreFailed:
            continue
    assert held["a"].value == b"one"
    cache.close()


OTHER_SCHEMAS = {
    1: """
        CREATE TABLE kept (key TEXT PRIMARY KEY, value BLOB NOT NULL, stored REAL NOT NULL, ends REAL NOT NULL);
        CREATE INDEX kept_by_age ON kept (stored);
        INSERT INTO kept VALUES ('a', 'an older answer', 1000000.0, 1000060.0);
    """,
    99: "CREATE TABLE answers (something_else TEXT);",
}


@pytest.mark.parametrize("version", OTHER_SCHEMAS)
def test_a_file_of_another_version_is_recreated(tmp_path, clock, version):
    with sqlite3.connect(tmp_path / FILE) as connection:
        connection.executescript(f"{OTHER_SCHEMAS[version]} PRAGMA user_version = {version};")
    connection.close()
    cache = SqliteCache(tmp_path, LIMIT, clock)
    cache.put({"a": b"one"}, 60)
    assert cache.get(["a"])["a"].value == b"one"
    cache.close()


def test_a_place_that_cannot_be_written_is_a_failure_of_the_cache_alone(tmp_path, clock):
    (tmp_path / "file").write_text("not a directory")
    with pytest.raises(StoreFailed, match="cannot be used"):
        SqliteCache(tmp_path / "file", LIMIT, clock).get(["a"])


def test_somebody_who_writes_for_too_long_is_not_waited_for(cache, tmp_path):
    cache.put({"a": b"one"}, 60)
    writer = sqlite3.connect(tmp_path / "home" / FILE, isolation_level=None)
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
    with pytest.raises(KeyboardInterrupt), cache._file.transaction("BEGIN"):
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

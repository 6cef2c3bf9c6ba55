"""A cache of PubMed answers in a SQLite file of its own, so that the corpus neither grows nor waits for it.

`cache.sqlite3` may be deleted at any time. A file that is damaged, or has the schema of another version, is recreated.
"""

import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from bio_mcp.adapters.caching.expiry import age_s
from bio_mcp.adapters.embedded.private import make_file
from bio_mcp.errors import StoreFailed
from bio_mcp.ports.cache import CacheEntry

FILE = "cache.sqlite3"
SCHEMA_VERSION = 2
BUSY_S = 1.0  # wait for another process's write; asking NCBI again costs less than a longer wait
LARGEST_SHARE = 8  # one value may take an eighth of the file
LOG_BYTES = 16 << 20
EVICTED = 64  # values deleted at a time
AT_ONCE = 500  # keys per query
SCHEMA = """
    CREATE TABLE answers (key TEXT PRIMARY KEY, value BLOB NOT NULL, stored REAL NOT NULL, expires REAL NOT NULL);
    CREATE INDEX answers_by_age ON answers (stored);
    CREATE INDEX answers_by_expiry ON answers (expires);
"""
USELESS = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR}  # SQLITE_ERROR: another schema


class SqliteCache:
    """The port `Cache` in `directory`. `clock` returns seconds since 1970; `limit` is the file's size in bytes.

    Threads may share an instance, and processes the file. The least recently written values are evicted first; the last
    writes may be lost in a power cut.
    """

    def __init__(self, directory: Path, limit: int, clock: Callable[[], float] = time.time) -> None:
        self._path = directory / FILE
        self._limit = limit
        self._clock = clock
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None

    def get(self, keys: Sequence[str]) -> dict[str, CacheEntry]:
        now, entries = self._clock(), {}
        with self._transaction("BEGIN") as connection:
            for start in range(0, len(keys), AT_ONCE):
                part = keys[start : start + AT_ONCE]
                marks = ", ".join("?" * len(part))
                query = f"SELECT key, value, stored, expires FROM answers WHERE key IN ({marks})"  # noqa: S608  # marks only
                for key, value, stored, expires in connection.execute(query, part):
                    if (age := age_s(stored, expires, now)) is not None:
                        entries[key] = CacheEntry(value, age)
        return entries

    def put(self, values: Mapping[str, bytes], lifetime_s: float) -> None:
        now = self._clock()
        fitting = [(key, value) for key, value in values.items() if len(value) <= self._limit // LARGEST_SHARE]
        with self._transaction("BEGIN IMMEDIATE") as connection:
            connection.execute("DELETE FROM answers WHERE expires <= ?", (now,))
            rows = [(key, value, now, now + lifetime_s) for key, value in fitting]
            connection.executemany("INSERT OR REPLACE INTO answers VALUES (?, ?, ?, ?)", rows)
            while _used(connection) > self._limit and _evict(connection):
                pass

    def close(self) -> None:
        """Close the file; the next use reopens it."""
        with self._lock:
            self._close()

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[sqlite3.Connection]:
        with self._lock:
            try:
                connection = self._connection = self._connection or self._open()
                connection.execute(begin)
                yield connection
                connection.execute("COMMIT")
            except (sqlite3.Error, OSError) as error:
                self._close()
                if getattr(error, "sqlite_errorcode", 0) & 0xFF in USELESS:
                    self._delete()
                raise StoreFailed("The cache's file cannot be used at the moment.") from error
            finally:
                if self._connection is not None and self._connection.in_transaction:
                    self._close()

    def _open(self) -> sqlite3.Connection:
        make_file(self._path)
        connection = sqlite3.connect(self._path, timeout=BUSY_S, isolation_level=None, check_same_thread=False)
        try:
            _prepare(connection)
        except sqlite3.Error:
            connection.close()
            raise
        return connection

    def _close(self) -> None:
        """Close the connection, which rolls back an open transaction."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _delete(self) -> None:
        """Delete the file; another process that has it open continues with the deleted one."""
        try:
            for suffix in ("", "-wal", "-shm"):
                self._path.with_name(FILE + suffix).unlink(missing_ok=True)
        except OSError as error:
            raise StoreFailed("The cache's file is damaged and cannot be removed: delete cache.sqlite3.") from error


def _prepare(connection: sqlite3.Connection) -> None:
    """Set the pragmas and create the table, replacing one with the schema of another version."""
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = OFF")
    connection.execute(f"PRAGMA journal_size_limit = {LOG_BYTES}")
    if _version(connection) == SCHEMA_VERSION:
        return
    connection.execute("BEGIN IMMEDIATE")
    if _version(connection) != SCHEMA_VERSION:
        for (table,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall():
            connection.execute(f"DROP TABLE {table}")
        for statement in filter(str.strip, SCHEMA.split(";\n")):
            connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
    connection.execute("COMMIT")


def _version(connection: sqlite3.Connection) -> int:
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    return version


def _used(connection: sqlite3.Connection) -> int:
    """Bytes of the file in use: its pages less the free ones."""
    pages, free, size = (
        connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "freelist_count", "page_size")
    )
    used: int = (pages - free) * size
    return used


def _evict(connection: sqlite3.Connection) -> bool:
    """Delete the `EVICTED` oldest values; False if there are none left."""
    oldest = "SELECT key FROM answers ORDER BY stored LIMIT ?"
    return connection.execute(f"DELETE FROM answers WHERE key IN ({oldest})", (EVICTED,)).rowcount > 0  # noqa: S608

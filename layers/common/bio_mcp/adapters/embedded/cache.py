"""A cache of PubMed answers in a SQLite file of its own, `cache.sqlite3`, which may be deleted at any time."""

import sqlite3
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from bio_mcp.adapters.caching.expiry import age_s
from bio_mcp.adapters.embedded.side_file import SideFile, used
from bio_mcp.ports.cache import CacheEntry

FILE = "cache.sqlite3"
SCHEMA_VERSION = 2
LARGEST_SHARE = 8  # one value may take an eighth of the file
EVICTED = 64  # values deleted at a time
AT_ONCE = 500  # keys per query
SCHEMA = """
    CREATE TABLE answers (key TEXT PRIMARY KEY, value BLOB NOT NULL, stored REAL NOT NULL, expires REAL NOT NULL);
    CREATE INDEX answers_by_age ON answers (stored);
    CREATE INDEX answers_by_expiry ON answers (expires);
"""


class SqliteCache:
    """The port `Cache` in `directory`. `clock` returns seconds since 1970; `limit` is the file's size in bytes.

    Threads may share an instance, and processes the file. The least recently written values are evicted first; the last
    writes may be lost in a power cut.
    """

    def __init__(self, directory: Path, limit: int, clock: Callable[[], float] = time.time) -> None:
        self._file = SideFile(directory / FILE, "the cache", SCHEMA, SCHEMA_VERSION)
        self._limit = limit
        self._clock = clock

    def get(self, keys: Sequence[str]) -> dict[str, CacheEntry]:
        now, entries = self._clock(), {}
        with self._file.transaction("BEGIN") as connection:
            for start in range(0, len(keys), AT_ONCE):
                part = keys[start : start + AT_ONCE]
                marks = ", ".join("?" * len(part))
                query = f"SELECT key, value, stored, expires FROM answers WHERE key IN ({marks})"  # noqa: S608  marks only
                for key, value, stored, expires in connection.execute(query, part):
                    if (age := age_s(stored, expires, now)) is not None:
                        entries[key] = CacheEntry(value, age)
        return entries

    def put(self, values: Mapping[str, bytes], lifetime_s: float) -> None:
        now = self._clock()
        fitting = [(key, value) for key, value in values.items() if len(value) <= self._limit // LARGEST_SHARE]
        with self._file.transaction("BEGIN IMMEDIATE") as connection:
            connection.execute("DELETE FROM answers WHERE expires <= ?", (now,))
            rows = [(key, value, now, now + lifetime_s) for key, value in fitting]
            connection.executemany("INSERT OR REPLACE INTO answers VALUES (?, ?, ?, ?)", rows)
            while used(connection) > self._limit and _evict(connection):
                pass

    def close(self) -> None:
        """Close the file; the next use reopens it."""
        self._file.close()


def _evict(connection: sqlite3.Connection) -> bool:
    """Delete the `EVICTED` oldest values; False if there are none left."""
    oldest = "SELECT key FROM answers ORDER BY stored LIMIT ?"
    return connection.execute(f"DELETE FROM answers WHERE key IN ({oldest})", (EVICTED,)).rowcount > 0  # noqa: S608

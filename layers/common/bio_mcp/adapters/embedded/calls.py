"""The log of calls, in a SQLite file of its own, `calls.sqlite3`, which may be deleted at any time."""

import json
import sqlite3
import time
import zlib
from collections.abc import Callable
from dataclasses import fields
from datetime import datetime
from pathlib import Path

from bio_mcp.adapters.embedded.side_file import SideFile, used
from bio_mcp.errors import NotFound
from bio_mcp.literature.clock import sortable
from bio_mcp.ports.calls import CallRecord

FILE = "calls.sqlite3"
SCHEMA_VERSION = 1
LARGEST_SHARE = 8  # one call may take an eighth of the file
EVICTED = 32  # calls deleted at a time
SCHEMA = """
    CREATE TABLE calls (
        correlation_id TEXT PRIMARY KEY, at TEXT NOT NULL, expires REAL NOT NULL, call BLOB NOT NULL, read BLOB NOT NULL
    );
    CREATE INDEX calls_by_time ON calls (at);
    CREATE INDEX calls_by_expiry ON calls (expires);
"""
NAMES = tuple(each.name for each in fields(CallRecord) if each.name != "read")


class SqliteCalls:
    """The port `Calls` in `directory`, for `days`. `clock` returns seconds since 1970; `limit` is the file's size in
    bytes, by which the oldest calls are deleted early."""

    def __init__(self, directory: Path, days: int, limit: int, clock: Callable[[], float] = time.time) -> None:
        self._file = SideFile(directory / FILE, "the log of calls", SCHEMA, SCHEMA_VERSION)
        self._days = days
        self._limit = limit
        self._clock = clock

    def record(self, call: CallRecord) -> None:
        row, now = _packed(call), self._clock()
        if len(row) + len(call.read) > self._limit // LARGEST_SHARE:
            return
        values = (call.correlation_id, sortable(call.at), now + self._days * 86_400, row, call.read)
        with self._file.transaction("BEGIN IMMEDIATE") as connection:
            connection.execute("DELETE FROM calls WHERE expires <= ?", (now,))
            connection.execute("INSERT OR IGNORE INTO calls VALUES (?, ?, ?, ?, ?)", values)
            while used(connection) > self._limit and _evict(connection):
                pass

    def get(self, correlation_id: str) -> CallRecord:
        with self._file.transaction("BEGIN") as connection:
            row = connection.execute(
                "SELECT call, read FROM calls WHERE correlation_id = ? AND expires > ?", (correlation_id, self._clock())
            ).fetchone()
        if row is None:
            raise NotFound(f"There is no call {correlation_id!r} in the log, which has the calls of {self._days} days")
        return _unpacked(*row)

    def latest(self, limit: int) -> list[CallRecord]:
        with self._file.transaction("BEGIN") as connection:
            rows = connection.execute(
                "SELECT call, x'' FROM calls WHERE expires > ? ORDER BY at DESC, correlation_id DESC LIMIT ?",
                (self._clock(), limit),
            ).fetchall()
        return [_unpacked(*row) for row in rows]

    def close(self) -> None:
        """Close the file; the next use reopens it."""
        self._file.close()


def _packed(call: CallRecord) -> bytes:
    row = {name: getattr(call, name) for name in NAMES} | {"at": sortable(call.at), "inputs": dict(call.inputs)}
    return zlib.compress(json.dumps(row).encode(), 1)


def _unpacked(packed: bytes, read: bytes) -> CallRecord:
    row = json.loads(zlib.decompress(packed))
    return CallRecord(**{**row, "at": datetime.fromisoformat(row["at"])}, read=read)


def _evict(connection: sqlite3.Connection) -> bool:
    """Delete the `EVICTED` oldest calls; False if there are none left."""
    oldest = "SELECT correlation_id FROM calls ORDER BY at LIMIT ?"
    return connection.execute(f"DELETE FROM calls WHERE correlation_id IN ({oldest})", (EVICTED,)).rowcount > 0  # noqa: S608

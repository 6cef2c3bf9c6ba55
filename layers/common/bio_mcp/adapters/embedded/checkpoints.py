"""Sync checkpoints, in the corpus file."""

import json
import sqlite3
from collections.abc import Callable, Mapping

from bio_mcp.adapters.embedded.database import Database
from bio_mcp.ports.state import NOWHERE, Checkpoint, KeyCheckpoints

_SELECT = "SELECT query_key, last_edat, windows, term FROM checkpoints "


class SqliteCheckpoints:
    """The port `Checkpoints` over the corpus file. The last written row of a key is the one synced last."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def get(self, query_key: str, term: str | None = None) -> Checkpoint:
        with self._database.reading() as connection:
            return _read(connection, query_key).of(term)

    def advance(
        self, query_key: str, term: str, last_edat: str | None = None, windows: Mapping[str, str] = NOWHERE
    ) -> Checkpoint:
        return self._change(query_key, lambda before: before.advanced(term, last_edat, windows))[1].of(term)

    def set(
        self, query_key: str, last_edat: str | None, windows: Mapping[str, str], term: str | None = None
    ) -> Checkpoint:
        return self._change(query_key, lambda before: before.moved(term, last_edat, windows))[0].of(term)

    def all(self, query_key: str | None = None) -> list[Checkpoint]:
        with self._database.reading() as connection:
            if query_key is not None:
                return list(_read(connection, query_key).terms)
            return _checkpoints(connection.execute(_SELECT + "ORDER BY query_key, rowid"))

    def remove(self, query_key: str) -> list[Checkpoint]:
        return list(self._change(query_key, lambda _: KeyCheckpoints(query_key))[0].terms)

    def _change(
        self, query_key: str, change: Callable[[KeyCheckpoints], KeyCheckpoints]
    ) -> tuple[KeyCheckpoints, KeyCheckpoints]:
        """Apply `change` to the checkpoints of a key; returns them before and after."""
        with self._database.writing() as connection:
            before = _read(connection, query_key)
            after = change(before)
            if after != before:
                _write(connection, after)
        return before, after


def _read(connection: sqlite3.Connection, query_key: str) -> KeyCheckpoints:
    rows = connection.execute(_SELECT + "WHERE query_key = ? ORDER BY rowid", (query_key,))
    return KeyCheckpoints(query_key, tuple(_checkpoints(rows)))


def _checkpoints(rows: sqlite3.Cursor) -> list[Checkpoint]:
    return [Checkpoint(key, last_edat, json.loads(windows), term) for key, last_edat, windows, term in rows]


def _write(connection: sqlite3.Connection, after: KeyCheckpoints) -> None:
    connection.execute("DELETE FROM checkpoints WHERE query_key = ?", (after.query_key,))
    connection.executemany(
        "INSERT INTO checkpoints (query_key, last_edat, windows, term) VALUES (?, ?, ?, ?)",
        [
            (
                checkpoint.query_key,
                checkpoint.last_edat,
                json.dumps(dict(checkpoint.windows), sort_keys=True),
                checkpoint.term,
            )
            for checkpoint in after.terms
        ],
    )

"""Sync checkpoints, in the corpus file."""

import json
import sqlite3

from bio_mcp.adapters.checkpoints import Change, CheckpointsByKey
from bio_mcp.adapters.embedded.database import Database
from bio_mcp.ports.state import Checkpoint, KeyCheckpoints

_SELECT = "SELECT query_key, last_edat, windows, term FROM checkpoints "


class SqliteCheckpoints(CheckpointsByKey):
    """The port `Checkpoints` over the corpus file. The last written row of a key is the one synced last."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def all(self, query_key: str | None = None) -> list[Checkpoint]:
        if query_key is not None:
            return list(self._read(query_key).terms)
        with self._database.reading() as connection:
            return _checkpoints(connection.execute(_SELECT + "ORDER BY query_key, rowid"))

    def remove(self, query_key: str) -> list[Checkpoint]:
        return list(self._change(query_key, lambda _: KeyCheckpoints(query_key))[0].terms)

    def _read(self, query_key: str) -> KeyCheckpoints:
        with self._database.reading() as connection:
            return _read(connection, query_key)

    def _change(self, query_key: str, change: Change) -> tuple[KeyCheckpoints, KeyCheckpoints]:
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

"""How far each query has been synced, in the corpus file."""

import json
import sqlite3
from collections.abc import Mapping

from bio_mcp.adapters.embedded.database import Database
from bio_mcp.ports import Checkpoint


class SqliteCheckpoints:
    """`bio_mcp.ports.Checkpoints` over the corpus file."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def get(self, query_key: str) -> Checkpoint:
        with self._database.reading() as connection:
            return _read(connection, query_key)

    def advance(self, query_key: str, last_edat: str | None, windows: Mapping[str, str]) -> Checkpoint:
        with self._database.writing() as connection:
            stands = _read(connection, query_key).advanced(last_edat, windows)
            _write(connection, stands)
            return stands

    def set(self, query_key: str, last_edat: str, windows: Mapping[str, str]) -> Checkpoint:
        with self._database.writing() as connection:
            stood = _read(connection, query_key)
            _write(connection, Checkpoint(query_key, last_edat, windows))
            return stood


def _read(connection: sqlite3.Connection, query_key: str) -> Checkpoint:
    row = connection.execute("SELECT last_edat, windows FROM checkpoints WHERE query_key = ?", (query_key,)).fetchone()
    return Checkpoint(query_key, row[0], json.loads(row[1])) if row else Checkpoint(query_key)


def _write(connection: sqlite3.Connection, checkpoint: Checkpoint) -> None:
    connection.execute(
        "INSERT OR REPLACE INTO checkpoints VALUES (?, ?, ?)",
        (checkpoint.query_key, checkpoint.last_edat, json.dumps(dict(checkpoint.windows), sort_keys=True)),
    )

"""What the authorization server remembers, in a SQLite file of its own, `authorizations.sqlite3`.

Whoever deletes the file signs everybody out and ends every grant.
"""

import json
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from bio_mcp.adapters.embedded.side_file import SideFile
from bio_mcp.ports.authorizations import Authorization

FILE = "authorizations.sqlite3"
SCHEMA_VERSION = 1
SCHEMA = """
    CREATE TABLE authorizations (
        kind TEXT NOT NULL, key TEXT NOT NULL, owner TEXT NOT NULL, expires REAL NOT NULL, content TEXT NOT NULL,
        PRIMARY KEY (kind, key)
    ) WITHOUT ROWID;
    CREATE INDEX authorizations_by_owner ON authorizations (owner, kind);
    CREATE INDEX authorizations_by_expiry ON authorizations (expires);
"""
COLUMNS = "kind, key, owner, expires, content"
Row = tuple[str, str, str, float, str]


class SqliteAuthorizations:
    """The port `Authorizations` in `directory`. `clock` returns seconds since 1970.

    Threads may share an instance, and processes the file; a commit survives a power cut.
    """

    def __init__(self, directory: Path, clock: Callable[[], float] = time.time) -> None:
        self._file = SideFile(directory / FILE, "authorizations", SCHEMA, SCHEMA_VERSION, durable=True)
        self._clock = clock

    def add(self, authorization: Authorization) -> bool:
        return self._write("INSERT OR IGNORE", authorization)

    def put(self, authorization: Authorization) -> None:
        self._write("INSERT OR REPLACE", authorization)

    def _write(self, how: str, authorization: Authorization) -> bool:
        with self._file.transaction("BEGIN IMMEDIATE") as connection:
            connection.execute("DELETE FROM authorizations WHERE expires <= ?", (self._clock(),))
            statement = f"{how} INTO authorizations ({COLUMNS}) VALUES (?, ?, ?, ?, ?)"
            return connection.execute(statement, _row(authorization)).rowcount > 0

    def get(self, kind: str, key: str) -> Authorization | None:
        query = f"SELECT {COLUMNS} FROM authorizations WHERE kind = ? AND key = ? AND expires > ?"  # noqa: S608  constants
        with self._file.transaction("BEGIN") as connection:
            row = connection.execute(query, (kind, key, self._clock())).fetchone()
        return _authorization(row) if row else None

    def take(self, kind: str, key: str) -> Authorization | None:
        statement = f"DELETE FROM authorizations WHERE kind = ? AND key = ? AND expires > ? RETURNING {COLUMNS}"  # noqa: S608  constants
        with self._file.transaction("BEGIN IMMEDIATE") as connection:
            rows = connection.execute(statement, (kind, key, self._clock())).fetchall()
        return _authorization(rows[0]) if rows else None

    def of(self, kind: str, owner: str) -> list[Authorization]:
        query = f"SELECT {COLUMNS} FROM authorizations WHERE owner = ? AND kind = ? AND expires > ? ORDER BY key"  # noqa: S608  constants
        with self._file.transaction("BEGIN") as connection:
            return [_authorization(row) for row in connection.execute(query, (owner, kind, self._clock()))]

    def revoke(self, owner: str) -> int:
        with self._file.transaction("BEGIN IMMEDIATE") as connection:
            connection.execute("DELETE FROM authorizations WHERE expires <= ?", (self._clock(),))
            return connection.execute("DELETE FROM authorizations WHERE owner = ?", (owner,)).rowcount

    def close(self) -> None:
        """Close the file; the next use reopens it."""
        self._file.close()


def _row(authorization: Authorization) -> Row:
    content = json.dumps(dict(authorization.content), ensure_ascii=False)
    return authorization.kind, authorization.key, authorization.owner, authorization.expires.timestamp(), content


def _authorization(row: Row) -> Authorization:
    kind, key, owner, expires, content = row
    return Authorization(kind, key, owner, datetime.fromtimestamp(expires, UTC), json.loads(content))

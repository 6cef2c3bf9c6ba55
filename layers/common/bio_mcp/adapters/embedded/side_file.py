"""A SQLite file beside the corpus, for what may be lost: the corpus neither grows by it nor waits for it.

It may be deleted or replaced at any time, which whoever uses it notices at the next transaction. One that is damaged,
or has the schema of another version, is recreated.
"""

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bio_mcp.adapters.embedded.opening import Connection, connect
from bio_mcp.errors import StoreFailed

BUSY_S = 1.0  # wait for another process's write; to do without costs less than a longer wait
LOG_BYTES = 16 << 20
READ = "BEGIN"
USELESS = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR}  # SQLITE_ERROR: another schema


class SideFile:
    """One connection to the file at `path`, opened on first use. `what` names it in failures, `version` its `schema`.

    Threads may share it, and processes the file; unless it is `durable`, the last writes may be lost in a power cut.
    """

    def __init__(self, path: Path, what: str, schema: str, version: int, *, durable: bool = False) -> None:
        self._path = path
        self._what = what
        self._schema = schema
        self._version = version
        self._synchronous = "FULL" if durable else "OFF"
        self._lock = threading.Lock()
        self._connection: Connection | None = None

    def close(self) -> None:
        """Close the file; the next use reopens it."""
        with self._lock:
            self._close()

    @contextmanager
    def transaction(self, begin: str) -> Iterator[Connection]:
        """A transaction that commits at the end of the block. Raises `StoreFailed`, also for a write into a file that
        was replaced meanwhile."""
        with self._lock:
            try:
                connection = self._connection = self._current() or self._open()
                connection.execute(begin)
                connection.record_log(self._path)
                yield connection
                connection.execute("COMMIT")
                if begin != READ and not connection.refers_to(self._path):
                    raise StoreFailed(
                        f"The file of {self._what} was replaced while it was written, and may not hold that; "
                        "repeat the call."
                    )
            except (sqlite3.Error, OSError) as error:
                self._close()
                if getattr(error, "sqlite_errorcode", 0) & 0xFF in USELESS:
                    self._delete()
                raise self._unusable() from error
            finally:
                if self._connection is not None and self._connection.in_transaction:
                    self._close()

    def _current(self) -> Connection | None:
        """The open connection, unless its file was deleted or replaced."""
        if self._connection is not None and not self._connection.refers_to(self._path):
            self._connection.close_replaced(self._path)
            self._connection = None
        return self._connection

    def _open(self) -> Connection:
        try:
            connection = connect(self._path, BUSY_S)
        except StoreFailed as failure:  # whose words are about the corpus
            raise self._unusable() from failure
        try:
            self._prepare(connection)
        except sqlite3.Error:
            connection.close()
            raise
        return connection

    def _unusable(self) -> StoreFailed:
        return StoreFailed(f"The file of {self._what} cannot be used at the moment.")

    def _close(self) -> None:
        """Close the connection, which rolls back an open transaction."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _delete(self) -> None:
        """Delete the file."""
        try:
            for suffix in ("", "-wal", "-shm"):
                self._path.with_name(self._path.name + suffix).unlink(missing_ok=True)
        except OSError as error:
            raise StoreFailed(
                f"The file of {self._what} is damaged and cannot be removed: delete {self._path.name}."
            ) from error

    def _prepare(self, connection: sqlite3.Connection) -> None:
        """Set the pragmas and create the tables, replacing those with the schema of another version."""
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute(f"PRAGMA synchronous = {self._synchronous}")
        connection.execute(f"PRAGMA journal_size_limit = {LOG_BYTES}")
        if _version(connection) == self._version:
            return
        connection.execute("BEGIN IMMEDIATE")
        if _version(connection) != self._version:
            for (table,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall():
                connection.execute(f"DROP TABLE {table}")
            for statement in filter(str.strip, self._schema.split(";\n")):
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {self._version}")
        connection.execute("COMMIT")


def used(connection: sqlite3.Connection) -> int:
    """Bytes of the file in use: its pages less the free ones."""
    pages, free, size = (
        connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "freelist_count", "page_size")
    )
    in_use: int = (pages - free) * size
    return in_use


def _version(connection: sqlite3.Connection) -> int:
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    return version

"""The corpus file: one SQLite database, shared by every process that uses the data directory."""

import sqlite3
import time
import weakref
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from functools import cached_property
from pathlib import Path
from zlib import crc32

from bio_mcp.adapters.embedded.checksums import entry_checksum
from bio_mcp.adapters.embedded.failures import GONE, OLDER, REPLACED, translate
from bio_mcp.adapters.embedded.opening import Connection, Identity, connect
from bio_mcp.adapters.embedded.paper_identifiers import listed_identifiers
from bio_mcp.adapters.embedded.processes import Presence, presence_in
from bio_mcp.adapters.embedded.schema import APPLICATION_ID, MIGRATIONS
from bio_mcp.errors import Failure, StoreFailed

FILE = "corpus.sqlite3"
PAGE_BYTES = 16_384  # two documents' vectors per page: the scan at start-up follows no overflow chain
LOG_BYTES = 64 << 20
READ, WRITE = "BEGIN", "BEGIN IMMEDIATE"


class Database:
    """Pooled connections to the corpus file in `directory`, opened on first use.

    A write transaction is durable when its block ends: the write-ahead log is synced at every commit, so neither a
    killed process nor a power cut loses it. `busy_timeout_s` is how long a writer waits for another one; `max_pages`
    limits the file, in pages of 16 KiB. If another file replaces the corpus file, later transactions use that one. A
    file that is not writable can still be read.
    """

    connections = Connection  # what a connection is an object of
    synchronous = "FULL"  # SQLite's: when a commit waits for the disk

    def __init__(
        self,
        directory: Path,
        *,
        busy_timeout_s: float = 10.0,
        migrations: Sequence[str] = MIGRATIONS,
        max_pages: int | None = None,
    ) -> None:
        self.directory = directory
        self._busy_timeout_s = busy_timeout_s
        self._migrations = migrations
        self._max_pages = max_pages
        self._idle: deque[Connection] = deque()
        self._path = directory / FILE
        self._verified: Identity | None = None  # the file whose application id and schema were checked
        weakref.finalize(self, _close, self._idle)

    @contextmanager
    def reading(self, failure: type[Failure] = StoreFailed) -> Iterator[Connection]:
        """A connection that sees one state of the corpus until the block ends. Errors of SQLite are raised as
        `failure`."""
        with self._transaction(READ, failure) as connection:
            yield connection

    @contextmanager
    def writing(self, failure: type[Failure] = StoreFailed) -> Iterator[Connection]:
        """A connection with the only write lock; the block commits as a whole, or rolls back if it raises."""
        with self._transaction(WRITE, failure) as connection:
            yield connection

    @cached_property
    def presence(self) -> Presence:
        """The mark of this process in the data directory."""
        return presence_in(self.directory)

    def close(self) -> None:
        """Close the idle connections."""
        _close(self._idle)

    @contextmanager
    def _transaction(self, begin: str, failure: type[Failure]) -> Iterator[Connection]:
        try:
            connection = self._checkout()
            try:
                connection.execute(begin)
                connection.record_log(self._path)
                yield connection
                connection.execute("COMMIT")
                if begin == WRITE and not connection.refers_to(self._path):
                    raise failure(REPLACED, retryable=True)
            finally:
                self._return(connection)
        except sqlite3.Error as error:
            translated_error = translate(error, failure)
            if translated_error is None:
                raise
            raise translated_error from error

    def _checkout(self) -> Connection:
        """A connection to the current file; idle connections to a replaced file are closed."""
        while self._idle:
            connection = self._idle.pop()
            if connection.refers_to(self._path):
                return connection
            connection.close_replaced(self._path)
        if self._verified and not self._path.exists():
            raise StoreFailed(GONE, retryable=False)
        return self._connect()

    def _return(self, connection: Connection) -> None:
        """Roll back and return a connection to the pool; close it if it cannot roll back."""
        try:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
        except sqlite3.Error:
            connection.close()
        else:
            self._idle.append(connection)

    def _connect(self) -> Connection:
        connection = connect(self._path, self._busy_timeout_s, self.connections)
        try:
            self._prepare(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _prepare(self, connection: Connection) -> None:
        if self._verified != connection.file:
            self._recognise(connection)
        for pragma in (f"synchronous = {self.synchronous}", "fullfsync = ON", f"journal_size_limit = {LOG_BYTES}"):
            connection.execute(f"PRAGMA {pragma}")
        if self._max_pages is not None:
            connection.execute(f"PRAGMA max_page_count = {self._max_pages}")
        self._verified = connection.file

    def _recognise(self, connection: Connection) -> None:
        """Initialise a new file, migrate an older one, and reject a foreign or newer one.

        Tables are looked for first: another process may make the file meanwhile, its tables and its application id in
        one commit.
        """
        empty = _is_empty(connection)
        application, version = _file_version(connection)
        if application not in (0, APPLICATION_ID) or (application == 0 and not empty):
            raise StoreFailed(
                "The corpus file belongs to another program; choose another data directory.", retryable=False
            )
        if version > len(self._migrations):
            raise StoreFailed(
                f"The corpus was written by a newer bio-mcp (schema {version}, here {len(self._migrations)}); "
                "install that version.",
                retryable=False,
            )
        if version < len(self._migrations) or application == 0:
            if connection.read_only:
                raise StoreFailed(OLDER, retryable=False)
            connection.execute(f"PRAGMA page_size = {PAGE_BYTES}")
            self._enable_wal(connection)
            _migrate(connection, self._migrations)

    def _enable_wal(self, connection: sqlite3.Connection) -> None:
        """Turn on the write-ahead log, retrying here: SQLite's busy timeout does not cover two processes doing so at
        once."""
        end = time.monotonic() + self._busy_timeout_s
        while True:
            try:
                connection.execute("PRAGMA journal_mode = WAL")
                return
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > end:
                    raise
                time.sleep(0.02)

    def objects(self) -> list[str]:
        """The tables and indexes that the file should have, each as `<type> <name>` ("table heads")."""
        with closing(sqlite3.connect(":memory:", isolation_level=None)) as empty:
            _migrate(empty, self._migrations)
            return [name for (name,) in empty.execute("SELECT type || ' ' || name FROM sqlite_schema")]


def _migrate(connection: sqlite3.Connection, migrations: Sequence[str]) -> None:
    connection.create_function("entry_checksum", -1, entry_checksum, deterministic=True)
    connection.create_function("crc32", 1, crc32, deterministic=True)
    connection.create_function("listed_identifiers", 1, listed_identifiers, deterministic=True)
    connection.execute("BEGIN IMMEDIATE")
    _, version = _file_version(connection)
    for step in migrations[version:]:
        for statement in filter(str.strip, step.split(";\n")):
            connection.execute(statement)
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version = {max(version, len(migrations))}")
    connection.execute("COMMIT")


def _close(connections: deque[Connection]) -> None:
    while connections:
        connections.pop().close()


def _file_version(connection: sqlite3.Connection) -> tuple[int, int]:
    """The file's application id and schema version."""
    application: int = connection.execute("PRAGMA application_id").fetchone()[0]
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    return application, version


def _is_empty(connection: sqlite3.Connection) -> bool:
    tables: int = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]
    return tables == 0

"""The corpus file: one SQLite database, shared by every process that uses the data directory."""

import errno
import json
import os
import random
import sqlite3
import tempfile
import threading
import time
import weakref
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from functools import cached_property, partial
from pathlib import Path
from typing import Any
from urllib.parse import quote

from bio_mcp.adapters.embedded.schema import APPLICATION_ID, EARLIER, MIGRATIONS
from bio_mcp.adapters.embedded.term_ids import Numbers
from bio_mcp.errors import DiskFull, Failure, StoreFailed
from bio_mcp.scope import BLOCK, hold_in, taken_over

try:
    import fcntl
except ImportError:  # a system without POSIX locks: no process is known to have ended, and leases expire
    fcntl = None  # type: ignore[assignment]

DAMAGED = (
    "The corpus file is damaged; it has been left as it is. Run `bio-mcp doctor`; then stop every bio-mcp that uses it "
    "and put back a copy of the file, or move it away, and import, sync and ingest again."
)
FULL = (
    "No space is left on the disk of the corpus. Nothing of this batch was stored and all earlier ones are intact; "
    "free some space and repeat the call."
)
BUSY = "Another program has been writing to the corpus for too long. Nothing was changed; try again."
READ_ONLY = (
    "The corpus cannot be written: make its data directory (BIO_MCP_HOME) writable for this user, or choose another "
    "one."
)
CLOSED = (
    "The corpus cannot be opened: check that its data directory (BIO_MCP_HOME) exists and that this user may read and "
    "write it."
)
OLDER = (
    "The corpus was written by an older bio-mcp and cannot be brought up to date where it cannot be written: make its "
    "data directory (BIO_MCP_HOME) writable for this user."
)
GONE = "The corpus file is no longer where it was: put it back, or restart this program."
REPLACED = (
    "Another file was put in the corpus file's place while this was being written, and may not hold it; repeat the "
    "call."
)
DISK = (
    "The disk of the corpus failed to read or write. Nothing of this batch was stored; try again, then check the disk."
)

SENTENCES: dict[int, tuple[str, bool]] = {
    sqlite3.SQLITE_BUSY: (BUSY, True),
    sqlite3.SQLITE_LOCKED: (BUSY, True),
    sqlite3.SQLITE_FULL: (FULL, True),
    sqlite3.SQLITE_CORRUPT: (DAMAGED, False),
    sqlite3.SQLITE_NOTADB: (DAMAGED, False),
    sqlite3.SQLITE_READONLY: (READ_ONLY, False),
    sqlite3.SQLITE_PERM: (READ_ONLY, False),
    sqlite3.SQLITE_CANTOPEN: (CLOSED, False),
    sqlite3.SQLITE_IOERR: (DISK, True),
    sqlite3.SQLITE_IOERR_SHMSIZE: (FULL, True),  # no room for the write-ahead log's shared memory
}


LOST = ("no such table", "no such column", "Could not decode to UTF-8")  # of our own SQL, by a damaged file alone


@contextmanager
def explained(kind: type[Failure]) -> Iterator[None]:
    """Raise errors of SQLite as the failure of class `kind` that explains them, a full disk as `DiskFull`; a mistake
    in our own SQL as it is."""
    try:
        yield
    except sqlite3.Error as error:
        code = sqlite3.SQLITE_CORRUPT if str(error).startswith(LOST) else getattr(error, "sqlite_errorcode", 0)
        known = SENTENCES.get(code) or SENTENCES.get(code & 0xFF)
        if known is None:
            raise
        raise (DiskFull if known[0] == FULL else kind)(known[0], retryable=known[1]) from error


NO_SPACE = {errno.ENOSPC, errno.EDQUOT}


def refused(error: OSError | sqlite3.Error, why: str = READ_ONLY, *, retryable: bool = False) -> StoreFailed:
    """What an error that keeps something from being stored is raised as; `why` unless the disk is full."""
    full = getattr(error, "errno", 0) in NO_SPACE or getattr(error, "sqlite_errorcode", 0) == sqlite3.SQLITE_FULL
    return DiskFull(FULL) if full else StoreFailed(why, retryable=retryable)


def make_directory(path: Path) -> None:
    """Create the directory and its missing parents with mode 0700."""
    if not path.exists():
        make_directory(path.parent)
        path.mkdir(mode=0o700, exist_ok=True)


def make_file(path: Path) -> None:
    """Create the file, empty, with mode 0600, and its directory.

    An existing file is not even opened: closing it would release every POSIX lock that this process holds on it, and
    SQLite in another process would then consider the corpus unused.
    """
    make_directory(path.parent)
    if path.exists():
        return
    handle, scratch = tempfile.mkstemp(prefix=f"{path.name}.", dir=path.parent)
    os.close(handle)
    try:
        with suppress(FileExistsError):
            os.link(scratch, path)
    finally:
        Path(scratch).unlink()


LOCK_FILE = "processes.lock"
MARKS = 1 << 31


class Presence:
    """The mark of this process in a data directory, valid while the object lives. See `presence_in`.

    `mark` is empty where there are no locks; a process with an empty mark always counts as running.
    """

    def __init__(self, file: int) -> None:
        self._file = file
        self.mark = ""
        mark = random.SystemRandom().randrange(MARKS)
        if fcntl is not None:
            with suppress(OSError):
                fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, mark)
                self.mark = str(mark)
        weakref.finalize(self, os.close, file)

    def is_running(self, mark: str) -> bool:
        """Whether the process that left `mark` may still be running."""
        if fcntl is None or not mark.isdecimal() or mark == self.mark:
            return True
        try:
            fcntl.lockf(self._file, fcntl.LOCK_SH | fcntl.LOCK_NB, 1, int(mark))
        except OSError:
            return True
        fcntl.lockf(self._file, fcntl.LOCK_UN, 1, int(mark))
        return False


_lock = threading.Lock()
_presences: "weakref.WeakValueDictionary[tuple[int, Identity | None], Presence]" = weakref.WeakValueDictionary()
"""(Process, file) -> presence: closing a second descriptor of the file would release its locks."""


def presence_in(directory: Path) -> Presence:
    """The presence of this process in `directory`, one object for all callers while any of them holds it.

    Raises `StoreFailed` if the directory is not writable.
    """
    path = directory / LOCK_FILE
    with _lock:
        try:
            if path.exists() and (known := _presences.get((os.getpid(), identity(path, read_only=False)))):
                return known
            make_directory(directory)
            file = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise refused(error) from error
        presence = _presences[os.getpid(), identity(path, read_only=False)] = Presence(file)
        return presence


TRIES = 3  # attempts to find the same file before and after opening it
Identity = tuple[int, ...]


class Connection(sqlite3.Connection):
    """A connection that knows its file: `file` is device and inode, for a read-only file also size and modification
    time.

    `log` is the same of its write-ahead log, recorded in the first transaction.
    """

    file: Identity = ()
    log: Identity | None = None
    read_only = False
    numbers: Numbers

    def delete_among(self, table: str, column: str, values: Iterable[object]) -> int:
        """Delete the rows whose `column` has one of these values; returns how many there were."""
        sql = f"DELETE FROM {table} WHERE {column} IN (SELECT value FROM json_each(?))"  # noqa: S608  our own names
        return self.execute(sql, (json.dumps(list(values)),)).rowcount

    def close_replaced(self, path: Path) -> None:
        """Close a connection whose file was replaced at `path`, and remove the old file's write-ahead log.

        SQLite would leave that log in place and apply it to the new file. It is removed while this connection still has
        it open, so its inode cannot belong to the new file's log.
        """
        log = Path(f"{path}-wal")
        if self.log is not None and self.log == identity(log, read_only=False) and path.exists():
            log.unlink(missing_ok=True)
            Path(f"{path}-shm").unlink(missing_ok=True)
        self.close()


def identity(path: Path, read_only: bool) -> Identity | None:
    """The numbers that identify the file at `path`; None if there is none."""
    try:
        stat = path.stat()
    except OSError:
        return None
    file = (stat.st_dev, stat.st_ino)
    return (*file, stat.st_size, stat.st_mtime_ns) if read_only else file


def connect(path: Path, timeout_s: float, factory: type[Connection] = Connection) -> Connection:
    """Open the file, creating it readable by this user alone if it is missing.

    A file that is not writable is opened read-only. Raises `StoreFailed`, or `sqlite3.Error` from SQLite.
    """
    try:
        make_file(path)
    except OSError as error:
        if not path.exists():
            raise refused(error) from error
    read_only, log = not (os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)), Path(f"{path}-wal")
    for _ in range(TRIES):
        before, mode = identity(path, read_only), "ro" if read_only else "rw"
        if read_only and not (log.exists() and log.stat().st_size):
            mode = "ro&immutable=1"  # SQLite could not make a write-ahead log
        connection = sqlite3.connect(
            f"file:{quote(str(path))}?mode={mode}",
            uri=True,
            factory=factory,
            timeout=timeout_s,
            isolation_level=None,
            check_same_thread=False,
            cached_statements=256,
        )
        if before is not None and before == identity(path, read_only):
            connection.file, connection.read_only, connection.numbers = before, read_only, Numbers()
            return connection
        connection.close()
    raise StoreFailed(CLOSED)


READ, WRITE = "BEGIN", "BEGIN IMMEDIATE"


class SqliteFile(ABC):
    """Pooled connections to the file at `path`, opened on first use. If another file replaces it, later transactions
    use that one."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._idle: deque[Connection] = deque()
        weakref.finalize(self, _close, self._idle)

    @abstractmethod
    def _connect(self) -> Connection:
        """Open the file, with its tables."""

    def close(self) -> None:
        _close(self._idle)

    @contextmanager
    def _connected(self, begin: str, replaced: Callable[[], Failure]) -> Iterator[Connection]:
        """A transaction that commits at the end of the block, or rolls back. Raises what `replaced` makes for a write
        into a file that was replaced meanwhile."""
        connection = self._checkout()
        try:
            connection.execute(begin)
            if connection.log is None and not connection.read_only:
                connection.log = identity(Path(f"{self._path}-wal"), read_only=False)
            yield connection
            connection.execute("COMMIT")
            if begin == WRITE and connection.file != identity(self._path, connection.read_only):
                raise replaced()
        finally:
            try:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
            except sqlite3.Error:
                connection.close()
            else:
                self._idle.append(connection)

    def _checkout(self) -> Connection:
        """A connection to the current file; idle connections to a replaced file are closed."""
        while self._idle:
            connection = self._idle.pop()
            if connection.file == identity(self._path, connection.read_only):
                return connection
            connection.close_replaced(self._path)
        return self._connect()


def _close(connections: deque[Connection]) -> None:
    while connections:
        connections.pop().close()


FILE = "corpus.sqlite3"
PAGE_BYTES = 16_384  # two documents' vectors per page: the scan at start-up follows no overflow chain
LOG_BYTES = 64 << 20
PAGE = 1_000  # rows listed in one transaction
WITNESSES = (
    20  # rows in succession that a clock which is ahead for a while does not date: what they all call old is old
)
FILE_VERSION = "SELECT application_id, user_version FROM pragma_application_id, pragma_user_version"


class Database(SqliteFile):
    """The corpus file in `directory`.

    A write transaction is durable when its block ends: the write-ahead log is synced at every commit, so neither a
    killed process nor a power cut loses it. `busy_timeout_s` is how long a writer waits for another one. A file that is
    not writable can still be read.
    """

    connections = Connection  # what a connection is an object of
    page_bytes = PAGE_BYTES  # of a new file
    synchronous = "FULL"  # SQLite's: when a commit waits for the disk
    papers_a_write = 1  # that a long run should bring together for one write

    def __init__(
        self,
        directory: Path,
        *,
        busy_timeout_s: float = 10.0,
        migrations: Sequence[str] = MIGRATIONS,
    ) -> None:
        super().__init__(directory / FILE)
        self.directory = directory
        self._busy_timeout_s = busy_timeout_s
        self._migrations = migrations
        self._verified: Identity | None = None  # the file whose application id and schema were checked

    @contextmanager
    def reading(self, failure: type[Failure] = StoreFailed, *, apart: bool = False) -> Iterator[Connection]:
        """A connection that sees one state of the corpus until the block ends, or that of `reading_at_once`, unless it
        is to be read `apart`. Errors of SQLite are raised as `failure`."""
        if BLOCK.opened is None or apart:
            self._before_reading()
            with self._transaction(READ, failure) as connection:
                yield connection
            return
        if self not in BLOCK.opened:
            self._before_reading()
            BLOCK.opened[self] = BLOCK.end.enter_context(self._transaction(READ, failure))
        with explained(failure):
            yield BLOCK.opened[self]

    def catch_up(self) -> None:
        """Bring a file that follows another to what that is by now."""

    def _before_reading(self) -> None:
        """What such a file does before each transaction that reads."""

    @contextmanager
    def writing(self, failure: type[Failure] = StoreFailed) -> Iterator[Connection]:
        """A connection with the only write lock; the block commits as a whole, or rolls back if it raises.

        Raises `Conflict` where the call writes under a lease of this file that has passed to another.
        """
        with self._transaction(WRITE, failure) as connection:
            if hold := hold_in(self.holds):
                query = "SELECT 1 FROM leases WHERE name = ? AND number = ?"
                if connection.execute(query, (hold.name, hold.number)).fetchone() is None:
                    raise taken_over(hold)
            yield connection

    @property
    def holds(self) -> str:
        """What names the holds of leases in this file."""
        return f"sqlite:{self.directory}"

    def rows(self, sql: str, values: Sequence[Any] | Mapping[str, Any] = ()) -> list[Any]:
        """What a query reads, in a transaction of its own."""
        with self.reading() as connection:
            return connection.execute(sql, values).fetchall()

    def row(self, sql: str, values: Sequence[Any] = ()) -> Any:
        """The first row of what a query reads, None for none, in a transaction of its own."""
        with self.reading() as connection:
            return connection.execute(sql, values).fetchone()

    def pages(
        self, sql: str, *values: Any, after: Any = -1, failure: type[Failure] = StoreFailed
    ) -> Iterator[list[Any]]:
        """Yield `PAGE` rows at a time, each page read in a transaction of its own.

        The rows are ordered by their first column. `sql` takes, behind `values`, the value that this must be above, and
        the number of rows.
        """
        while True:
            with self.reading(failure) as connection:
                page = connection.execute(sql, (*values, after, PAGE)).fetchall()
            if not page:
                return
            yield page
            after = page[-1][0]

    def write(self, sql: str, values: Sequence[Any] = ()) -> int:
        """Execute a statement in a transaction of its own; returns how many rows it changed."""
        with self.writing() as connection:
            return connection.execute(sql, values).rowcount

    @cached_property
    def presence(self) -> Presence:
        return presence_in(self.directory)

    @contextmanager
    def _transaction(self, begin: str, failure: type[Failure]) -> Iterator[Connection]:
        with explained(failure), self._connected(begin, partial(failure, REPLACED, retryable=True)) as connection:
            yield connection

    def _connect(self) -> Connection:
        if self._verified and not self._path.exists():
            raise StoreFailed(GONE, retryable=False)
        connection = connect(self._path, self._busy_timeout_s, self.connections)
        with ExitStack() as failed:
            failed.callback(connection.close)
            if self._verified != connection.file:
                self._recognise(connection)
            for pragma in (f"synchronous = {self.synchronous}", "fullfsync = ON", f"journal_size_limit = {LOG_BYTES}"):
                connection.execute(f"PRAGMA {pragma}")
            failed.pop_all()
        self._verified = connection.file
        return connection

    def _recognise(self, connection: Connection) -> None:
        """Initialise a new file, migrate an older one, and reject a foreign or newer one.

        Tables are looked for first: another process may make the file meanwhile, its tables and its application id in
        one commit.
        """
        empty = connection.execute("SELECT NOT EXISTS (SELECT 1 FROM sqlite_schema)").fetchone()[0]
        application, version = connection.execute(FILE_VERSION).fetchone()
        if application not in (0, APPLICATION_ID) or (application == 0 and not empty):
            raise StoreFailed(
                "The corpus file belongs to another program; choose another data directory.", retryable=False
            )
        newest = EARLIER + len(self._migrations)
        if version > newest:
            raise StoreFailed(
                f"The corpus was written by a newer bio-mcp (schema {version}, here {newest}); install that version.",
                retryable=False,
            )
        if 0 < version <= EARLIER:
            raise StoreFailed(
                f"The corpus was written by a bio-mcp of before its first release (schema {version}): choose another "
                "data directory, and import, sync and ingest again.",
                retryable=False,
            )
        if version < newest:
            if connection.read_only:
                raise StoreFailed(OLDER, retryable=False)
            connection.execute(f"PRAGMA page_size = {self.page_bytes}")
            self._enable_log(connection)
            _migrate(connection, self._migrations)

    def _enable_log(self, connection: sqlite3.Connection) -> None:
        """Turn on the write-ahead log. SQLite's busy timeout does not cover two processes that do so at once."""
        end = time.monotonic() + self._busy_timeout_s
        while True:
            try:
                connection.execute("PRAGMA journal_mode = WAL")
                return
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > end:
                    raise
                time.sleep(0.02)

    def missing_objects(self, connection: sqlite3.Connection) -> list[str]:
        """The tables and indexes that the file should have and has not, each as `<type> <name>` ("table heads")."""
        names = "SELECT type || ' ' || name FROM sqlite_schema"
        with closing(sqlite3.connect(":memory:", isolation_level=None)) as empty:
            _migrate(empty, self._migrations)
            wanted, existing = ({name for (name,) in each.execute(names)} for each in (empty, connection))
        return sorted(wanted - existing)


class Store:
    """A port over the corpus file. `clock` returns seconds since 1970 and must agree between processes."""

    def __init__(self, database: Database, clock: Callable[[], float] = time.time) -> None:
        self._database, self._clock = database, clock


def _migrate(connection: sqlite3.Connection, migrations: Sequence[str]) -> None:
    connection.execute("BEGIN IMMEDIATE")
    _, version = connection.execute(FILE_VERSION).fetchone()
    for step in migrations[max(0, version - EARLIER) :]:
        for statement in filter(str.strip, step.split(";\n")):
            connection.execute(statement)
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version = {max(version, EARLIER + len(migrations))}")
    connection.execute("COMMIT")

"""Opens connections to the corpus file and detects that the file at the path was replaced."""

import os
import sqlite3
from functools import cached_property
from pathlib import Path
from urllib.parse import quote

from bio_mcp.adapters.embedded.failures import CLOSED, READ_ONLY
from bio_mcp.adapters.embedded.numbers import Numbers
from bio_mcp.adapters.embedded.private import make_file
from bio_mcp.errors import StoreFailed

TRIES = 3  # attempts to find the same file before and after opening it
Identity = tuple[int, ...]


class Connection(sqlite3.Connection):
    """A connection that knows its file: `file` is device and inode, for a read-only file also size and modification
    time.

    `log` is the same of its write-ahead log, recorded by `record_log` in the first transaction.
    """

    file: Identity = ()
    log: Identity | None = None
    read_only = False

    @cached_property
    def numbers(self) -> Numbers:
        """What this connection remembers of the numbers of terms and facets."""
        return Numbers()

    def refers_to(self, path: Path) -> bool:
        """Whether the file at `path` is still the one that this connection has open."""
        return self.file == identity(path, self.read_only)

    def record_log(self, path: Path) -> None:
        """Record the identity of this file's write-ahead log."""
        if self.log is None and not self.read_only:
            self.log = identity(_log(path), read_only=False)

    def close_replaced(self, path: Path) -> None:
        """Close a connection whose file was replaced at `path`, and remove the old file's write-ahead log.

        SQLite would leave that log in place and apply it to the new file. It is removed while this connection still has
        it open, so its inode cannot belong to the new file's log.
        """
        log = _log(path)
        if self.log is not None and self.log == identity(log, read_only=False) and path.exists():
            log.unlink(missing_ok=True)
            path.with_name(f"{path.name}-shm").unlink(missing_ok=True)
        self.close()


def identity(path: Path, read_only: bool) -> Identity | None:
    """The numbers that identify the file at `path`; None if there is none."""
    try:
        stat = path.stat()
    except OSError:
        return None
    file = (stat.st_dev, stat.st_ino)
    return (*file, stat.st_size, stat.st_mtime_ns) if read_only else file


def connect(path: Path, timeout_s: float, kind: type[Connection] = Connection) -> Connection:
    """Open the file by a connection of this `kind`, creating it readable by this user alone if it is missing.

    A file that is not writable is opened read-only. Raises `StoreFailed`, or `sqlite3.Error` from SQLite.
    """
    _make(path)
    read_only = not (os.access(path, os.W_OK) and os.access(path.parent, os.W_OK))
    for _ in range(TRIES):
        before = identity(path, read_only)
        connection = sqlite3.connect(
            f"file:{quote(str(path))}?{_mode(path, read_only)}",
            uri=True,
            factory=kind,
            timeout=timeout_s,
            isolation_level=None,
            check_same_thread=False,
            cached_statements=256,
        )
        if before is not None and before == identity(path, read_only):
            connection.file, connection.read_only = before, read_only
            return connection
        connection.close()
    raise StoreFailed(CLOSED)


def _make(path: Path) -> None:
    try:
        make_file(path)
    except OSError as error:
        if not path.exists():
            raise StoreFailed(READ_ONLY, retryable=False) from error


def _mode(path: Path, read_only: bool) -> str:
    """The mode for SQLite's URI. Read-only without a write-ahead log needs `immutable=1`, as SQLite could not create
    one."""
    if not read_only:
        return "mode=rw"
    log = _log(path)
    return "mode=ro" if log.exists() and log.stat().st_size else "mode=ro&immutable=1"


def _log(path: Path) -> Path:
    return path.with_name(f"{path.name}-wal")

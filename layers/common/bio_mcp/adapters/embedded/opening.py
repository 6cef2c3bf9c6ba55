"""Connections to the corpus file, each of which knows the file that it is to: another may be put in its place."""

import os
import sqlite3
from pathlib import Path
from urllib.parse import quote

from bio_mcp.adapters.embedded.failures import CLOSED, READ_ONLY
from bio_mcp.adapters.embedded.private import make_file
from bio_mcp.errors import StoreFailed

TRIES = 3  # to find the same file before and after it was opened
Identity = tuple[int, ...]


class Connection(sqlite3.Connection):
    """`file` tells the file apart from any other: device and inode, where it is only read also its size and time.

    `log` is the same of its write-ahead log, which is known when `remember_log` was called in the first transaction.
    """

    file: Identity = ()
    log: Identity | None = None
    read_only = False

    def is_to(self, path: Path) -> bool:
        """Whether this is still the file at `path`."""
        return self.file == identity(path, self.read_only)

    def remember_log(self, path: Path) -> None:
        """Note which write-ahead log is this file's."""
        if self.log is None and not self.read_only:
            self.log = identity(_log(path), read_only=False)

    def leave(self, path: Path) -> None:
        """Close the connection to a file that another one has replaced at `path`.

        SQLite leaves its log there, and would take it for the other file's. The log goes while this connection still
        has it open: its inode cannot be the new file's log by then.
        """
        log = _log(path)
        if self.log is not None and self.log == identity(log, read_only=False) and path.exists():
            log.unlink(missing_ok=True)
            path.with_name(f"{path.name}-shm").unlink(missing_ok=True)
        self.close()


def identity(path: Path, read_only: bool) -> Identity | None:
    """What tells the file apart; None where there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    file = (found.st_dev, found.st_ino)
    return (*file, found.st_size, found.st_mtime_ns) if read_only else file


def connect(path: Path, timeout_s: float) -> Connection:
    """A connection to the file, which is made for this user alone where there is none.

    What may not be written is opened for reading. Raises `StoreFailed`, and `sqlite3.Error` as SQLite does.
    """
    _make(path)
    read_only = not (os.access(path, os.W_OK) and os.access(path.parent, os.W_OK))
    for _ in range(TRIES):
        before = identity(path, read_only)
        connection = sqlite3.connect(
            f"file:{quote(str(path))}?{_mode(path, read_only)}",
            uri=True,
            factory=Connection,
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
    """SQLite cannot read beside a write-ahead log that it may not make, unless it is told that nobody writes."""
    if not read_only:
        return "mode=rw"
    log = _log(path)
    return "mode=ro" if log.exists() and log.stat().st_size else "mode=ro&immutable=1"


def _log(path: Path) -> Path:
    return path.with_name(f"{path.name}-wal")

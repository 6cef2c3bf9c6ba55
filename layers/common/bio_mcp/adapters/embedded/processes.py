"""Tells whether the process that left a mark is still running, in any container and however it ended.

A mark is a random number. Each process of a data directory locks the byte at that offset of `processes.lock`, and the
kernel releases the lock when the process ends. A process id would not do: another container uses the same ones. SQLite
relies on locks of this kind, so they work wherever the corpus does.
"""

import os
import random
import threading
import weakref
from pathlib import Path

from bio_mcp.adapters.embedded.failures import READ_ONLY
from bio_mcp.adapters.embedded.private import make_directory
from bio_mcp.errors import StoreFailed

try:
    import fcntl
except ImportError:  # a system without POSIX locks: no process is known to have ended, and leases expire
    fcntl = None  # type: ignore[assignment]

FILE = "processes.lock"
MARKS = 1 << 31


class Presence:
    """The mark of this process in a data directory, valid while the object lives. See `presence_in`.

    `mark` is empty if locks are not available; a process with an empty mark always counts as running.
    """

    def __init__(self, file: int) -> None:
        self._file = file
        self.mark = self._lock_mark()
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

    def _lock_mark(self) -> str:
        if fcntl is None:
            return ""
        mark = random.SystemRandom().randrange(MARKS)
        try:
            fcntl.lockf(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, mark)
        except OSError:
            return ""
        return str(mark)


_lock = threading.Lock()
_presences: "weakref.WeakValueDictionary[tuple[int, int, int], Presence]" = weakref.WeakValueDictionary()
"""(Process, device, inode) -> presence: closing a second descriptor of the file would release its locks."""


def presence_in(directory: Path) -> Presence:
    """The presence of this process in `directory`, one object for all callers while any of them holds it.

    Raises `StoreFailed` if the directory is not writable.
    """
    path = directory / FILE
    with _lock:
        try:
            if path.exists() and (known := _presences.get(_file_key(path.stat()))):
                return known
            make_directory(directory)
            file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise StoreFailed(READ_ONLY, retryable=False) from error
        presence = _presences[_file_key(os.fstat(file))] = Presence(file)
        return presence


def _file_key(stat: os.stat_result) -> tuple[int, int, int]:
    return os.getpid(), stat.st_dev, stat.st_ino

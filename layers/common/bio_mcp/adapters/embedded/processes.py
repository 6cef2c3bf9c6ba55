"""Is the process that left a mark still running? Whatever container it runs in, and however it ended.

A mark is a random number, and each process of a data directory locks the byte of that number in `processes.lock`: the
kernel lets go of the lock when the process ends. A process id would not do, as another container uses the same ones.
SQLite relies on locks of this kind, so they work wherever the corpus does.
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
except ImportError:  # a system without such locks: nobody is known to have ended, and leases run out
    fcntl = None  # type: ignore[assignment]

FILE = "processes.lock"
MARKS = 1 << 31


class Presence:
    """This process among those that use a data directory, for as long as the object lives. See `presence_in`.

    `mark` is empty where no lock can be had; who left such a mark is always taken to be running.
    """

    def __init__(self, file: int) -> None:
        self._file = file
        self.mark = self._locked()
        weakref.finalize(self, os.close, file)

    def is_running(self, mark: str) -> bool:
        """Whether the process that left the mark may still be running."""
        if fcntl is None or not mark.isdecimal() or mark == self.mark:
            return True
        try:
            fcntl.lockf(self._file, fcntl.LOCK_SH | fcntl.LOCK_NB, 1, int(mark))
        except OSError:
            return True
        fcntl.lockf(self._file, fcntl.LOCK_UN, 1, int(mark))
        return False

    def _locked(self) -> str:
        if fcntl is None:
            return ""
        mark = random.SystemRandom().randrange(MARKS)
        try:
            fcntl.lockf(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, mark)
        except OSError:
            return ""
        return str(mark)


_making = threading.Lock()
_present: "weakref.WeakValueDictionary[tuple[int, int, int], Presence]" = weakref.WeakValueDictionary()
"""Process, device and inode -> what it has there: to close a second descriptor of the file would let go of its lock."""


def presence_in(directory: Path) -> Presence:
    """The presence of this process, the same one for all that ask while somebody holds it.

    Raises `StoreFailed` where the directory cannot be written.
    """
    path = directory / FILE
    with _making:
        try:
            if path.exists() and (found := _present.get(_name(path.stat()))):
                return found
            make_directory(directory)
            file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise StoreFailed(READ_ONLY, retryable=False) from error
        made = _present[_name(os.fstat(file))] = Presence(file)
        return made


def _name(seen: os.stat_result) -> tuple[int, int, int]:
    return os.getpid(), seen.st_dev, seen.st_ino

"""A directory for this process's copies of indices, which is gone when the process is."""

import shutil
import tempfile
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeVar

try:
    import fcntl
except ImportError:  # a system without POSIX locks: what a killed process leaves stays
    fcntl = None  # type: ignore[assignment]

T = TypeVar("T")
PREFIX = "bio-mcp-index-"
LOCK = "lock"


@contextmanager
def private_directory(above: Path | None = None) -> Iterator[Path]:
    """A new directory in the temporary one, deleted at the end, with those that killed processes have left there."""
    above = above or Path(tempfile.gettempdir())
    for left in above.glob(f"{PREFIX}*"):
        _remove_abandoned(left)
    while True:
        made = Path(tempfile.mkdtemp(prefix=PREFIX, dir=above))
        with (made / LOCK).open("w") as lock:
            if fcntl is not None:
                fcntl.flock(lock, fcntl.LOCK_SH)
            if not (made / LOCK).exists():  # it was taken for an abandoned one before it was locked
                continue
            try:
                yield made
            finally:
                shutil.rmtree(made, ignore_errors=True)
            return


def deleted_with(owner: T, directory: Path) -> T:
    """Delete the directory when nothing refers to its owner any more; returns the owner."""
    weakref.finalize(owner, shutil.rmtree, directory, ignore_errors=True)
    return owner


def _remove_abandoned(left: Path) -> None:
    """Remove the directory unless a process has its lock; one that is being made has no lock yet."""
    with suppress(OSError), (left / LOCK).open() as lock:
        if fcntl is not None:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(left, ignore_errors=True)

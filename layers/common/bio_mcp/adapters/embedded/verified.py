"""Remembers that a file was written or found whole, so that the next process need not read all of it.

The file's identity stands in another one beside it. What writes to a file, or puts another in its place, gives it
another time of change, which no program can set.
"""

import os
from contextlib import suppress
from pathlib import Path

SUFFIX = "-verified"
SETTLED_S = 2  # a file that changed less long ago may change again at the same time, by a coarse clock of a file system


def is_verified(path: Path, stat: os.stat_result) -> bool:
    """Whether the file at `path`, which is as `stat` says, is known to be whole."""
    try:
        return _mark(path).read_text("ascii") == _identity(stat)
    except (OSError, ValueError):
        return False


def has_settled(stat: os.stat_result, at: float) -> bool:
    """Whether a later change of a file that is as `stat` says at the time `at`, in seconds since 1970, would show."""
    return at - max(stat.st_mtime, stat.st_ctime) > SETTLED_S


def remember(path: Path, stat: os.stat_result) -> None:
    """Remember that the file that is as `stat` says is whole; nothing where that cannot be written."""
    with suppress(OSError):
        _mark(path).write_text(_identity(stat), "ascii")


def forget(path: Path) -> None:
    """Have the file verified again."""
    with suppress(OSError):
        _mark(path).unlink()


def _mark(path: Path) -> Path:
    return path.with_name(path.name + SUFFIX)


def _identity(stat: os.stat_result) -> str:
    return f"{stat.st_ino} {stat.st_size} {stat.st_mtime_ns} {stat.st_ctime_ns}\n"

"""Files and directories that are this user's alone; those that are there stay as they are."""

import os
import tempfile
from contextlib import suppress
from pathlib import Path


def make_directory(path: Path) -> None:
    """Make the directory and those above it that are missing."""
    if not path.exists():
        make_directory(path.parent)
        path.mkdir(mode=0o700, exist_ok=True)


def make_file(path: Path) -> None:
    """Make the file, empty, and its directory.

    A file that is there is not even opened: to close it would let go of every lock that this process has on it, and
    SQLite in another process would take the corpus for its own.
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

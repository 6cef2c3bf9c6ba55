"""Creates files and directories that only this user can access; existing ones are left as they are."""

import os
import tempfile
from contextlib import suppress
from pathlib import Path


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

"""Files and directories that are this user's alone; those that are there stay as they are."""

import os
from pathlib import Path


def make_directory(path: Path) -> None:
    """Make the directory and those above it that are missing."""
    if not path.exists():
        make_directory(path.parent)
        path.mkdir(mode=0o700, exist_ok=True)


def make_file(path: Path) -> None:
    """Make the file, empty, and its directory."""
    make_directory(path.parent)
    os.close(os.open(path, os.O_CREAT | os.O_RDONLY, 0o600))

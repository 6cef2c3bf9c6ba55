"""Lets other processes, and calls of this one, know that a model is being built, and how far that is."""

import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from bio_mcp.errors import EmbeddingFailed
from bio_mcp.progress import Progress

STALE_S = 120  # without a sign of progress, after which a build was killed


def notes_of(directory: Path) -> Path:
    """The file beside a model's directory that says how far its build is."""
    return directory.with_name(f".{directory.name}.building")


def how_far(directory: Path) -> str | None:
    """What was last said of the build that is running; None if none is."""
    notes = notes_of(directory)
    with suppress(OSError):
        if time.time() - notes.stat().st_mtime < STALE_S:
            return notes.read_text(encoding="utf-8")
    return None


def check_is_not_being_built(directory: Path) -> None:
    """Raise `EmbeddingFailed`, worth another try, while the model is being built."""
    if (note := how_far(directory)) is not None:
        message = f"The embedding model is being built ({note or 'begun'}). Try again in a minute."
        raise EmbeddingFailed(message, retry_after_s=30)


@contextmanager
def announced(directory: Path) -> Iterator[Progress]:
    """Say that the model is being built while the block runs, and how far, by what it reports.

    Raises `EmbeddingFailed` where another process builds it. Two that begin in one instant both build it, each whole.
    """
    check_is_not_being_built(directory)
    notes = notes_of(directory)
    notes.parent.mkdir(parents=True, exist_ok=True)
    notes.write_text("begun", encoding="utf-8")
    try:
        yield lambda _done, _total, note: _write(notes, note)
    finally:
        notes.unlink(missing_ok=True)


def _write(notes: Path, note: str) -> None:
    notes.write_text(note, encoding="utf-8")

"""Saves the index's columns in a file of their own, so that a large corpus starts fast."""

import logging
import sqlite3
from pathlib import Path

from bio_mcp.adapters.embedded.arrayfile import ArrayFile, Reason, Unusable, read_arrays, write_arrays
from bio_mcp.adapters.embedded.columnar_index import Columns
from bio_mcp.adapters.embedded.quantising import AXES
from bio_mcp.adapters.embedded.window_columns import EXACT, IN_MEMORY, Sizes

log = logging.getLogger("bio_mcp.adapters.embedded")

NAME = "corpus.index"  # beside the corpus file
SKETCH = [AXES, 8]  # a file with sketches of another shape is rebuilt
MIN_WINDOWS = 2 * EXACT  # a smaller index loads from the corpus as fast
MAX_CHANGED = 2_048  # documents changed since the save, or an eighth of all if that is more


def save(path: Path, connection: sqlite3.Connection, change: int, columns: Columns) -> None:
    """Save the columns as of batch `change`, if the index is large enough and the disk has room."""
    token = _token(connection, change)
    if token is not None and columns.coded and columns.windows > MIN_WINDOWS:
        about, arrays = columns.state()
        write_arrays(path, {**about, "change": change, "token": token, "sketch": SKETCH}, arrays)


def load(path: Path, connection: sqlite3.Connection, dim: int, sizes: Sizes) -> tuple[Columns, int, ArrayFile] | None:
    """Load the saved columns, the batch they are at, and the mapped file; None where it is not to be used."""
    try:
        file = usable(path, connection, dim, once=True)
    except Unusable as unusable:
        if unusable.reason is Reason.DAMAGED:
            log.warning("%s is damaged and is rebuilt from the corpus", path.name)
        return None
    return Columns.from_state(file.about, file.arrays, sizes), file.about["change"], file


def usable(path: Path, connection: sqlite3.Connection, dim: int, *, once: bool = False) -> ArrayFile:
    """The file, if it was saved from an earlier state of this corpus that little has changed since; verified as
    `read_arrays` says.

    Raises `Unusable`.
    """
    file = read_arrays(path, once=once)
    about = file.about
    if about["sketch"] != SKETCH:
        raise Unusable(Reason.OTHER_VERSION)
    since: int = about["change"]
    if (about["dim"], about["token"]) != (dim, _token(connection, since)):
        raise Unusable(Reason.OTHER_CORPUS)
    if changed(connection, since) > max(MAX_CHANGED, len(file.arrays["pmids"][0]) // 8):
        raise Unusable(Reason.OUTDATED)
    return file


def size_of(windows: int, dim: int) -> int:
    """Bytes of the file of so many windows, words included; some more than was measured from 10,000 to a million
    papers."""
    vectors = 4 * dim if windows <= IN_MEMORY else 0
    return windows * (vectors + 2 * dim)


def changed(connection: sqlite3.Connection, since: int) -> int:
    """How many papers of the index were written after batch `since`."""
    count: int = connection.execute("SELECT count(*) FROM entries WHERE change > ?", (since,)).fetchone()[0]
    return count


def _token(connection: sqlite3.Connection, change: int) -> str | None:
    row = connection.execute("SELECT token FROM changes WHERE change = ?", (change,)).fetchone()
    return row[0] if row else None

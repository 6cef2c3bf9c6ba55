"""Saves the index's columns in a file of their own, so that a large corpus starts fast."""

import sqlite3
from pathlib import Path

from bio_mcp.adapters.embedded.arrayfile import ArrayFile, read_arrays, write_arrays
from bio_mcp.adapters.embedded.columnar_index import Columns
from bio_mcp.adapters.embedded.quantising import AXES
from bio_mcp.adapters.embedded.window_columns import EXACT, Sizes

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
    """Load the saved columns, the batch they are at, and the mapped file.

    None if they belong to another corpus or too much has changed since.
    """
    file = read_arrays(path)
    if file is None:
        return None
    about, arrays = file.about, file.arrays
    since: int = about["change"]
    if (about["dim"], about["sketch"], about["token"]) != (dim, SKETCH, _token(connection, since)):
        return None
    documents = len(arrays["pmids"][0])
    changed: int = connection.execute("SELECT count(*) FROM entries WHERE change > ?", (since,)).fetchone()[0]
    return (
        None if changed > max(MAX_CHANGED, documents // 8) else (Columns.from_state(about, arrays, sizes), since, file)
    )


def _token(connection: sqlite3.Connection, change: int) -> str | None:
    row = connection.execute("SELECT token FROM changes WHERE change = ?", (change,)).fetchone()
    return row[0] if row else None

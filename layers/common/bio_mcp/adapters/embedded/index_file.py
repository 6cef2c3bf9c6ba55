"""Columns kept in a file of their own, so that a large corpus starts fast."""

import sqlite3
from pathlib import Path

from bio_mcp.adapters.embedded.arrayfile import ArrayFile, read_arrays, write_arrays
from bio_mcp.adapters.embedded.columnar_index import Columns
from bio_mcp.adapters.embedded.windows import AXES, EXACT

SKETCH = [AXES, 2]  # a file with other sketches than this program makes is made anew
ENOUGH = 2 * EXACT  # windows; a smaller corpus is read faster than it is kept
FEW = 2_048  # documents that may have changed since, or an eighth of all if that is more


def keep(path: Path, connection: sqlite3.Connection, change: int, columns: Columns) -> None:
    """Write the columns as they are after batch `change`, if they are worth it and the disk has room."""
    token = _token(connection, change)
    if token is not None and columns.windows > ENOUGH:
        about, arrays = columns.kept()
        write_arrays(path, {**about, "change": change, "token": token, "sketch": SKETCH}, arrays)


def restore(path: Path, connection: sqlite3.Connection, dim: int) -> tuple[Columns, int, ArrayFile] | None:
    """The kept columns, the batch they stand at and the file that they are in.

    None where they are of another corpus or much has changed since.
    """
    found = read_arrays(path)
    if found is None:
        return None
    about, arrays = found.about, found.arrays
    since: int = about["change"]
    if (about["dim"], about["sketch"], about["token"]) != (dim, SKETCH, _token(connection, since)):
        return None
    documents = len(arrays["pmids"][0])
    changed: int = connection.execute("SELECT count(*) FROM entries WHERE change > ?", (since,)).fetchone()[0]
    return None if changed > max(FEW, documents // 8) else (Columns.restored(about, arrays), since, found)


def _token(connection: sqlite3.Connection, change: int) -> str | None:
    row = connection.execute("SELECT token FROM changes WHERE change = ?", (change,)).fetchone()
    return row[0] if row else None

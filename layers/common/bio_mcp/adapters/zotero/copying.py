"""Copies a database that Zotero may be writing, and opens the copy.

A running Zotero locks its file for itself alone, and a reader of a database with a write-ahead log would write beside
it. So the live files are only read byte by byte, by nothing that takes part in SQLite's locking. A copy counts if no
file changed meanwhile and SQLite finds it sound; it rolls back there what was being written.
"""

import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from bio_mcp.adapters.retry import Backoff, retry
from bio_mcp.errors import Conflict, Misconfigured

BESIDE = ("", "-journal", "-wal")  # the files of a database; the shared memory is made anew
PATIENCE = Backoff(tries=6, first_s=0.2, cap_s=3.0)

Marks = dict[str, list[int]]
CopyFile = Callable[[Path, Path], object]


def marks_of(path: Path) -> Marks:
    """Size and time of change (ns) of each file of a database: equal as long as nobody writes."""
    return {suffix: mark for suffix in BESIDE if (mark := _mark(path.with_name(path.name + suffix)))}


@contextmanager
def copied(
    path: Path, patience: Backoff = PATIENCE, copy_file: CopyFile = shutil.copyfile
) -> Iterator[tuple[sqlite3.Connection, Marks]]:
    """A connection to a copy of the database, with what `marks_of` says of the original; the copy goes with the block.

    Raises `Conflict` while the original is being written or is damaged, `Misconfigured` where there is none.
    """
    with tempfile.TemporaryDirectory(prefix="zotero-") as folder:
        copy = Path(folder) / "copy.sqlite"
        marks = retry(lambda: _copy(path, copy, copy_file), worth=Conflict, backoff=patience)
        with closing(sqlite3.connect(copy)) as connection:
            connection.row_factory = sqlite3.Row
            yield connection, marks


def _copy(path: Path, copy: Path, copy_file: CopyFile) -> Marks:
    before = marks_of(path)
    if "" not in before:
        raise Misconfigured("ZOTERO_DATA_DIR holds no zotero.sqlite; name the folder that Zotero shows in its settings")
    for suffix in BESIDE:
        target = copy.with_name(copy.name + suffix)
        target.unlink(missing_ok=True)
        if suffix in before:
            _bytes(path.with_name(path.name + suffix), target, copy_file)
    if marks_of(path) != before or not _sound(copy):
        raise Conflict("Zotero is writing its database, or it is damaged; try again in a minute")
    return before


def _bytes(source: Path, target: Path, copy_file: CopyFile) -> None:
    try:
        copy_file(source, target)
    except FileNotFoundError:
        raise Conflict("Zotero is writing its database; try again in a minute") from None
    except OSError as error:
        reason = (error.strerror or "no reason given").lower()
        raise Misconfigured(f"Zotero's database in ZOTERO_DATA_DIR cannot be copied: {reason}") from None


def _sound(copy: Path) -> bool:
    try:
        with closing(sqlite3.connect(copy)) as connection:
            return bool(connection.execute("PRAGMA quick_check(1)").fetchone()[0] == "ok")
    except sqlite3.DatabaseError:
        return False


def _mark(path: Path) -> list[int] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return [status.st_size, status.st_mtime_ns]

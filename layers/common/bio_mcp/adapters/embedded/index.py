"""Keeps a `Snapshot` in step with the corpus file."""

import logging
import sqlite3
from pathlib import Path
from threading import Lock

from bio_mcp.adapters.embedded.arrayfile import ArrayFile
from bio_mcp.adapters.embedded.columnar_index import Columns
from bio_mcp.adapters.embedded.index_file import load, save
from bio_mcp.adapters.embedded.opening import Connection, Identity
from bio_mcp.adapters.embedded.snapshot import Snapshot
from bio_mcp.adapters.embedded.window_columns import Sizes

log = logging.getLogger("bio_mcp.adapters.embedded")


def last_change(connection: sqlite3.Connection) -> int:
    """The number of the last batch that changed the index; 0 before the first."""
    row = connection.execute("SELECT value FROM settings WHERE name = 'change'").fetchone()
    return int(row[0]) if row else 0


def dimension(connection: sqlite3.Connection) -> int:
    """The length of the index's vectors; 0 if there is no index yet."""
    row = connection.execute("SELECT value FROM settings WHERE name = 'dim'").fetchone()
    return int(row[0]) if row else 0


class LiveIndex:
    """The in-memory index that queries run on, loaded from the corpus file on first use and patched as the file
    changes.

    A large index is also saved in `index_file`, which may be deleted at any time. It is loaded if it was made from an
    earlier state of this very corpus, and rebuilt if too much has changed since. Any number of threads may call
    `current`; those that come during a patch wait for it.
    """

    def __init__(self, k1: float, b: float, index_file: Path, sizes: Sizes) -> None:
        self._sizes = sizes
        self._k1 = k1
        self._b = b
        self._index_file = index_file
        self._lock = Lock()
        self._mapped: ArrayFile | None = None
        self._columns = Columns(0, self._sizes)
        self._snapshot = self._columns.snapshot(0, k1, b)
        self._seen: tuple[Identity, Snapshot] = (), self._snapshot  # the corpus file and the snapshot made from it

    def current(self, connection: Connection) -> Snapshot:
        """The index as `connection`'s transaction sees it, or newer."""
        file, snapshot = self._seen
        change = last_change(connection)
        if file == connection.file and snapshot.change >= change and not self._mapping_modified:
            return snapshot
        with self._lock:
            if self._seen[0] != connection.file:
                self._reset()
            if self._mapping_modified:
                log.warning("%s was modified by another program and is rebuilt", self._index_file.name)
                self._reset()
            if self._snapshot.change < change:
                self._catch_up(connection, change)
            self._seen = connection.file, self._snapshot
            return self._snapshot

    @property
    def _mapping_modified(self) -> bool:
        """Whether the mapped file was modified. Reading a truncated mapping would kill this process (SIGBUS)."""
        return self._mapped is not None and self._mapped.has_changed

    def _catch_up(self, connection: sqlite3.Connection, change: int) -> None:
        dim = dimension(connection)
        done = False
        try:
            if not self._snapshot.change or dim != self._columns.dim:
                self._read(connection, dim, change)
            else:
                self._columns.patch(connection, self._snapshot.change)
                if self._columns.outgrown:
                    self._read(connection, dim, change)
            self._snapshot = self._columns.snapshot(change, self._k1, self._b)
            done = True
        finally:
            if not done:  # a half-applied patch is unusable: the next query reloads everything
                self._reset()

    def _read(self, connection: sqlite3.Connection, dim: int, change: int) -> None:
        """Fill the columns from the saved index and the changes since, or from the corpus file alone."""
        loaded = load(self._index_file, connection, dim, self._sizes)
        if loaded is not None:
            self._columns, since, self._mapped = loaded
            self._columns.patch(connection, since)
            if not self._columns.outgrown:
                return
        self._mapped = None
        self._columns = Columns(0, self._sizes)  # the memory of the old ones is free before the new ones take theirs
        self._columns = Columns.read(connection, dim, self._sizes)
        save(self._index_file, connection, change, self._columns)

    def _reset(self) -> None:
        self._mapped = None
        self._columns = Columns(0, self._sizes)
        self._snapshot = self._columns.snapshot(0, self._k1, self._b)

"""Keeps a `Snapshot` in step with the corpus file."""

import logging
import sqlite3
from pathlib import Path
from threading import Lock

from bio_mcp.adapters.embedded.arrayfile import ArrayFile
from bio_mcp.adapters.embedded.columnar_index import Columns
from bio_mcp.adapters.embedded.index_file import keep, restore
from bio_mcp.adapters.embedded.opening import Connection, Identity
from bio_mcp.adapters.embedded.snapshot import Snapshot

log = logging.getLogger("bio_mcp.adapters.embedded")


def last_change(connection: sqlite3.Connection) -> int:
    """The number of the last batch that changed the index; 0 before the first."""
    row = connection.execute("SELECT value FROM settings WHERE name = 'change'").fetchone()
    return int(row[0]) if row else 0


def dimension(connection: sqlite3.Connection) -> int:
    """The length of the index's vectors; 0 while there is no index."""
    row = connection.execute("SELECT value FROM settings WHERE name = 'dim'").fetchone()
    return int(row[0]) if row else 0


class LiveIndex:
    """The arrays that queries run on, made from the corpus file on first use and patched when it has changed.

    What a large corpus takes long to read is also kept in the file `kept`, which may be deleted at any time: it is
    used if it was made from an earlier state of this very corpus, and made anew when too much has changed since.
    Any number of threads may call `current`; whoever comes while it is being patched waits for that.
    """

    def __init__(self, k1: float, b: float, kept: Path) -> None:
        self._k1 = k1
        self._b = b
        self._kept = kept
        self._lock = Lock()
        self._mapped: ArrayFile | None = None
        self._columns = Columns(0)
        self._snapshot = self._columns.snapshot(0, k1, b)
        self._seen: tuple[Identity, Snapshot] = (), self._snapshot  # the corpus file and what was made of it

    def current(self, connection: Connection) -> Snapshot:
        """The index as `connection`'s transaction sees it, or newer."""
        file, snapshot = self._seen
        change = last_change(connection)
        if file == connection.file and snapshot.change >= change and not self._is_spoilt:
            return snapshot
        with self._lock:
            if self._seen[0] != connection.file:
                self._forget()
            if self._is_spoilt:
                log.warning("%s was changed by another program; it is made again", self._kept.name)
                self._forget()
            if self._snapshot.change < change:
                self._catch_up(connection, change)
            self._seen = connection.file, self._snapshot
            return self._snapshot

    @property
    def _is_spoilt(self) -> bool:
        """A mapped file that was cut would end this process, one that was overwritten would find something else."""
        return self._mapped is not None and self._mapped.has_changed

    def _catch_up(self, connection: sqlite3.Connection, change: int) -> None:
        dim = dimension(connection)
        done = False
        try:
            if not self._snapshot.change or dim != self._columns.dim:
                self._read(connection, dim, change)
            else:
                self._columns.patch(connection, self._snapshot.change)
                if self._columns.bloated:
                    self._read(connection, dim, change)
            self._snapshot = self._columns.snapshot(change, self._k1, self._b)
            done = True
        finally:
            if not done:  # half a patch is nothing to go on from: the next query builds it all afresh
                self._forget()

    def _read(self, connection: sqlite3.Connection, dim: int, change: int) -> None:
        """Fill the columns from what is kept and has changed since, or from the corpus file alone."""
        restored = restore(self._kept, connection, dim)
        if restored is not None:
            self._columns, since, self._mapped = restored
            self._columns.patch(connection, since)
            return
        self._mapped = None
        self._columns = Columns(dim)
        self._columns.load(connection)
        keep(self._kept, connection, change, self._columns)

    def _forget(self) -> None:
        self._mapped = None
        self._columns = Columns(0)
        self._snapshot = self._columns.snapshot(0, self._k1, self._b)

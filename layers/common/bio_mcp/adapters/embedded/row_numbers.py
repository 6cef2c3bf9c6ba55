"""Which row of the index a document has."""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from bio_mcp.adapters.embedded.postings import Rows


class RowNumbers:
    """The live row of each PMID, and the rows that are dead. Those of a loaded index stay as sorted arrays: a
    dictionary of a million would cost a second of start and a hundred megabytes."""

    def __init__(self, pmids: NDArray[np.int64] | None = None, dead: Iterable[int] = ()) -> None:
        pmids = np.empty(0, np.int64) if pmids is None else pmids
        self.dead: list[int] = list(dead)
        alive = np.ones(len(pmids), np.bool_)
        alive[self.dead] = False
        rows = np.flatnonzero(alive).astype(np.int32)
        order = np.argsort(pmids[rows], kind="stable")
        self._pmids, self._rows = pmids[rows][order], rows[order]
        self._replaced: set[int] = set()
        self._later: dict[int, int] = {}

    def __len__(self) -> int:
        return len(self._rows) - len(self._replaced) + len(self._later)

    def add(self, pmids: list[int], first: int) -> None:
        """Give these documents the rows from `first` on; their earlier rows become dead."""
        for row, pmid in enumerate(pmids, first):
            self.remove(pmid)
            self._later[pmid] = row

    def remove(self, pmid: int) -> None:
        """Make the document's row dead, if it has one."""
        row = self._later.pop(pmid, None)
        if row is None:
            row = self._loaded(pmid)
            if row is None:
                return
            self._replaced.add(pmid)
        self.dead.append(row)

    def live(self, rows: int) -> Rows:
        """Those of so many rows that are not dead, ascending."""
        alive = np.ones(rows, np.bool_)
        alive[self.dead] = False
        return np.flatnonzero(alive).astype(np.int32)

    def _loaded(self, pmid: int) -> int | None:
        at = int(np.searchsorted(self._pmids, pmid))
        found = at < len(self._pmids) and self._pmids[at] == pmid and pmid not in self._replaced
        return int(self._rows[at]) if found else None

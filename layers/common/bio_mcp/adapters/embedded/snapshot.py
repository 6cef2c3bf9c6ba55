"""The index at one moment, as arrays: what a query runs on. Nothing in it ever changes."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from bio_mcp.adapters.embedded.postings import Rows, Scores, Segments, best, bm25
from bio_mcp.adapters.embedded.rows import NO_YEAR, Names
from bio_mcp.adapters.embedded.windows import Matrix, Nearest, Windows
from bio_mcp.retrieval.passages import Candidate

MASKS_KEPT = 256

Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Conditions:
    """Filters in the index's own numbers.

    `any_of` has one set of facets per field, of which one must be there; `within` is PMIDs, ascending.
    """

    year_from: int | None
    year_to: int | None
    any_of: tuple[tuple[int, ...], ...]
    within: NDArray[np.int64] | None = None

    def __bool__(self) -> bool:
        return bool(self.any_of or self.within is not None or self.year_from is not None or self.year_to is not None)


@dataclass(frozen=True, slots=True)
class Snapshot:
    """One row per document, dead ones included. `change` is the last batch of the corpus file that is in it."""

    change: int
    pmids: NDArray[np.int64]
    years: NDArray[np.int32]
    profiles: NDArray[np.int32]
    layouts: NDArray[np.int32]
    alive: Mask
    norms: NDArray[np.float32]
    documents: int
    terms: Segments
    facets: Segments
    windows: Windows
    names: Names
    _masks: dict[int, Mask] = field(default_factory=dict)

    def passing(self, conditions: Conditions) -> Rows | None:
        """The live rows that fulfil the conditions, ascending; None for all of them."""
        if not conditions:
            return None
        mask = self.alive.copy()
        if conditions.year_from is not None:
            mask &= self.years >= conditions.year_from
        if conditions.year_to is not None:
            mask &= (self.years <= conditions.year_to) & (self.years != NO_YEAR)
        for facets in conditions.any_of:
            mask &= np.logical_or.reduce([self._mask(facet) for facet in facets] or [np.zeros_like(mask)])
        if conditions.within is not None:
            mask &= _members(self.pmids, conditions.within)
        return np.flatnonzero(mask).astype(np.int32)

    def lexical(self, query: list[tuple[int, float]], among: Rows | None, depth: int) -> tuple[Rows, Scores]:
        """The best `depth` rows by BM25, and their scores, best first; never one with a score of 0."""
        scores = bm25(self.terms, self.norms, self.documents, query)
        rows = np.flatnonzero(scores > 0).astype(np.int32) if among is None else among[scores[among] > 0]
        rows = rows[best(scores[rows], self.pmids[rows], depth)]
        return rows, scores[rows]

    def dense(self, vector: Matrix, among: Rows | None, depth: int) -> Nearest:
        """The best `depth` rows by the cosine of their best window, best first."""
        return self.windows.nearest(vector, among, self.pmids, depth)

    def candidate(self, row: int, bm25: float | None, sim: float | None, chunk_id: str | None) -> Candidate:
        """What a search says of the document in this row."""
        quality, retraction = self.names.profiles[int(self.profiles[row])]
        year = int(self.years[row])
        known_year = None if year == NO_YEAR else year
        return Candidate(str(self.pmids[row]), bm25, sim, chunk_id, known_year, quality, retraction)

    def chunk_id(self, row: int, window: int) -> str:
        """The name of the window at this position of the matrix."""
        return self.names.layouts[int(self.layouts[row])][window - int(self.windows.starts[row])]

    def _mask(self, facet: int) -> Mask:
        found = self._masks.get(facet)
        if found is None:
            found = np.zeros(len(self.pmids), dtype=np.bool_)
            found[self.facets.rows(facet)] = True
            if len(self._masks) >= MASKS_KEPT:
                self._masks.clear()
            self._masks[facet] = found
        return found


def _members(values: NDArray[np.int64], wanted: NDArray[np.int64]) -> Mask:
    """Which of `values` are among `wanted`, which is ascending."""
    if not len(wanted):
        return np.zeros(len(values), dtype=np.bool_)
    found: Mask = wanted[np.minimum(np.searchsorted(wanted, values), len(wanted) - 1)] == values
    return found

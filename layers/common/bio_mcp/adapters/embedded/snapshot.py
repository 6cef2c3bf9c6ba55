"""The index at one moment, as immutable arrays that a query runs on."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from bio_mcp.adapters.embedded.lexical import Texts, best_by_bm25
from bio_mcp.adapters.embedded.postings import Mask, Rows, Scores, Segments
from bio_mcp.adapters.embedded.quantising import Matrix
from bio_mcp.adapters.embedded.rows import NO_YEAR, Names
from bio_mcp.adapters.embedded.windows import Nearest, VectorsOf, Windows
from bio_mcp.retrieval.passages import Candidate

MASK_BYTES = 64 << 20  # of masks of facets, in memory at once


@dataclass(frozen=True, slots=True)
class Conditions:
    """Filters in the index's own numbers.

    A document needs one facet of each set in `any_of`; `within` is PMIDs, ascending.
    """

    year_from: int | None
    year_to: int | None
    any_of: tuple[tuple[int, ...], ...]
    within: NDArray[np.int64] | None = None

    def __bool__(self) -> bool:
        return bool(self.any_of or self.within is not None or self.year_from is not None or self.year_to is not None)


@dataclass(frozen=True, slots=True)
class Snapshot:
    """One row per document, dead ones included. `change` is the last batch of the corpus file that it includes."""

    change: int
    pmids: NDArray[np.int64]
    years: NDArray[np.int32]
    profiles: NDArray[np.int32]
    layouts: NDArray[np.int32]
    alive: Mask
    documents: int
    texts: Texts
    facets: Segments
    windows: Windows
    names: Names
    _masks: dict[int, Mask] = field(default_factory=dict)

    def passing(self, conditions: Conditions) -> Rows | None:
        """The live rows that meet the conditions, ascending; None means all rows."""
        if not conditions:
            return None
        mask = self.alive.copy()
        if conditions.year_from is not None:
            mask &= self.years >= conditions.year_from
        if conditions.year_to is not None:
            mask &= self.years <= conditions.year_to
            if conditions.year_from is None:
                mask &= self.years != NO_YEAR
        for facets in conditions.any_of:
            own = [self._mask(facet) for facet in facets] or [np.zeros_like(mask)]
            mask &= own[0] if len(own) == 1 else np.logical_or.reduce(own)
        if conditions.within is not None:
            mask &= _members(self.pmids, conditions.within)
        return np.flatnonzero(mask).astype(np.int32)

    def lexical(self, query: list[tuple[int, float]], among: Rows | None, depth: int) -> tuple[Rows, Scores]:
        """The `depth` best rows by BM25 and their scores, best first; a row with score 0 is never included."""
        return best_by_bm25(self.texts, query, among, self.pmids, depth)

    def dense(
        self, vector: Matrix, among: Rows | None, depth: int, read: VectorsOf, *, all_exact: bool = False
    ) -> Nearest:
        """The `depth` best rows by the cosine of their best window, best first. See `Windows.nearest`."""
        return self.windows.nearest(vector, among, depth, read, all_exact=all_exact)

    def candidate(self, row: int, bm25: float | None, sim: float | None, chunk_id: str | None) -> Candidate:
        """The search candidate for the document in this row."""
        quality, retraction = self.names.profiles[int(self.profiles[row])]
        year = int(self.years[row])
        known_year = None if year == NO_YEAR else year
        return Candidate(str(self.pmids[row]), bm25, sim, chunk_id, known_year, quality, retraction)

    def chunk_id(self, row: int, place: int) -> str:
        """The id of the row's chunk at this place."""
        return self.names.layouts[int(self.layouts[row])][place]

    def _mask(self, facet: int) -> Mask:
        mask = self._masks.get(facet)
        if mask is None:
            mask = np.zeros(len(self.pmids), dtype=np.bool_)
            mask[self.facets.rows(facet)] = True
            if len(self._masks) * len(mask) > MASK_BYTES:
                self._masks.clear()
            self._masks[facet] = mask
        return mask


def _members(values: NDArray[np.int64], wanted: NDArray[np.int64]) -> Mask:
    """A mask of those `values` that are in `wanted`, which is ascending."""
    if not len(wanted):
        return np.zeros(len(values), dtype=np.bool_)
    mask: Mask = wanted[np.minimum(np.searchsorted(wanted, values), len(wanted) - 1)] == values
    return mask

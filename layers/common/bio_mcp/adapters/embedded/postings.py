"""Postings (term -> documents with frequencies) and BM25 over them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.int32]
Scores = NDArray[np.float64]

TERM_SHIFT, ROW_SHIFT = np.uint64(40), np.uint64(16)  # a posting in 64 bits: 24 of term, 24 of row, 16 of frequency
ROW_MASK, FREQUENCY_MASK = np.uint64(0xFFFFFF), np.uint64(0xFFFF)


@dataclass(frozen=True, slots=True)
class Postings:
    """Postings sorted by term, then row: those of `terms[i]` are at `starts[i]` to `starts[i + 1]`."""

    terms: NDArray[np.uint32]
    starts: NDArray[np.int64]
    rows: Rows
    frequencies: NDArray[np.uint16]

    @staticmethod
    def of(terms: NDArray[np.uint32], rows: Rows, frequencies: NDArray[np.uint16]) -> "Postings":
        """Build postings from three parallel arrays in any order."""
        packed = terms.astype(np.uint64) << TERM_SHIFT
        packed |= rows.astype(np.uint64) << ROW_SHIFT
        packed |= frequencies
        return Postings._sorted(packed)

    @staticmethod
    def _sorted(packed: NDArray[np.uint64]) -> "Postings":
        packed.sort()
        terms = (packed >> TERM_SHIFT).astype(np.uint32)
        first = np.flatnonzero(np.diff(terms, prepend=np.uint32(0xFFFFFFFF)))
        return Postings(
            terms[first],
            np.append(first, len(terms)),
            ((packed >> ROW_SHIFT) & ROW_MASK).astype(np.int32),
            (packed & FREQUENCY_MASK).astype(np.uint16),
        )

    def merged(self, other: "Postings") -> "Postings":
        """The union with the postings of other rows."""
        if not len(self.rows) or not len(other.rows):
            return self if len(self.rows) else other
        return Postings._sorted(np.concatenate([self._packed(), other._packed()]))

    def _packed(self) -> NDArray[np.uint64]:
        packed = np.repeat(self.terms.astype(np.uint64) << TERM_SHIFT, np.diff(self.starts))
        packed |= self.rows.astype(np.uint64) << ROW_SHIFT
        packed |= self.frequencies
        return packed

    def span(self, term: int) -> slice:
        """The slice with the postings of `term`; empty if there are none."""
        at = int(np.searchsorted(self.terms, term))
        if at == len(self.terms) or self.terms[at] != term:
            return slice(0, 0)
        return slice(int(self.starts[at]), int(self.starts[at + 1]))


EMPTY = Postings.of(np.empty(0, np.uint32), np.empty(0, np.int32), np.empty(0, np.uint16))


@dataclass(frozen=True, slots=True)
class Segments:
    """A large segment and a small one of later rows, so that adding a document costs as little as the small one."""

    main: Postings = EMPTY
    delta: Postings = EMPTY

    def plus(self, later: Postings) -> "Segments":
        """The segments with the postings of later rows added. The small one is merged when it exceeds an eighth of
        the large one."""
        delta = self.delta.merged(later)
        if len(delta.rows) * 8 > len(self.main.rows):
            return Segments(self.main.merged(delta))
        return Segments(self.main, delta)

    def rows(self, term: int) -> Rows:
        """The rows that contain `term`, ascending."""
        parts = [segment.rows[segment.span(term)] for segment in (self.main, self.delta)]
        return np.concatenate(parts)


def lucene_lengths(lengths: NDArray[np.int32]) -> NDArray[np.float32]:
    """Field lengths as Lucene's norms encode them: exact below 40, then four significant bits above 24."""
    above = np.maximum(lengths - 24, 0)
    shift = np.maximum(np.frexp(above.astype(np.float64))[1] - 4, 0)
    return np.where(lengths < 24, lengths, 24 + ((above >> shift) << shift)).astype(np.float32)


def norms(lengths: NDArray[np.int32], alive: NDArray[np.bool_], k1: float, b: float) -> NDArray[np.float32]:
    """BM25's k1 * (1 - b + b * length / mean length) per row; infinite for a dead row, so that its score is 0."""
    total, documents = int(lengths[alive].sum()), int(np.count_nonzero(alive))
    mean = np.float32(total / documents) if total else np.float32(1)
    result: NDArray[np.float32] = (k1 * (1 - b + b * lucene_lengths(lengths) / mean)).astype(np.float32)
    result[~alive] = np.inf
    return result


def bm25(segments: Segments, norms: NDArray[np.float32], documents: int, query: Iterable[tuple[int, float]]) -> Scores:
    """The BM25 score of every row for (term id, weight) pairs; 0 for a dead row and for one without any of the terms.

    Each posting adds weight * idf * tf / (tf + norm), as in Lucene since version 8. Document frequencies count live
    rows and `norms` follows the mean length, so scores equal those of a freshly built index.
    """
    spans = [
        (segment, segment.span(term), i, weight)
        for i, (term, weight) in enumerate(query)
        for segment in _both(segments)
    ]
    spans = [span for span in spans if span[1].stop > span[1].start]
    if not spans:
        return np.zeros(len(norms))
    rows = np.concatenate([segment.rows[where] for segment, where, _, _ in spans])
    impacts = np.concatenate([segment.frequencies[where] for segment, where, _, _ in spans]).astype(np.float32)
    norm = norms[rows]
    counts = np.array([where.stop - where.start for _, where, _, _ in spans])
    live = np.add.reduceat(np.isfinite(norm), np.cumsum(counts) - counts, dtype=np.int64)
    impacts /= impacts + norm
    impacts *= np.repeat(_term_weights(spans, live, documents), counts)
    scores = np.bincount(rows, impacts, minlength=len(norms))
    return scores.astype(np.float64, copy=False)


def _both(segments: Segments) -> Sequence[Postings]:
    return (segments.main, segments.delta) if len(segments.delta.rows) else (segments.main,)


def _term_weights(
    spans: Sequence[tuple[Postings, slice, int, float]], live: NDArray[np.int64], documents: int
) -> NDArray[np.float32]:
    """weight * idf of each span's term; a term may have a span in each segment."""
    frequency: dict[int, int] = {}
    for (_, _, term, _), count in zip(spans, live.tolist(), strict=True):
        frequency[term] = frequency.get(term, 0) + count
    df = np.array([frequency[term] for _, _, term, _ in spans], dtype=np.float64)
    weights = np.array([weight for _, _, _, weight in spans])
    result: NDArray[np.float32] = (weights * np.log1p((documents - df + 0.5) / (df + 0.5))).astype(np.float32)
    return result


def best(scores: NDArray[np.floating], pmids: NDArray[np.int64], depth: int) -> NDArray[np.intp]:
    """Positions of the `depth` best scores, best first; equal scores are ordered by PMID, highest first."""
    chosen = np.arange(len(scores))
    if len(scores) > depth:
        chosen = np.flatnonzero(scores >= np.partition(scores, len(scores) - depth)[len(scores) - depth])
    return chosen[np.lexsort((-pmids[chosen], -scores[chosen]))[:depth]]

"""Postings: term -> documents with frequencies."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.int32]
Scores = NDArray[np.float64]
Mask = NDArray[np.bool_]

TERM_SHIFT, ROW_SHIFT = np.uint64(38), np.uint64(12)  # a posting in 64 bits: 26 of term, 26 of row, 12 of frequency
BLOCK = 1 << 22  # postings moved at once
GATHERED = 1 << 24
LARGEST = 1 << 25  # a part with more postings is never merged in a patch: that would take seconds
ROW_MASK, MOST_FREQUENT = np.uint64((1 << 26) - 1), (1 << 12) - 1


def _packed(terms: NDArray[np.uint32], rows: Rows, frequencies: NDArray[np.uint16]) -> NDArray[np.uint64]:
    packed = terms.astype(np.uint64)
    packed <<= TERM_SHIFT - ROW_SHIFT
    packed |= rows.astype(np.uint64)
    packed <<= ROW_SHIFT
    packed |= np.minimum(frequencies, MOST_FREQUENT)
    return packed


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
        return Postings.sorted(_packed(terms, rows, frequencies))

    @staticmethod
    def sorted(packed: NDArray[np.uint64]) -> "Postings":
        """Build postings from numbers that have one each. They are sorted in place."""
        packed.sort()
        terms = (packed >> TERM_SHIFT).astype(np.uint32)
        first = np.flatnonzero(np.diff(terms, prepend=np.uint32(0xFFFFFFFF)))
        return Postings(
            terms[first],
            np.append(first, len(terms)),
            ((packed >> ROW_SHIFT) & ROW_MASK).astype(np.int32),
            (packed & MOST_FREQUENT).astype(np.uint16),
        )

    @staticmethod
    def merged(parts: "Sequence[Postings]") -> "Postings":
        """The union of postings of different rows, those of later rows later. Nothing is sorted: the memory is that of
        the result, and some for a block of it."""
        terms = np.unique(np.concatenate([part.terms for part in parts]))
        places = [np.searchsorted(terms, part.terms) for part in parts]
        starts = np.zeros(len(terms) + 1, np.int64)
        for part, place in zip(parts, places, strict=True):
            starts[place + 1] += np.diff(part.starts)
        starts = np.cumsum(starts)
        rows, frequencies = np.empty(starts[-1], np.int32), np.empty(starts[-1], np.uint16)
        into = starts[:-1].copy()
        for part, place in zip(parts, places, strict=True):
            counts = np.diff(part.starts)
            for first, last in _blocks(part.starts):
                source = slice(int(part.starts[first]), int(part.starts[last]))
                move = np.repeat((into[place] - part.starts[:-1])[first:last], counts[first:last])
                move += np.arange(source.start, source.stop)
                rows[move], frequencies[move] = part.rows[source], part.frequencies[source]
            into[place] += counts
        return Postings(terms, starts, rows, frequencies)

    def span(self, term: int) -> slice:
        """The slice with the postings of `term`; empty if there are none."""
        at = int(np.searchsorted(self.terms, np.uint32(term)))  # another type would convert all terms
        if at == len(self.terms) or self.terms[at] != term:
            return slice(0, 0)
        return slice(int(self.starts[at]), int(self.starts[at + 1]))


def _blocks(starts: NDArray[np.int64]) -> Iterator[tuple[int, int]]:
    """Yield ranges of terms that have some `BLOCK` postings together."""
    first, terms = 0, len(starts) - 1
    while first < terms:
        last = max(first + 1, int(np.searchsorted(starts, starts[first] + BLOCK)))
        yield first, min(last, terms)
        first = min(last, terms)


EMPTY = Postings.of(np.empty(0, np.uint32), np.empty(0, np.int32), np.empty(0, np.uint16))


class GatheredPostings:
    """Gathers the postings of ascending rows batch by batch, and sorts some `at_once`: all of a large corpus at once
    would take twice the memory."""

    def __init__(self, at_once: int = GATHERED) -> None:
        self._at_once = at_once
        self._parts: list[Postings] = [EMPTY]
        self._batches: list[NDArray[np.uint64]] = []
        self._gathered = 0

    def add(self, terms: NDArray[np.uint32], rows: Rows, frequencies: NDArray[np.uint16]) -> None:
        """Add postings, as three parallel arrays in any order."""
        self._batches.append(_packed(terms, rows, frequencies))
        self._gathered += len(terms)
        if self._gathered > self._at_once:
            self._sort()

    def postings(self) -> Postings:
        """All of them."""
        self._sort()
        return Postings.merged(self._parts)

    def _sort(self) -> None:
        if self._batches:
            self._parts.append(Postings.sorted(np.concatenate(self._batches)))
        self._batches, self._gathered = [], 0


@dataclass(frozen=True, slots=True)
class Segments:
    """Postings in parts, each of later rows than the one before and, as a rule, an eighth of its size or less: adding a
    document costs as little as the last part."""

    parts: tuple[Postings, ...] = ()

    def plus(self, later: Postings) -> "Segments":
        """The segments with the postings of later rows added."""
        parts = [*self.parts, later] if len(later.rows) else [*self.parts]
        while len(parts) > 1 and len(parts[-1].rows) * 8 > len(parts[-2].rows) and len(parts[-2].rows) <= LARGEST:
            parts[-2:] = [Postings.merged(parts[-2:])]
        return Segments(tuple(parts))

    @property
    def whole(self) -> Postings:
        """All postings, as one part."""
        return self.parts[0] if len(self.parts) == 1 else Postings.merged([EMPTY, *self.parts])

    def spans(self, term: int) -> list[tuple[Rows, NDArray[np.uint16]]]:
        """The rows that contain `term`, ascending, with its frequencies, in the parts that have it."""
        found = ((part, part.span(term)) for part in self.parts)
        return [(part.rows[span], part.frequencies[span]) for part, span in found if span.stop > span.start]

    def rows(self, term: int) -> Rows:
        """The rows that contain `term`, ascending."""
        return np.concatenate([np.empty(0, np.int32), *(rows for rows, _ in self.spans(term))])


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


def best(scores: NDArray[np.floating], pmids: NDArray[np.int64], depth: int) -> NDArray[np.intp]:
    """Positions of the `depth` best scores, best first; equal scores are ordered by PMID, highest first."""
    chosen = np.arange(len(scores))
    if len(scores) > depth:
        chosen = np.flatnonzero(scores >= np.partition(scores, len(scores) - depth)[len(scores) - depth])
    return chosen[np.lexsort((-pmids[chosen], -scores[chosen]))[:depth]]

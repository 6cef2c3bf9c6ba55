"""The best documents by BM25: exact, without scoring what cannot be among them.

Words are added in the order of how much each may add. Once the words that are left add less than the score of the
last hit, only documents that have one of the others can be hits ("MaxScore"): words as frequent as "patients" are
looked up for some thousand documents instead of being scored for a third of the corpus. What the last hit scores at
least is known early: the best documents of a rare word have their whole scores looked up.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from operator import attrgetter

import numpy as np
from numpy.typing import NDArray

from bio_mcp.retrieval.ranking import BM25_B, BM25_K1

Rows = NDArray[np.int32]
Scores = NDArray[np.float64]
Mask = NDArray[np.bool_]

TERM_SHIFT, ROW_SHIFT = np.uint64(38), np.uint64(12)  # a posting in 64 bits: 26 of term, 26 of row, 12 of frequency
BLOCK = 1 << 22  # postings moved at once
GATHERED = 1 << 24
LARGEST = 1 << 25  # a part with more postings is never merged in a patch: that would take seconds
ROW_MASK, MOST_FREQUENT = np.uint64((1 << 26) - 1), (1 << 12) - 1


def packed(terms: NDArray[np.uint32], rows: Rows, frequencies: NDArray[np.uint16]) -> NDArray[np.uint64]:
    """Postings, which are three parallel arrays in any order, as a number each."""
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


def _blocks(starts: NDArray[np.int64]) -> Iterator[tuple[int, int]]:
    """Yield ranges of terms that have some `BLOCK` postings together."""
    first, terms = 0, len(starts) - 1
    while first < terms:
        last = max(first + 1, int(np.searchsorted(starts, starts[first] + BLOCK)))
        yield first, min(last, terms)
        first = min(last, terms)


EMPTY = Postings.sorted(np.empty(0, np.uint64))


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
        self._batches.append(packed(terms, rows, frequencies))
        self._gathered += len(terms)
        if self._gathered > self._at_once:
            self._sort()

    def postings(self) -> Postings:
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
        return self.parts[0] if len(self.parts) == 1 else Postings.merged([EMPTY, *self.parts])

    def spans(self, term: int) -> list[tuple[Rows, NDArray[np.uint16]]]:
        """The rows that contain `term`, ascending, with its frequencies, in the parts that have it."""
        found = []
        for part in self.parts:
            at = int(np.searchsorted(part.terms, np.uint32(term)))  # another type would convert all terms
            if at < len(part.terms) and part.terms[at] == term:
                span = slice(int(part.starts[at]), int(part.starts[at + 1]))
                found.append((part.rows[span], part.frequencies[span]))
        return found


def lucene_lengths(lengths: NDArray[np.int32]) -> NDArray[np.float32]:
    """Field lengths as Lucene's norms encode them: exact below 40, then four significant bits above 24."""
    above = np.maximum(lengths - 24, 0)
    shift = np.maximum(np.frexp(above.astype(np.float64))[1] - 4, 0)
    return np.where(lengths < 24, lengths, 24 + ((above >> shift) << shift)).astype(np.float32)


def norms(lengths: NDArray[np.int32], alive: NDArray[np.bool_]) -> NDArray[np.float32]:
    """BM25's k1 * (1 - b + b * length / mean length) per row; infinite for a dead row, so that its score is 0."""
    total, documents = int(lengths[alive].sum()), int(np.count_nonzero(alive))
    mean = np.float32(total / documents) if total else np.float32(1)
    relative = 1 - BM25_B + BM25_B * lucene_lengths(lengths) / mean
    result: NDArray[np.float32] = (BM25_K1 * relative).astype(np.float32)
    result[~alive] = np.inf
    return result


def best(scores: NDArray[np.floating | np.signedinteger], order: NDArray[np.int64], depth: int) -> NDArray[np.intp]:
    """Positions of the `depth` best scores, best first; of equal ones those that are highest in `order`."""
    chosen = np.arange(len(scores))
    if len(scores) > depth:
        chosen = np.flatnonzero(scores >= np.partition(scores, len(scores) - depth)[len(scores) - depth])
    return chosen[np.lexsort((-order[chosen], -scores[chosen]))[:depth]]


LOOK_UP = 8  # postings that are added in the time of looking one document up
FREQUENT = 32  # of a word of one document in so many it is asked whether it must be added
LESS = 2.5  # the score of the last hit is estimated whenever the words that are left add so many times less ...
TELLING, ASKED = 65_536, 2  # ... by the best documents of the last words that have at most so many
SAMPLED = 64  # one row in so many tells about how many rows have a score

Norms = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Word:
    """A word of the query: its rows and frequencies in each part, its weight times idf, and the most that it adds."""

    spans: list[tuple[Rows, NDArray[np.uint16]]]
    weight: np.float32
    bound: float
    postings: int

    def add(self, scores: Scores, norms: Norms) -> None:
        """Add what it adds to the score of each row."""
        for rows, frequencies in self.spans:
            at = rows.astype(np.intp)
            np.add.at(scores, at, self._impacts(frequencies, norms[at]).astype(np.float64))

    def look_up(self, scores: Scores, among: Rows, norms: Norms) -> None:
        """Add what it adds to the scores of the rows `among`, which ascend."""
        for rows, frequencies in self.spans:
            at = np.minimum(np.searchsorted(rows, among), len(rows) - 1)
            found = np.flatnonzero(rows[at] == among)
            scores[found] += self._impacts(frequencies[at[found]], norms[among[found]])

    def best(self, scores: Scores, passing: Mask | None, depth: int) -> Rows:
        """The `depth` documents of its own that score highest; fewer if it has fewer."""
        rows = np.concatenate([rows for rows, _ in self.spans])
        rows = rows if passing is None else rows[passing[rows]]
        own = scores[rows]
        return rows[np.argpartition(own, len(own) - depth)[len(own) - depth :]] if len(own) > depth else rows

    def _impacts(self, frequencies: NDArray[np.uint16], norms: Norms) -> NDArray[np.float32]:
        impacts = frequencies.astype(np.float32)
        impacts /= impacts + norms
        impacts *= self.weight
        return impacts


@dataclass(frozen=True, slots=True)
class Texts:
    """What the words of a corpus are scored with: its postings, the norm of each row (infinite for a dead one), and the
    dead rows, ascending."""

    segments: Segments
    norms: Norms
    dead: Rows

    def word(self, term: int, weight: float) -> Word | None:
        """A word of a query; None where no live row has it."""
        spans = self.segments.spans(term)
        postings = sum(len(rows) for rows, _ in spans)
        live = postings
        for rows, _ in spans:  # which ascend
            if len(self.dead) * LOOK_UP > len(rows):
                dead = np.isinf(self.norms[rows])
            else:
                dead = rows[np.minimum(np.searchsorted(rows, self.dead), len(rows) - 1)] == self.dead
            live -= int(np.count_nonzero(dead))
        if not live:
            return None
        scaled = np.float32(weight * np.log1p((len(self.norms) - len(self.dead) - live + 0.5) / (live + 0.5)))
        return Word(spans, scaled, float(scaled), postings)


def best_by_bm25(
    texts: Texts, query: Iterable[tuple[int, float]], among: Rows | None, order: NDArray[np.int64], depth: int
) -> tuple[Rows, Scores]:
    """The `depth` best rows, of `among` if that is given, and their scores, best first; equal ones by `order`, highest
    first. A row with score 0 is never included, nor a dead one.

    `query` has (term id, weight) pairs. Each posting adds weight * idf * tf / (tf + norm), as in Lucene since version
    8. Document frequencies count live rows and norms follow the mean length, so scores equal those of a freshly built
    index.
    """
    words = sorted((word for each in query if (word := texts.word(*each))), key=attrgetter("bound"), reverse=True)
    if not words:
        return np.empty(0, np.int32), np.empty(0)
    left = [sum(word.bound for word in words[place:]) for place in range(len(words) + 1)]
    rows, scores, done, last = _added(words, left, texts.norms, among, depth)
    for place in range(done, len(words)):
        words[place].look_up(scores, rows, texts.norms)
        last = max(last, _last(scores, depth))
        hopeful = scores + left[place + 1] >= last
        rows, scores = rows[hopeful], scores[hopeful]
    found = scores > 0
    rows, scores = rows[found], scores[found]
    chosen = best(scores, order[rows], depth)
    return rows[chosen], scores[chosen]


def _added(
    words: list[Word], left: list[float], norms: Norms, among: Rows | None, depth: int
) -> tuple[Rows, Scores, int, float]:
    """The rows that may be hits, ascending, their scores by the first words, how many words those are, and a score that
    the last hit has at least."""
    if among is not None and len(among) * len(words) * LOOK_UP < sum(word.postings for word in words):
        return among, np.zeros(len(among)), 0, 0.0
    passing, scores = None, np.zeros(len(norms))
    if among is not None:
        passing = np.zeros(len(norms), np.bool_)
        passing[among] = True
    last, estimated = 0.0, left[0]
    for place, word in enumerate(words):
        if word.postings * FREQUENT > len(norms):
            if left[place] < estimated / LESS:
                last = max(last, _estimate(words[:place], words[place:], scores, passing, norms, depth))
                estimated = left[place]
            if last > left[place] and _about(scores, last - left[place], passing) * LOOK_UP < word.postings:
                rows = _reaching(scores, last - left[place], passing)
                return rows, scores[rows], place, last
        word.add(scores, norms)
    last = max(last, _estimate(words, [], scores, passing, norms, depth))
    rows = _reaching(scores, last, passing)
    return rows, scores[rows], len(words), last


def _estimate(
    added: list[Word], others: list[Word], scores: Scores, passing: Mask | None, norms: Norms, depth: int
) -> float:
    """A score that the last hit has at least: the whole scores of the best documents of some rare words tell."""
    telling = [word for word in added if depth <= word.postings <= TELLING][-ASKED:]
    rows = np.unique(np.concatenate([np.empty(0, np.int32), *(word.best(scores, passing, depth) for word in telling)]))
    own = scores[rows]
    for word in others:
        word.look_up(own, rows, norms)
    return _last(own, depth)


def _about(scores: Scores, least: float, passing: Mask | None) -> int:
    """About how many rows have at least this score, by one in `SAMPLED` of them."""
    found = scores[::SAMPLED] >= least
    if passing is not None:
        found &= passing[::SAMPLED]
    return SAMPLED * int(np.count_nonzero(found))


def _reaching(scores: Scores, least: float, passing: Mask | None) -> Rows:
    """The rows that have at least this score, and more than 0, ascending."""
    mask = scores >= max(least, np.finfo(np.float64).tiny)
    if passing is not None:
        mask &= passing
    return np.flatnonzero(mask).astype(np.int32)


def _last(scores: Scores, depth: int) -> float:
    """The score that the last of `depth` hits has at least; 0 if there are fewer."""
    return float(np.partition(scores, len(scores) - depth)[len(scores) - depth]) if len(scores) >= depth else 0.0

"""The best documents by BM25: exact, without scoring what cannot be among them.

Words are added in the order of how much each may add. Once the words that are left add less than the score of the
last hit, only documents that have one of the others can be hits ("MaxScore"): words as frequent as "patients" are
looked up for some thousand documents instead of being scored for a third of the corpus. What the last hit scores at
least is known early: the best documents of a rare word have their whole scores looked up.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bio_mcp.adapters.embedded.postings import Mask, Rows, Scores, Segments, best

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

    def words(self, query: Iterable[tuple[int, float]]) -> list[Word]:
        """The words of a query that live rows have, those that may add most first."""
        return sorted(filter(None, (self._word(*each) for each in query)), key=lambda word: -word.bound)

    def _word(self, term: int, weight: float) -> Word | None:
        spans = self.segments.spans(term)
        postings = sum(len(rows) for rows, _ in spans)
        live = postings - sum(self._dead_in(rows) for rows, _ in spans)
        if not live:
            return None
        scaled = np.float32(weight * np.log1p((len(self.norms) - len(self.dead) - live + 0.5) / (live + 0.5)))
        return Word(spans, scaled, float(scaled), postings)

    def _dead_in(self, rows: Rows) -> int:
        """How many of `rows`, which ascend, are dead."""
        if len(self.dead) * LOOK_UP > len(rows):
            return int(np.count_nonzero(np.isinf(self.norms[rows])))
        return int(np.count_nonzero(rows[np.minimum(np.searchsorted(rows, self.dead), len(rows) - 1)] == self.dead))


def best_by_bm25(
    texts: Texts, query: Iterable[tuple[int, float]], among: Rows | None, order: NDArray[np.int64], depth: int
) -> tuple[Rows, Scores]:
    """The `depth` best rows, of `among` if that is given, and their scores, best first; equal ones by `order`, highest
    first. A row with score 0 is never included, nor a dead one.

    `query` has (term id, weight) pairs. Each posting adds weight * idf * tf / (tf + norm), as in Lucene since version
    8. Document frequencies count live rows and norms follow the mean length, so scores equal those of a freshly built
    index.
    """
    words = texts.words(query)
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
    passing, scores = _mask(among, len(norms)), np.zeros(len(norms))
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


def _mask(among: Rows | None, rows: int) -> Mask | None:
    if among is None:
        return None
    mask = np.zeros(rows, np.bool_)
    mask[among] = True
    return mask


def _last(scores: Scores, depth: int) -> float:
    """The score that the last of `depth` hits has at least; 0 if there are fewer."""
    return float(np.partition(scores, len(scores) - depth)[len(scores) - depth]) if len(scores) >= depth else 0.0

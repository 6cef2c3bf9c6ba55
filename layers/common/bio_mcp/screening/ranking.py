"""Which undecided paper to look at next: by what is known of those that were decided."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from bio_mcp.ports.screening import ReviewRecord
from bio_mcp.retrieval.spelling import QUERY_STOP_WORDS
from bio_mcp.screening.features import Floats, Linear, Vocabulary
from bio_mcp.screening.learning import balanced, fit

RATIO = 9.8  # included papers together weigh so much more than excluded ones, as in ASReview's ELAS u4
STRENGTH = 1.0  # of the logistic loss against the length of the weights
VECTOR_LENGTH = 0.5  # of a paper's vector, where its words have 1
REASONS = 5  # words of a paper that speak for it, at most
DIGITS = 9  # of a score that decide an order

Method = Literal["learned", "similar", "unordered"]


@dataclass(frozen=True, slots=True)
class Ranked:
    """A paper, with a score that compares within one ranking, and the words that speak for it, the strongest first."""

    record: ReviewRecord
    score: float | None
    why: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Ranking:
    """The first of the undecided papers.

    `method` learned: from included and excluded ones; similar: to the ones that were decided alike, or to criteria;
    unordered: nothing is known, and the newest come first.
    """

    method: Method
    papers: tuple[Ranked, ...]


def rank(
    records: Sequence[ReviewRecord],
    taught: Mapping[str, bool],
    open_: Collection[str],
    *,
    most: int,
    last: frozenset[str] = frozenset(),
    criteria: str = "",
    vectors: Mapping[str, NDArray[np.float32]] | None = None,
) -> Ranking:
    """Rank the records in `open_`, by `taught`, where True is included; those in `last` come after all others.

    `criteria` count as the text of an included paper. `vectors` are unit vectors by record id, all of one length, of
    papers that have one.
    """
    asked = [at for at, each in enumerate(records) if each.record_id in open_]
    learner = _Learner(records, taught, criteria, vectors or {})
    scores = learner.scores
    if scores is None:
        newest = sorted(asked, key=lambda at: _newest_first(records[at]))[:most]
        return Ranking("unordered", tuple(Ranked(records[at], None, ()) for at in newest))
    rounded = np.round(scores, DIGITS)
    order = sorted(asked, key=lambda at: (records[at].record_id in last, -rounded[at], _newest_first(records[at])))
    return Ranking(learner.method, tuple(learner.ranked(at) for at in order[:most]))


def text_of(record: ReviewRecord) -> str:
    """The text that is learned from."""
    return f"{record.title} {record.abstract}"


def _newest_first(record: ReviewRecord) -> tuple[int, str]:
    number = int(record.record_id) if record.record_id.isascii() and record.record_id.isdecimal() else 0
    return -number, record.record_id


class _Learner:
    """Scores of all records, from those that were decided; None where there are none and no criteria."""

    def __init__(
        self,
        records: Sequence[ReviewRecord],
        taught: Mapping[str, bool],
        criteria: str,
        vectors: Mapping[str, NDArray[np.float32]],
    ) -> None:
        self._records = records
        self.method: Method = "unordered"
        self.scores: Floats | None = None
        labelled = {at: taught[each.record_id] for at, each in enumerate(records) if each.record_id in taught}
        if criteria:
            labelled[len(records)] = True
        if labelled:
            texts = [text_of(each) for each in records] + [criteria] * bool(criteria)
            self._learn(texts, labelled, _matrix(records, vectors, len(texts)))

    def _learn(self, texts: Sequence[str], labelled: Mapping[int, bool], vectors: Floats) -> None:
        self._vocabulary = Vocabulary(texts)
        rows = self._vocabulary.rows
        order = sorted(labelled)
        included = np.array([labelled[at] for at in order], dtype=float)
        teaching = Linear(rows.take(order), vectors[order])
        if 0 < included.sum() < len(included):
            self.method = "learned"
            self._weights = fit(teaching, included, balanced(included, RATIO), STRENGTH)
        else:
            self.method = "similar"
            self._weights = teaching.transposed_times((2 * included - 1) / len(included))
        self.scores = Linear(rows, vectors).times(self._weights)

    def ranked(self, at: int) -> Ranked:
        """The record as it is shown; scores of the learned are between 0 and 1."""
        margin = float(self.scores[at]) if self.scores is not None else 0.0
        score = 1 / (1 + np.exp(-margin)) if self.method == "learned" else margin
        return Ranked(self._records[at], round(float(score), 4), self._why(at))

    def _why(self, at: int) -> tuple[str, ...]:
        rows = self._vocabulary.rows
        place = slice(rows.starts[at], rows.starts[at + 1])
        columns = rows.columns[place]
        speaks = np.round(rows.values[place] * self._weights[columns], DIGITS)
        best = np.lexsort((columns, -speaks))
        return _distinct(
            [self._vocabulary.term(int(columns[each])) for each in best[: 8 * REASONS] if speaks[each] > 0]
        )


def _distinct(terms: Sequence[str]) -> tuple[str, ...]:
    """The first terms that have a word which none before has, stop words aside."""
    chosen: list[str] = []
    seen = set(QUERY_STOP_WORDS)
    for term in terms:
        if not seen.issuperset(term.split()):
            chosen.append(term)
            seen.update(term.split())
    return tuple(chosen[:REASONS])


def _matrix(records: Sequence[ReviewRecord], vectors: Mapping[str, NDArray[np.float32]], rows: int) -> Floats:
    """The vectors of the records, of length `VECTOR_LENGTH`, zero where there is none; shape (rows, dim)."""
    dim = len(next(iter(vectors.values()), ()))
    matrix = np.zeros((rows, dim))
    for at, each in enumerate(records):
        if each.record_id in vectors:
            matrix[at] = VECTOR_LENGTH * vectors[each.record_id]
    return matrix

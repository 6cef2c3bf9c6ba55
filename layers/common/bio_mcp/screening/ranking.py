"""Which record of a review to read next, and when to stop: features, vectors, and a model fitted in each call."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from bio_mcp.errors import IndexUnavailable
from bio_mcp.literature.identifiers import is_pmid
from bio_mcp.ports import Backends
from bio_mcp.ports.stores import ReviewRecord
from bio_mcp.retrieval.analysis import QUERY_STOP_WORDS

MOST = 5_000  # papers whose vectors are read for a ranking; beyond, words alone tell


def vectors_of(records: Sequence[ReviewRecord], backends: Backends) -> tuple[dict[str, NDArray[np.float32]], list[str]]:
    """Return the vectors of the papers that the index has, and a warning where it cannot be read."""
    pmids = [each.record_id for each in records if is_pmid(each.record_id)]
    if len(pmids) > MOST:
        return {}, []
    try:
        return backends.passages.document_vectors(pmids), []
    except IndexUnavailable as failure:
        return {}, [f"The papers are ranked by their words alone, as the index cannot be read: {failure}"]


CHARACTERS = 20_000  # of a text that are read
_WORD = re.compile(r"\w\w+")
_STRIDE = 1 << 31  # above the number of any word; a pair of words is first * _STRIDE + second

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Rows:
    """A matrix, sparse in its first `width` columns: there row i has `values` in `columns`, from `starts[i]` to
    `starts[i + 1]`. Behind them it has its row of `vectors`, of shape (rows, dim); dim may be 0."""

    starts: Ints
    columns: Ints
    values: Floats
    width: int
    vectors: Floats

    def __len__(self) -> int:
        return len(self.starts) - 1

    @cached_property
    def owners(self) -> Ints:
        return np.repeat(np.arange(len(self)), np.diff(self.starts))

    def take(self, rows: Sequence[int]) -> "Rows":
        chosen = np.asarray(rows, dtype=np.int64)
        lengths = np.diff(self.starts)[chosen]
        starts = np.concatenate([[0], np.cumsum(lengths)])
        at = np.arange(starts[-1]) + np.repeat(self.starts[chosen] - starts[:-1], lengths)
        return Rows(starts, self.columns[at], self.values[at], self.width, self.vectors[chosen])

    def times(self, weights: Floats) -> Floats:
        """Each row's product with the weights, one a column."""
        words = np.bincount(self.owners, weights[self.columns] * self.values, minlength=len(self))
        return np.asarray(words + self.vectors @ weights[self.width :])

    def transposed_times(self, residuals: Floats) -> Floats:
        """The sum of the rows, each times its residual."""
        words = np.bincount(self.columns, self.values * residuals[self.owners], minlength=self.width)
        return np.concatenate([words, residuals @ self.vectors])


class Vocabulary:
    """The words and pairs of words of some texts, and the texts as `rows` of length 1, or 0 without a word.

    A word or pair of one text alone is left out: no other text could be found by it. A count c weighs 1 + ln c, and a
    term of n of N texts ln((1 + N) / (1 + n)) + 1.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        self._numbers: dict[str, int] = {}
        owners, terms, counts = self._counted(texts)
        self._words = list(self._numbers)
        found, columns, texts_with = np.unique(terms, return_inverse=True, return_counts=True)
        shared = texts_with > 1
        self._terms = found[shared]
        renumbered = np.cumsum(shared) - 1
        held = shared[columns]
        idf = np.log((1 + len(texts)) / (1 + texts_with[shared])) + 1
        columns, owners = renumbered[columns[held]], owners[held]
        values = (1 + np.log(counts[held])) * idf[columns]
        starts = np.concatenate([[0], np.cumsum(np.bincount(owners, minlength=len(texts)))])
        lengths = np.sqrt(np.bincount(owners, values**2, minlength=len(texts)))
        self.rows = Rows(starts, columns, values / lengths[owners], len(self._terms), np.zeros((len(texts), 0)))

    def term(self, column: int) -> str:
        """The word or pair of words of a column."""
        first, second = divmod(int(self._terms[column]), _STRIDE)
        return f"{self._words[first - 1]} {self._words[second]}" if first else self._words[second]

    def _counted(self, texts: Sequence[str]) -> tuple[Ints, Ints, Floats]:
        """Text, term and count of each term of each text, by text and term."""
        pieces = [self._terms_of(text) for text in texts]
        lengths = [len(each) for each in pieces]
        owners = np.repeat(np.arange(len(texts)), lengths)
        terms = np.concatenate(pieces) if pieces else np.zeros(0, np.int64)
        order = np.lexsort((terms, owners))
        owners, terms = owners[order], terms[order]
        new = np.ones(len(terms), dtype=bool)
        new[1:] = (owners[1:] != owners[:-1]) | (terms[1:] != terms[:-1])
        at = np.flatnonzero(new)
        counts = np.diff(np.concatenate([at, [len(terms)]])).astype(float)
        return owners[at], terms[at], counts

    def _terms_of(self, text: str) -> Ints:
        """The words of a text by number, then its pairs of words that follow each other."""
        numbers = self._numbers
        found = [numbers.setdefault(word, len(numbers)) for word in _WORD.findall(text[:CHARACTERS].lower())]
        words = np.array(found, dtype=np.int64)
        return np.concatenate([words, (words[:-1] + 1) * _STRIDE + words[1:]])


STEPS = 30  # of Newton's method, at most
INNER = 60  # conjugate gradients in a step, at most
TOLERANCE = 1e-3  # of the gradient's length, against that of the first


def balanced(included: Floats, ratio: float) -> Floats:
    """What each labelled row weighs: all excluded ones together 1 / `ratio` of what all included ones do.

    The weights sum to the number of rows. `included` has 1 for an included row and 0 for an excluded one, both at least
    once.
    """
    positive = included.sum()
    weights = np.where(included > 0, 1.0, positive / (ratio * (len(included) - positive)))
    return np.asarray(weights * (len(included) / weights.sum()))


def fit(rows: Rows, included: Floats, sample_weights: Floats, strength: float) -> Floats:
    """The weights that minimise |w|^2 / 2 + `strength` * the weighted logistic loss; without an intercept."""
    signs = 2 * included - 1
    weights = np.zeros(rows.width + rows.vectors.shape[1])
    scale = np.linalg.norm(strength * rows.transposed_times(sample_weights * signs) / 2)
    margins = rows.times(weights)
    for _ in range(STEPS):
        wrong = 1 / (1 + np.exp(np.clip(signs * margins, -500, 500)))  # the probability of the other label
        gradient = weights - strength * rows.transposed_times(sample_weights * signs * wrong)
        if np.linalg.norm(gradient) <= TOLERANCE * scale:
            break
        curvature = strength * sample_weights * wrong * (1 - wrong)
        step, moved = _newton_step(rows, curvature, gradient)
        share = _share(weights, margins, step, moved, signs, strength * sample_weights)
        weights, margins = weights + share * step, margins + share * moved
    return weights


def _newton_step(rows: Rows, curvature: Floats, gradient: Floats) -> tuple[Floats, Floats]:
    """The step s with (I + X'CX) s = -gradient, nearly, and what it adds to each margin."""
    step, residual = np.zeros_like(gradient), -gradient
    direction, moved = residual.copy(), np.zeros(len(rows))
    square = first = float(residual @ residual)
    for _ in range(INNER):
        along = rows.times(direction)
        bent = direction + rows.transposed_times(curvature * along)
        length = square / float(direction @ bent)
        step, moved, residual = step + length * direction, moved + length * along, residual - length * bent
        new = float(residual @ residual)
        if new <= 1e-4 * first:
            break
        direction = residual + (new / square) * direction
        square = new
    return step, moved


def _share(weights: Floats, margins: Floats, step: Floats, moved: Floats, signs: Floats, costs: Floats) -> float:
    """The largest of 1, 1/2, 1/4 ... of the step that lowers the loss."""

    def loss(share: float) -> float:
        at = weights + share * step
        return float(at @ at) / 2 + float(costs @ np.logaddexp(0, -signs * (margins + share * moved)))

    now, share = loss(0), 1.0
    while loss(share) > now and share > 1e-6:
        share /= 2
    return share


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
    """The first of the undecided papers; `left_out` counts the others.

    `method` learned: from included and excluded ones; similar: to the ones that were decided alike, or to criteria;
    unordered: nothing is known, and the newest come first.
    """

    method: Method
    papers: tuple[Ranked, ...]
    left_out: int = 0
    warnings: tuple[str, ...] = ()


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
    ids = [each.record_id for each in records]
    asked = [at for at, each in enumerate(ids) if each in open_]
    asked.sort(key=lambda at: (-int(ids[at]) if is_pmid(ids[at]) else 0, ids[at]))  # the newest first
    labelled = {at: taught[each] for at, each in enumerate(ids) if each in taught}
    if criteria:
        labelled[len(records)] = True
    if not labelled:
        newest = tuple(Ranked(records[at], None, ()) for at in asked[:most])
        return Ranking("unordered", newest, len(asked) - len(newest))
    texts = [f"{each.title} {each.abstract}" for each in records] + [criteria] * bool(criteria)
    learner = _Learner(texts, labelled, _matrix(records, vectors or {}, len(texts)))
    rounded = np.round(learner.scores, DIGITS)
    order = sorted(asked, key=lambda at: (ids[at] in last, -rounded[at]))
    papers = tuple(Ranked(records[at], round(learner.shown(at), 4), learner.why(at)) for at in order[:most])
    return Ranking(learner.method, papers, len(asked) - len(papers))


class _Learner:
    """Scores of all texts, from those that were decided."""

    def __init__(self, texts: Sequence[str], labelled: Mapping[int, bool], vectors: Floats) -> None:
        self._vocabulary = Vocabulary(texts)
        rows = replace(self._vocabulary.rows, vectors=vectors)
        order = sorted(labelled)
        included = np.array([labelled[at] for at in order], dtype=float)
        teaching = rows.take(order)
        self.method: Method = "learned" if 0 < included.sum() < len(included) else "similar"
        if self.method == "learned":
            self._weights = fit(teaching, included, balanced(included, RATIO), STRENGTH)
        else:
            self._weights = teaching.transposed_times((2 * included - 1) / len(included))
        self.scores = rows.times(self._weights)

    def shown(self, at: int) -> float:
        """The score of a text; those of the learned are between 0 and 1."""
        margin = float(self.scores[at])
        return float(1 / (1 + np.exp(-margin))) if self.method == "learned" else margin

    def why(self, at: int) -> tuple[str, ...]:
        """The words that speak for a text, the strongest first."""
        rows = self._vocabulary.rows
        place = slice(rows.starts[at], rows.starts[at + 1])
        columns = rows.columns[place]
        speaks = np.round(rows.values[place] * self._weights[columns], DIGITS)
        best = np.lexsort((columns, -speaks))
        # The first terms that have a word which none before has, stop words aside.
        terms = [self._vocabulary.term(int(columns[each])) for each in best[: 8 * REASONS] if speaks[each] > 0]
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


TARGET = 0.95  # of all relevant papers
RISK = 0.05  # of being wrong
ASSUMES = (
    "that the papers decided last were no less likely to be relevant than those left, as in the order of this ranking"
)
RUNS = 100  # moments from which a draw is counted, the last ones


@dataclass(frozen=True, slots=True)
class Stopping:
    """How many papers may still be missed, from the run of those that were looked at last.

    What was looked at since some moment is taken for a random draw from what was left then. In the order of a ranking
    the draw is better than random, so that fewer are left than it suggests; in the order of an alphabet it may be
    worse, and then the estimate is wrong (after Callaghan and Müller-Hansen, Systematic Reviews 2020; 9: 273).

    `missed_at_most` relevant papers are left, with the confidence 1 - `RISK`.

    `recall_at_least` is the share of the relevant ones that was found, 0 to 1, None where none was found. `p_value` is
    the probability to have found so few since, were less than `TARGET` of all found. `may_stop`: at least `TARGET` was
    found, with that confidence.
    """

    missed_at_most: int
    recall_at_least: float | None
    p_value: float
    may_stop: bool
    assumes: str = ASSUMES

    @property
    def in_words(self) -> str:
        """What was found and may be missed, as a sentence, with what this assumes."""
        if self.recall_at_least is None:
            return "When to stop can be said once a relevant paper is included."
        return (
            f"At least {int(100 * self.recall_at_least)} % of the relevant papers are found, and at most "
            f"{self.missed_at_most:,} missed, with 95 % confidence. This assumes {self.assumes}. It says nothing of "
            "papers that no search found."
        )

    def as_json(self) -> dict[str, Any]:
        return {**asdict(self), "in_words": self.in_words}


def estimate(decisions: Sequence[bool], left: int) -> Stopping:
    """Estimate from the decisions in the order in which they were made, True for relevant, and the papers left."""
    # The draws that end now: one since the beginning, and one since each of the last relevant papers.
    begun = np.concatenate([[0], np.flatnonzero(np.asarray(decisions, dtype=bool)) + 1])[-RUNS:]
    drawn, relevant_in = len(decisions) - begun, np.arange(len(begun))[::-1]
    log_factorials = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, len(decisions) + left + 1)))])

    def ways(of: int, chosen: Ints | int) -> Floats:
        """ln C(of, chosen)."""
        return np.asarray(log_factorials[of] - log_factorials[chosen] - log_factorials[of - chosen])

    def probability(missed: int) -> float:
        """Of the least likely draw to have found so few, with `missed` relevant papers left."""
        least = 1.0
        for here, size in zip(relevant_in, drawn, strict=True):
            # P(X <= here) of the hypergeometric distribution
            relevant, urn = here + missed, size + left
            x = np.arange(max(0, size - (urn - relevant)), here + 1)
            logs = ways(relevant, x) + ways(urn - relevant, size - x) - ways(urn, size)
            least = min(least, float(np.exp(logs).sum()))
        return least

    # The most relevant papers that may be left; more would be too improbable.
    missed, high = 0, left
    while missed < high:
        middle = (missed + high + 1) // 2
        missed, high = (middle, high) if probability(middle) > RISK else (missed, middle - 1)
    found = sum(decisions)
    recall = found / (found + missed) if found else None
    too_many = int(found / TARGET - found) + 1
    p_value = probability(too_many) if too_many <= left else 0.0
    return Stopping(missed, recall, p_value, may_stop=p_value <= RISK)

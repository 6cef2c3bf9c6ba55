"""Figures of an evaluation: what became of each question, the metrics over that, and their intervals."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from math import log2
from typing import TYPE_CHECKING, Any, Self

from bio_mcp.errors import InvalidInput

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

BINS = 10  # of the expected calibration error


def recall(places: Sequence[int], relevant: int, depth: int) -> float:
    """The share of the `relevant` papers that stand at the first `depth` places; `places` are theirs, from 1."""
    return sum(place <= depth for place in places) / relevant


def ndcg(places: Sequence[int], relevant: int, depth: int) -> float:
    """nDCG of papers that are all equally relevant: their gain by place, divided by the most that it can be."""
    gain = sum(1 / log2(place + 1) for place in places if place <= depth)
    return gain / sum(1 / log2(place + 1) for place in range(1, min(relevant, depth) + 1))


SAMPLES, SEED = 2_000, 2026
TAILS = (0.025, 0.975)

Interval = tuple[float, float]


def interval_of_ratio(numerators: Sequence[float], denominators: Sequence[float]) -> Interval:
    """The 95 % interval of the sum of the numerators divided by that of the denominators; a pair for each question.

    Samples whose denominators are all 0 are left out. Where every question has all, or none has any, no sample differs:
    then the interval is that of the rule of three, as one question in n / 3 may still be otherwise.
    """
    import numpy as np

    ratio, unseen = sum(numerators) / sum(denominators), min(1.0, 3 / len(numerators))
    if ratio in (0, 1) and all(over == ratio * under for over, under in zip(numerators, denominators, strict=True)):
        return (0.0, unseen) if ratio == 0 else (1 - unseen, 1.0)
    picks = _picks(len(numerators))
    over, under = np.array(numerators, float)[picks].sum(axis=1), np.array(denominators, float)[picks].sum(axis=1)
    return _tails(over[under > 0] / under[under > 0])


def interval_of_mean(values: Sequence[float]) -> Interval:
    import numpy as np

    return _tails(np.array(values, float)[_picks(len(values))].mean(axis=1))


@cache
def _picks(count: int) -> "NDArray[np.intp]":
    import numpy as np

    return np.random.default_rng(SEED).integers(0, count, (SAMPLES, count))


def _tails(values: "Sequence[float] | NDArray[np.float64]") -> Interval:
    import numpy as np

    low, high = np.quantile(values, TAILS)
    return float(low), float(high)


@dataclass(frozen=True, slots=True)
class CitedOutcome:
    """One citation of an answer. `right`: its paper answers the question.

    `evidence`: the quote overlaps a rationale. `finding`: it is a result or a conclusion. `intact`: it stands at its
    place in the stored version, to the byte.
    """

    right: bool = False
    evidence: bool = False
    finding: bool = False
    intact: bool = True
    retracted: bool = False


_LETTERS = {
    "r": "right",
    "e": "evidence",
    "f": "finding",
    "i": "intact",
    "x": "retracted",
}  # of a citation, as a job holds it


@dataclass(frozen=True, slots=True)
class AnswerOutcome:
    """An answer, or where it was withheld (`answered` is False) what was found.

    `sentences` has for each sentence of the answer the citations that it rests on, as places in `cited`.
    """

    answered: bool
    confidence: float
    cited: tuple[CitedOutcome, ...] = ()
    sentences: tuple[tuple[int, ...], ...] = ()

    @property
    def right(self) -> bool:
        return any(each.right for each in self.cited)

    @property
    def first_right(self) -> bool:
        return bool(self.cited) and self.cited[0].right

    def to_json(self) -> list[Any]:
        cited = ["".join(x for x, name in _LETTERS.items() if getattr(each, name)) for each in self.cited]
        return [self.answered, self.confidence, cited, self.sentences]

    @classmethod
    def from_json(cls, given: list[Any]) -> Self:
        answered, confidence, cited, sentences = given
        outcomes = (CitedOutcome(**{name: x in letters for x, name in _LETTERS.items()}) for letters in cited)
        return cls(answered, confidence, tuple(outcomes), tuple(map(tuple, sentences)))


@dataclass(frozen=True, slots=True)
class Outcome:
    """A question that was asked. `relevant` is how many papers answer it, `judged`: its rationale is known.

    `places` are those of the papers in what a search finds, from 1, retracted papers not counted.
    `answer` was drawn from the whole corpus, `without` from one in which those papers are not; None where the
    question was searched for only, and `without` also where no paper answers it.
    """

    question_id: str
    relevant: int
    places: tuple[int, ...] = ()
    judged: bool = False
    answer: AnswerOutcome | None = None
    without: AnswerOutcome | None = None

    @property
    def answers(self) -> tuple[AnswerOutcome, ...]:
        """Both answers, as far as they were asked for."""
        return tuple(each for each in (self.answer, self.without) if each)

    def to_json(self) -> dict[str, Any]:
        return {
            "id": self.question_id,
            "relevant": self.relevant,
            "ranking": {"places": self.places},
            "judged": self.judged,
            "answer": self.answer and self.answer.to_json(),
            "without": self.without and self.without.to_json(),
        }

    @classmethod
    def from_json(cls, given: Mapping[str, Any]) -> Self:
        answer, without = (
            AnswerOutcome.from_json(each) if (each := given[name]) else None for name in ("answer", "without")
        )
        places = tuple(given["ranking"]["places"])
        return cls(given["id"], given["relevant"], places, given["judged"], answer, without)


@dataclass(frozen=True, slots=True)
class CalibrationBin:
    """The answers with a confidence from `low`: how many, their mean confidence, and the share whose first citation is
    right."""

    low: float
    count: int
    confidence: float
    right: float


def calibration_bins(answers: Iterable[AnswerOutcome]) -> list[CalibrationBin]:
    """The answers given by their confidence, in bins of equal width; empty bins are left out."""
    members: dict[int, list[AnswerOutcome]] = {}
    for each in filter(lambda each: each.answered, answers):
        members.setdefault(min(BINS - 1, int(each.confidence * BINS)), []).append(each)
    return [
        CalibrationBin(
            number / BINS,
            len(those),
            sum(each.confidence for each in those) / len(those),
            sum(each.first_right for each in those) / len(those),
        )
        for number, those in sorted(members.items())
    ]


def calibration_error(answers: Iterable[AnswerOutcome]) -> float:
    """The expected calibration error: the distance of confidence and share that is right, weighed by the bins' counts.

    0 for no answers.
    """
    found = calibration_bins(answers)
    return sum(each.count * abs(each.confidence - each.right) for each in found) / max(1, sum(b.count for b in found))


Share = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Result:
    """A figure with its 95 % interval and the number of questions that it is of. `rising`: more is better."""

    name: str
    value: float
    low: float
    high: float
    questions: int
    rising: bool = True


@dataclass(frozen=True, slots=True)
class Ratio:
    """A sum over the questions divided by another: each gives a share of both, or None where it gives nothing.

    `invariant`: it should be the same for every question that there can be, so that any change is one.
    """

    name: str
    meaning: str
    of: Callable[[Outcome], Share | None]
    rising: bool = True
    of_answers: bool = True
    invariant: bool = False

    def result(self, outcomes: Sequence[Outcome]) -> Result | None:
        """The ratio, with an interval over questions; an invariant is no sample of anything, and has none."""
        shares = [share for each in outcomes if (share := self.of(each))]
        numerators, denominators = [each for each, _ in shares], [each for _, each in shares]
        if not sum(denominators):
            return None
        value = sum(numerators) / sum(denominators)
        low, high = (value, value) if self.invariant else interval_of_ratio(numerators, denominators)
        return Result(self.name, value, low, high, len(shares), self.rising)


@dataclass(frozen=True, slots=True)
class CalibrationError:
    """How well confidences fit, over the answers given from the whole corpus."""

    name: str = "ECE"
    meaning: str = "distance of confidence and the share of the answers given whose first citation is right"
    rising: bool = False
    of_answers: bool = True

    def result(self, outcomes: Sequence[Outcome]) -> Result | None:
        """The error, with an interval over questions that holds it.

        Questions that a sample has twice have equal confidences, which may shift the error of every sample.
        """
        given = [each.answer for each in outcomes if each.answer and each.answer.answered]
        if not given:
            return None

        value = calibration_error(given)
        picked = ([given[pick] for pick in picks] for picks in _picks(len(given))[: SAMPLES // 4].tolist())
        low, high = _tails([calibration_error(each) for each in picked])
        return Result(self.name, value, min(low, value), max(high, value), len(given), self.rising)


DEEPEST = 100  # papers of a ranking that are looked at


_OF_RANKING: dict[str, tuple[str, str, Callable[[Sequence[int], int, int], float]]] = {
    "r": ("R@{}", "share of the right papers among the first {}", recall),
    "ndcg": ("nDCG@{}", "gain of the right papers by their place in the first {}", ndcg),
    "mrr": (
        "MRR",
        "1 divided by the place of the first right paper",
        lambda places, _relevant, _depth: 1 / min(places) if places else 0.0,
    ),
}


def _of_ranking(name: str, depth: int = DEEPEST) -> Ratio:
    """The mean over the questions that papers answer of a measure of the papers' places and number."""
    name, meaning, measure = _OF_RANKING[name]
    return Ratio(
        name.format(depth),
        meaning.format(depth),
        lambda each: (measure(each.places, each.relevant, depth), 1) if each.relevant else None,
        of_answers=False,
    )


RANKING = (*(_of_ranking("r", depth) for depth in (1, 5, 10, 100)), _of_ranking("mrr"), _of_ranking("ndcg", 10))


def _of_given(
    share: Callable[[AnswerOutcome], Share | None], *, judged: bool = False
) -> Callable[[Outcome], Share | None]:
    """A share of the answers to questions that papers answer, and whose rationale is known, that were not withheld."""

    def of(outcome: Outcome) -> Share | None:
        if outcome.answer and outcome.answer.answered and outcome.relevant and (outcome.judged or not judged):
            return share(outcome.answer)
        return None

    return of


def _factuality(answer: AnswerOutcome) -> Share:
    sentences = [[answer.cited[at] for at in places] for places in answer.sentences]
    supported = [all(each.intact for each in cited) and any(each.right for each in cited) for cited in sentences]
    return sum(supported), len(sentences)


def _evidence_hit(depth: int) -> Ratio:
    def of(outcome: Outcome) -> Share | None:
        cited = outcome.answer.cited[:depth] if outcome.answer else ()
        return (float(any(each.evidence for each in cited)), 1) if outcome.answer and outcome.judged else None

    meaning = f"share of questions where one of the first {depth} quotes, withheld or not, overlaps the rationale"
    return Ratio(f"evidence_hit@{depth}", meaning, of)


def _on_evidence(hits: Callable[[AnswerOutcome], list[bool]]) -> Callable[[Outcome], Share | None]:
    """The mean over answers whose rationale is known of the share of their hits."""
    return _of_given(lambda answer: (sum(found) / len(found), 1) if (found := hits(answer)) else None, judged=True)


def _answered(answer: AnswerOutcome | None, expected: bool = True) -> Share | None:
    return (float(answer.answered is expected), 1) if answer else None


def _of_citations(counts: Callable[[AnswerOutcome], int]) -> Callable[[Outcome], Share | None]:
    """A share of all citations, of answers from the whole corpus and without the right papers."""

    def of(outcome: Outcome) -> Share | None:
        cited = sum(len(each.cited) for each in outcome.answers)
        return (sum(map(counts, outcome.answers)), cited) if cited else None

    return of


def _of_every_given(share: Callable[[AnswerOutcome], Share | None]) -> Callable[[Outcome], Share | None]:
    """A share of the answers given from the whole corpus, also of those to questions that no paper answers."""
    return lambda outcome: share(outcome.answer) if outcome.answer and outcome.answer.answered else None


def _answered_wrongly(outcome: Outcome) -> Share | None:
    """Whether a question that no paper answers is answered, but for an answer that corrects it."""
    if outcome.relevant or not outcome.answer:
        return None
    return (float(outcome.answer.answered and not outcome.answer.first_right), 1)


Metric = Ratio | CalibrationError
ANSWERS: tuple[Metric, ...] = (
    Ratio(
        "cited_findings",
        "share of the sentences cited in answers given that overlap the rationale, or are findings of a right paper",
        _of_every_given(
            lambda each: (
                sum(cited.evidence or (cited.right and cited.finding) for cited in each.cited),
                len(each.cited),
            )
        ),
    ),
    Ratio(
        "first_right",
        "share of the answers given whose first citation is of a right paper",
        _of_every_given(lambda each: (float(each.first_right), 1)),
    ),
    Ratio(
        "given_without_evidence",
        "share of the answers given that cite no right paper",
        _of_every_given(lambda each: (float(not each.right), 1)),
        rising=False,
    ),
    Ratio(
        "factuality",
        "share of an answer's sentences whose quotes are intact and one of a right paper",
        _of_given(_factuality),
    ),
    Ratio("right_paper", "share of answers that cite a right paper", _of_given(lambda each: (float(each.right), 1))),
    Ratio(
        "withheld",
        "share of questions with a right paper whose answer is withheld all the same",
        lambda each: _answered(each.answer, expected=False) if each.relevant else None,
        rising=False,
    ),
    *map(_evidence_hit, (1, 3, 5)),
    Ratio(
        "citation_recall",
        "share of an answer's sentences whose quote overlaps the rationale",
        _on_evidence(lambda answer: [any(answer.cited[at].evidence for at in those) for those in answer.sentences]),
    ),
    Ratio(
        "citation_precision",
        "share of an answer's citations that overlap the rationale",
        _on_evidence(lambda answer: [answer.cited[at].evidence for those in answer.sentences for at in those]),
    ),
    Ratio(
        "quote_integrity",
        "share of quotes that stand at their place in the stored version, to the byte",
        _of_citations(lambda answer: sum(each.intact for each in answer.cited)),
        invariant=True,
    ),
    CalibrationError(),
    Ratio(
        "still_answered",
        "share of questions that are answered although their right papers were taken out of the corpus",
        lambda each: _answered(each.without),
        rising=False,
    ),
    Ratio(
        "unanswerable_answered",
        "share of the questions that no paper answers which are answered all the same, and not corrected",
        _answered_wrongly,
        rising=False,
    ),
    Ratio(
        "retracted_cited",
        "share of citations that are of a retracted paper",
        _of_citations(lambda answer: sum(each.retracted for each in answer.cited)),
        rising=False,
        invariant=True,
    ),
)

METRICS: tuple[Metric, ...] = (*RANKING, *ANSWERS)
_AT = re.compile(r"(r|ndcg)@([1-9]\d{0,2})")
_FAMILY = re.compile(r"(\S+@)k")


def chosen(names: Sequence[str] | None) -> tuple[Metric, ...]:
    """The metrics of these names; all without any. `R@k`, `nDCG@k` and `evidence_hit@k` mean the usual depths of them.

    Raises `InvalidInput`, which lists the names, for one that there is not.
    """
    if not names:
        return METRICS
    found = {metric.name: metric for name in names for metric in _named(name)}
    return tuple(found.values())


def _named(name: str) -> tuple[Metric, ...]:
    plain = name.strip().lower()
    family = _FAMILY.fullmatch(plain)
    start = family[1] if family else None
    names = ((each, each.name.lower()) for each in METRICS)
    if same := tuple(each for each, own in names if own == plain or (start and own.startswith(start))):
        return same
    if (found := _AT.fullmatch(plain)) and (depth := int(found[2])) <= DEEPEST:
        return (_of_ranking(found[1], depth),)
    known = dict.fromkeys(re.sub(r"@\d+", "@k", each.name) for each in METRICS)
    raise InvalidInput(
        f"there is no {name[:50]!r}; choose among {', '.join(known)}, with k up to {DEEPEST}", field="metrics"
    )


def figures(metrics: Sequence[Metric], outcomes: Sequence[Outcome]) -> tuple[Result, ...]:
    results = (metric.result(outcomes) for metric in metrics)
    return tuple(each for each in results if each)


@dataclass(frozen=True, slots=True)
class Run:
    """An evaluation that ended at `ended` (ISO 8601), of the set's version, by the model with this fingerprint."""

    ended: str
    version: str
    model: str
    results: tuple[Result, ...]

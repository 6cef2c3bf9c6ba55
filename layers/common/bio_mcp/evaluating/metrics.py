"""The figures of an evaluation by their names, each with a 95 % interval over the questions.

Most are a ratio: every question gives a numerator and a denominator, and the figure is the sum of the ones divided by
that of the others.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from bio_mcp.errors import InvalidInput
from bio_mcp.evaluating import measures
from bio_mcp.evaluating.bootstrap import interval_of_ratio
from bio_mcp.evaluating.outcomes import RankingOutcome

DEEPEST = 100  # papers of a ranking that are looked at
Share = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Result:
    """A figure with its interval and the number of questions that it is of. `rising`: more is better."""

    name: str
    value: float
    low: float
    high: float
    questions: int
    rising: bool = True


@dataclass(frozen=True, slots=True)
class Metric:
    """A figure: what it says, whether more is better, and what a question gives to it; None where it gives nothing."""

    name: str
    meaning: str
    of: Callable[[RankingOutcome], Share | None]
    rising: bool = True

    def result(self, outcomes: Iterable[RankingOutcome]) -> Result | None:
        """The figure over these outcomes; None where none of them has anything to say on it."""
        shares = [share for each in outcomes if (share := self.of(each))]
        numerators, denominators = [each for each, _ in shares], [each for _, each in shares]
        if not sum(denominators):
            return None
        low, high = interval_of_ratio(numerators, denominators)
        return Result(self.name, sum(numerators) / sum(denominators), low, high, len(shares), self.rising)


def _recall(depth: int) -> Metric:
    def of(outcome: RankingOutcome) -> Share | None:
        return (measures.recall(outcome.places, outcome.relevant, depth), 1) if outcome.relevant else None

    return Metric(f"R@{depth}", f"share of the right papers among the first {depth}", of)


def _ndcg(depth: int) -> Metric:
    def of(outcome: RankingOutcome) -> Share | None:
        return (measures.ndcg(outcome.places, outcome.relevant, depth), 1) if outcome.relevant else None

    return Metric(f"nDCG@{depth}", f"gain of the right papers by their place among the first {depth}", of)


def _reciprocal(outcome: RankingOutcome) -> Share | None:
    return (measures.reciprocal_rank(outcome.places), 1) if outcome.relevant else None


def _near_miss(outcome: RankingOutcome) -> Share | None:
    if outcome.near_miss is None:
        return None
    return float(outcome.near_miss < min(outcome.places, default=DEEPEST + 1)), 1


MRR = Metric("MRR", "1 divided by the place of the first right paper", _reciprocal)
NEAR_MISS = Metric(
    "near_miss_first",
    "share of questions where a paper most similar to the right ones comes before them",
    _near_miss,
    False,
)
RANKING = (*map(_recall, (1, 5, 10, 100)), MRR, _ndcg(10), NEAR_MISS)
_AT = re.compile(r"(R|nDCG)@([1-9]\d{0,2})", re.IGNORECASE)
_FAMILIES: dict[str, Callable[[int], Metric]] = {"r": _recall, "ndcg": _ndcg}


def chosen(names: Sequence[str] | None) -> tuple[Metric, ...]:
    """The metrics of these names; all without any. `R@k` and `nDCG@k` mean the usual depths of them.

    Raises `InvalidInput`, which lists the names, for one that there is not.
    """
    if not names:
        return RANKING
    found = {metric.name: metric for name in names for metric in _named(name)}
    return tuple(found.values())


def _named(name: str) -> tuple[Metric, ...]:
    plain = name.strip().lower()
    if same := [each for each in RANKING if each.name.lower() == plain]:
        return tuple(same)
    if plain in ("r@k", "ndcg@k"):
        return tuple(each for each in RANKING if each.name.lower().startswith(plain[:-1]))
    if (found := _AT.fullmatch(plain)) and (depth := int(found[2])) <= DEEPEST:
        return (_FAMILIES[found[1].lower()](depth),)
    known = ", ".join(["R@k", "nDCG@k", *(each.name for each in RANKING if "@" not in each.name)])
    raise InvalidInput(f"metrics: there is no {name[:50]!r}; choose among {known}, with k up to {DEEPEST}")

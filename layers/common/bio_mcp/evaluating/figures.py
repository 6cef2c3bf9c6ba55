"""A figure of an evaluation with its interval, and two ways to come to one."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from bio_mcp.evaluating.bootstrap import interval_of, interval_of_ratio
from bio_mcp.evaluating.outcomes import AnswerOutcome, Outcome

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


class Metric(Protocol):
    """A figure: its name, what it says, whether more is better, and whether it is of answers or of searches alone."""

    @property
    def name(self) -> str:
        """As clients name it."""
        ...

    @property
    def meaning(self) -> str:
        """What it says, for people."""
        ...

    @property
    def rising(self) -> bool:
        """Whether more is better."""
        ...

    @property
    def of_answers(self) -> bool:
        """Whether questions must be answered for it, not only searched for."""
        ...

    def result(self, outcomes: Sequence[Outcome]) -> Result | None:
        """The figure over these outcomes; None where none of them has anything to say on it."""
        ...


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
class OfConfidences:
    """A measure of how well confidences fit: over every answer, from the whole corpus and without the right papers."""

    name: str
    meaning: str
    measure: Callable[[Sequence[float], Sequence[bool]], float]
    rising: bool = False
    of_answers: bool = True

    def result(self, outcomes: Sequence[Outcome]) -> Result | None:
        """The measure, with an interval over questions that holds it.

        Questions that a sample has twice have equal confidences, which may shift the measure of every sample.
        """
        by_question = [each.answers for each in outcomes if each.answers]
        if not by_question:
            return None

        def measured(picks: Sequence[int]) -> float:
            return self.measure(*confidences([each for pick in picks for each in by_question[pick]]))

        every = range(len(by_question))
        value, (low, high) = measured(every), interval_of(measured, len(every))
        return Result(self.name, value, min(low, value), max(high, value), len(every), self.rising)


def confidences(answers: Sequence[AnswerOutcome]) -> tuple[list[float], list[bool]]:
    """The confidence of each answer, and whether a right paper is among those that it cites."""
    return [each.confidence for each in answers], [each.right for each in answers]

"""Confidence intervals by the bootstrap, with a fixed seed: equal samples have equal intervals."""

from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

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


def interval_of(measure: Callable[[Sequence[int]], float], count: int) -> Interval:
    """The 95 % interval of a measure that is given which of `count` questions a sample has."""
    return _tails([measure(each.tolist()) for each in _picks(count)[: SAMPLES // 4]])


def interval_of_mean(values: Sequence[float]) -> Interval:
    """The 95 % interval of the mean of values, such as differences question by question."""
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

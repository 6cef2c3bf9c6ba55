"""Confidence intervals by the bootstrap, with a fixed seed: equal samples have equal intervals."""

from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Picks = NDArray[np.intp]

SAMPLES, SEED = 2_000, 2026
TAILS = (0.025, 0.975)

Interval = tuple[float, float]


def interval_of_ratio(numerators: Sequence[float], denominators: Sequence[float]) -> Interval:
    """The 95 % interval of the sum of the numerators divided by that of the denominators; a pair for each question.

    Samples whose denominators are all 0 are left out.
    """
    import numpy as np

    picks = _picks(len(numerators))
    over, under = np.array(numerators, float)[picks].sum(axis=1), np.array(denominators, float)[picks].sum(axis=1)
    return _tails(over[under > 0] / under[under > 0])


def interval_of(measure: Callable[[Sequence[int]], float], count: int) -> Interval:
    """The 95 % interval of a measure that is given which of `count` questions a sample has."""
    return _tails([measure(each.tolist()) for each in _picks(count)[: SAMPLES // 4]])


@cache
def _picks(count: int) -> "Picks":
    import numpy as np

    return np.random.default_rng(SEED).integers(0, count, (SAMPLES, count))


def _tails(values: "Sequence[float] | NDArray[np.float64]") -> Interval:
    import numpy as np

    low, high = np.quantile(values, TAILS)
    return float(low), float(high)

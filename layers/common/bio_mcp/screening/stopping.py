"""When screening may stop: how many papers may still be missed, from the run of those that were looked at last.

What was looked at since some moment is taken for a random draw from what was left then. In the order of a ranking the
draw is better than random, so that fewer are left than it suggests; in the order of an alphabet it may be worse, and
then the estimate is wrong. The idea is that of Callaghan and Müller-Hansen (Systematic Reviews 2020; 9: 273).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bio_mcp.screening.ranking import Floats, Ints

TARGET = 0.95  # of all relevant papers
RISK = 0.05  # of being wrong
RUNS = 100  # moments from which a draw is counted, the last ones


@dataclass(frozen=True, slots=True)
class Stopping:
    """An estimate. `missed_at_most` relevant papers are left, with the confidence 1 - `RISK`.

    `recall_at_least` is the share of the relevant ones that was found, 0 to 1, None where none was found. `p_value` is
    the probability to have found so few since, were less than `TARGET` of all found.
    """

    missed_at_most: int
    recall_at_least: float | None
    p_value: float

    @property
    def reached(self) -> bool:
        """Whether at least `TARGET` was found, with the confidence 1 - `RISK`."""
        return self.p_value <= RISK


def estimate(decisions: Sequence[bool], left: int) -> Stopping:
    """Estimate from the decisions in the order in which they were made, True for relevant, and the papers left."""
    found = sum(decisions)
    draws = _Draws(decisions, left)
    # The most relevant papers that may be left; more would be too improbable.
    missed, high = 0, left
    while missed < high:
        middle = (missed + high + 1) // 2
        missed, high = (middle, high) if draws.probability(middle) > RISK else (missed, middle - 1)
    recall = found / (found + missed) if found else None
    too_many = int(found / TARGET - found) + 1
    return Stopping(missed, recall, draws.probability(too_many) if too_many <= left else 0.0)


class _Draws:
    """The draws that end now: one since the beginning, and one since each of the last relevant papers."""

    def __init__(self, decisions: Sequence[bool], left: int) -> None:
        relevant = np.flatnonzero(np.asarray(decisions, dtype=bool)) + 1
        begun = np.concatenate([[0], relevant])[-RUNS:]
        self._found = np.arange(len(begun))[::-1]  # in each draw
        self._drawn = len(decisions) - begun
        self._urn = self._drawn + left
        self._log_factorials = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, len(decisions) + left + 1)))])

    def probability(self, missed: int) -> float:
        """The probability of the least likely draw to have found so few, with `missed` relevant papers left."""
        return float(min(map(self._of_one, self._found, self._drawn, self._urn, [missed] * len(self._drawn))))

    def _of_one(self, found: int, drawn: int, urn: int, missed: int) -> float:
        """P(X <= found) of the hypergeometric distribution."""
        relevant = found + missed
        x = np.arange(max(0, drawn - (urn - relevant)), found + 1)
        logs = self._ways(relevant, x) + self._ways(urn - relevant, drawn - x) - self._ways(urn, drawn)
        return min(1.0, float(np.exp(logs).sum()))

    def _ways(self, of: int, chosen: Ints | int) -> Floats:
        """ln C(of, chosen)."""
        table = self._log_factorials
        return np.asarray(table[of] - table[chosen] - table[of - chosen])

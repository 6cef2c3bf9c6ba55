"""How far two screeners agree: per cent, and Cohen's kappa with its interval."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from math import sqrt

Z = 1.959964  # of a 95 % interval


@dataclass(frozen=True, slots=True)
class Agreement:
    """Of `records` that both decided, in how many they `agreed`. `kappa` with the bounds of its 95 % interval, from -1
    to 1; None where it is not defined: nothing was decided by both, or both have one decision for all."""

    records: int
    agreed: int
    kappa: float | None = None
    low: float | None = None
    high: float | None = None

    @property
    def per_cent(self) -> float | None:
        return 100 * self.agreed / self.records if self.records else None


def agreement(pairs: Iterable[tuple[str, str]]) -> Agreement:
    """The agreement of two screeners, from the pairs of their decisions.

    With p_ij the share of pairs (i, j), p_i. and p_.j the sums of rows and columns, p_o = sum of p_ii and
    p_e = sum of p_i. p_.i, kappa = (p_o - p_e) / (1 - p_e) (Cohen, Educational and Psychological Measurement 1960; 20:
    37-46). Its variance for n pairs is (A + B - C) / (n (1 - p_e)^2), where

        A = sum over i of p_ii (1 - (p_i. + p_.i)(1 - kappa))^2
        B = (1 - kappa)^2 * sum over i != j of p_ij (p_.i + p_j.)^2
        C = (kappa - p_e (1 - kappa))^2

    (Fleiss, Cohen and Everitt, Psychological Bulletin 1969; 72: 323-327). The interval is kappa +- 1.96 standard
    errors, which is good for some 30 pairs or more; it ends at -1 and 1.
    """
    counts = Counter(pairs)
    n = counts.total()
    agreed = sum(count for (one, other), count in counts.items() if one == other)
    share = {pair: count / n for pair, count in counts.items()}
    row, column = Counter[str](), Counter[str]()
    for (one, other), p in share.items():
        row[one] += p  # type: ignore[assignment]  # shares, not counts
        column[other] += p  # type: ignore[assignment]
    expected = sum(row[each] * column[each] for each in row)
    if not n or expected > 1 - 1e-12:
        return Agreement(n, agreed)
    kappa = (agreed / n - expected) / (1 - expected)
    a = sum(p * (1 - (row[i] + column[i]) * (1 - kappa)) ** 2 for (i, j), p in share.items() if i == j)
    b = (1 - kappa) ** 2 * sum(p * (column[i] + row[j]) ** 2 for (i, j), p in share.items() if i != j)
    c = (kappa - expected * (1 - kappa)) ** 2
    error = sqrt(max(0.0, a + b - c) / n) / (1 - expected)
    return Agreement(n, agreed, kappa, max(-1.0, kappa - Z * error), min(1.0, kappa + Z * error))

"""Reciprocal rank fusion, with scores that compare between calls."""

from collections.abc import Sequence

K = 60  # of the formula, as in Cormack et al., SIGIR 2009


def reciprocal_ranks(legs: Sequence[Sequence[str]]) -> dict[str, float]:
    """Fuse ranked ids: the sum of 1 / (`K` + rank), divided by what the first place in every leg would give.

    A score is in (0, 1]: 1 for what is first in all `legs`. An id counts once in a leg, at its first place.
    """
    scores: dict[str, float] = {}
    for leg in legs:
        for rank, each in enumerate(dict.fromkeys(leg), start=1):
            scores[each] = scores.get(each, 0.0) + (K + 1) / (K + rank) / len(legs)
    return scores

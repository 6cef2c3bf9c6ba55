"""Figures of the ranking of papers that a search returns."""

from bio_mcp.evaluating import measures
from bio_mcp.evaluating.figures import Ratio, Share
from bio_mcp.evaluating.outcomes import Outcome

DEEPEST = 100  # papers of a ranking that are looked at


def recall(depth: int) -> Ratio:
    """`R@depth`."""

    def of(outcome: Outcome) -> Share | None:
        return (measures.recall(outcome.ranking.places, outcome.relevant, depth), 1) if outcome.relevant else None

    return Ratio(f"R@{depth}", f"share of the right papers among the first {depth}", of, of_answers=False)


def ndcg(depth: int) -> Ratio:
    """`nDCG@depth`."""

    def of(outcome: Outcome) -> Share | None:
        return (measures.ndcg(outcome.ranking.places, outcome.relevant, depth), 1) if outcome.relevant else None

    return Ratio(f"nDCG@{depth}", f"gain of the right papers by their place in the first {depth}", of, of_answers=False)


def _reciprocal(outcome: Outcome) -> Share | None:
    return (measures.reciprocal_rank(outcome.ranking.places), 1) if outcome.relevant else None


def _near_miss(outcome: Outcome) -> Share | None:
    near, places = outcome.ranking.near_miss, outcome.ranking.places
    return None if near is None else (float(near < min(places, default=DEEPEST + 1)), 1)


RANKING = (
    *map(recall, (1, 5, 10, 100)),
    Ratio("MRR", "1 divided by the place of the first right paper", _reciprocal, of_answers=False),
    ndcg(10),
    Ratio(
        "near_miss_first",
        "share of questions where a paper most similar to the right ones, which does not answer, comes before them",
        _near_miss,
        rising=False,
        of_answers=False,
    ),
)

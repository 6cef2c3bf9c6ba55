"""The figures of an evaluation by their names."""

import re
from collections.abc import Callable, Sequence

from bio_mcp.errors import InvalidInput
from bio_mcp.evaluating.answer_metrics import ANSWERS
from bio_mcp.evaluating.figures import Metric, Result
from bio_mcp.evaluating.outcomes import Outcome
from bio_mcp.evaluating.ranking_metrics import DEEPEST, RANKING, ndcg, recall

METRICS: tuple[Metric, ...] = (*RANKING, *ANSWERS)
_AT = re.compile(r"(r|ndcg)@([1-9]\d{0,2})")
_DEPTHS: dict[str, Callable[[int], Metric]] = {"r": recall, "ndcg": ndcg}
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
        return (_DEPTHS[found[1]](depth),)
    known = dict.fromkeys(re.sub(r"@\d+", "@k", each.name) for each in METRICS)
    raise InvalidInput(f"metrics: there is no {name[:50]!r}; choose among {', '.join(known)}, with k up to {DEEPEST}")


def figures(metrics: Sequence[Metric], outcomes: Sequence[Outcome]) -> tuple[Result, ...]:
    """The figures that these outcomes have anything to say on."""
    results = (metric.result(outcomes) for metric in metrics)
    return tuple(each for each in results if each)

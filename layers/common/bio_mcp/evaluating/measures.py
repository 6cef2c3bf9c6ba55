"""Measures of one ranking and of a set of confidences, without any knowledge of what was asked."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import log2

BINS = 10  # of the expected calibration error


def recall(places: Sequence[int], relevant: int, depth: int) -> float:
    """The share of the `relevant` papers that stand at the first `depth` places; `places` are theirs, from 1."""
    return sum(place <= depth for place in places) / relevant


def reciprocal_rank(places: Sequence[int]) -> float:
    """1 divided by the best place; 0 without any."""
    return 1 / min(places) if places else 0.0


def ndcg(places: Sequence[int], relevant: int, depth: int) -> float:
    """nDCG of papers that are all equally relevant: their gain by place, divided by the most that it can be."""
    gain = sum(1 / log2(place + 1) for place in places if place <= depth)
    return gain / sum(1 / log2(place + 1) for place in range(1, min(relevant, depth) + 1))


@dataclass(frozen=True, slots=True)
class CalibrationBin:
    """The answers with a confidence from `low`: how many, their mean confidence, and the share that is right."""

    low: float
    count: int
    confidence: float
    right: float


def calibration_bins(confidences: Sequence[float], right: Sequence[bool], bins: int = BINS) -> list[CalibrationBin]:
    """The answers by their confidence, in bins of equal width; empty bins are left out."""
    members: list[list[int]] = [[] for _ in range(bins)]
    for index, confidence in enumerate(confidences):
        members[min(bins - 1, int(confidence * bins))].append(index)
    return [
        CalibrationBin(
            number / bins,
            len(those),
            sum(confidences[each] for each in those) / len(those),
            sum(right[each] for each in those) / len(those),
        )
        for number, those in enumerate(members)
        if those
    ]


def calibration_error(confidences: Sequence[float], right: Sequence[bool], bins: int = BINS) -> float:
    """The expected calibration error: the distance of confidence and share that is right, weighed by the bins' counts.

    0 for no answers.
    """
    found = calibration_bins(confidences, right, bins)
    return sum(each.count * abs(each.confidence - each.right) for each in found) / max(1, len(confidences))


def risk_coverage(confidences: Sequence[float], right: Sequence[bool]) -> list[tuple[float, float]]:
    """The share that is wrong of the most confident answers, by the share of all that these are.

    One point for each distinct confidence, the most confident first: equal ones are taken together.
    """
    order = sorted(range(len(confidences)), key=lambda each: -confidences[each])
    points, wrong = [], 0
    for taken, index in enumerate(order, 1):
        wrong += not right[index]
        last = taken == len(order) or confidences[order[taken]] != confidences[index]
        if last:
            points.append((taken / len(order), wrong / taken))
    return points


def area_under_risk(points: Sequence[tuple[float, float]]) -> float:
    """The mean risk over all coverages, 0 for the best: each point's risk for the coverage that it adds."""
    before = [0.0, *(coverage for coverage, _ in points)]
    return sum((coverage - low) * risk for low, (coverage, risk) in zip(before, points, strict=False))

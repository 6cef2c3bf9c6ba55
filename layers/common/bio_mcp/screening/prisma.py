"""The counts of a PRISMA 2020 flow diagram, from what a review has stored."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bio_mcp.ports.screening import ReviewSearch
from bio_mcp.screening.reviews import Review

NOT_RETRIEVED = "not retrieved"  # the reason of an exclusion at the full text that is none of its content
NO_REASON = "no reason given"


@dataclass(frozen=True, slots=True)
class PrismaFlow:
    """Numbers by the names of PRISMA 2020, of records and from "sought" on of reports; and why reports were excluded.

    "identified" is what all searches returned. "undecided" records were not screened yet, `maybe` ones among them.
    """

    counts: Mapping[str, int]
    excluded_by_reason: Sequence[tuple[str, int]]


def flow(review: Review, searches: Sequence[ReviewSearch]) -> PrismaFlow:
    """Count. Records that came by no search count as found by other methods."""
    found_by_search = {name for each in searches for name in each.record_ids}
    by_hand = len(review.by_id.keys() - found_by_search)
    databases, others = _found_by(searches, "database"), _found_by(searches, "other") + by_hand
    settled, sought = review.settled("abstract"), set(review.of("abstract", "include"))
    reports = [each for name, each in review.decisions("full_text").items() if name in sought]
    reasons = Counter(each.reason or NO_REASON for each in reports if each.decision == "exclude")
    not_retrieved = reasons.pop(NOT_RETRIEVED, 0)
    included = sum(each.decision == "include" for each in reports)
    counts = {
        "identified": databases + others,
        "from_databases": databases,
        "from_other_methods": others,
        "duplicates_removed": max(0, databases + others - len(review.records)),
        "screened": len(settled),
        "excluded": len(settled) - len(sought),
        "sought": len(sought),
        "not_retrieved": not_retrieved,
        "assessed": included + reasons.total(),
        "included": included,
        "undecided": len(review.records) - len(settled),
    }
    return PrismaFlow(counts, sorted(reasons.items(), key=lambda each: (-each[1], each[0])))


def _found_by(searches: Sequence[ReviewSearch], method: str) -> int:
    return sum(each.found for each in searches if each.method == method)

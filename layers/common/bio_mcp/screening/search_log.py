"""The searches that brought records into a review, and the counts of a PRISMA flow."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from bio_mcp.literature.clock import instant
from bio_mcp.ports import Backends
from bio_mcp.ports.stores import ReviewSearch
from bio_mcp.screening.reviews import Review
from bio_mcp.syncing.queries import list_queries, report_on

PLATFORMS = {"PubMed": "NCBI E-utilities"}
MOST_TERMS = 100  # of a query key


@dataclass(frozen=True, slots=True)
class LoggedSearch:
    """A search: `term` exactly as it was sent, `at` when, `found` what it returned, `new` what no search before had."""

    database: str
    platform: str | None
    method: str
    term: str | None
    at: str
    found: int
    new: int | None
    note: str | None = None


def search_log(searches: Sequence[ReviewSearch], query_key: str | None, backends: Backends) -> list[LoggedSearch]:
    """The searches of a review, and for a query key the syncs of its terms; the oldest first."""
    logged = [*_of_review(searches), *(_of_syncs(query_key, backends) if query_key else ())]
    return sorted(logged, key=lambda each: (each.at, each.database, each.term or ""))


def _of_review(searches: Sequence[ReviewSearch]) -> Iterator[LoggedSearch]:
    known: set[str] = set()
    for each in searches:
        new = len(set(each.record_ids) - known)
        known.update(each.record_ids)
        platform = PLATFORMS.get(each.database)
        yield LoggedSearch(each.database, platform, each.method, each.term, instant(each.at), each.found, new)


def _of_syncs(query_key: str, backends: Backends) -> Iterator[LoggedSearch]:
    queries, _ = list_queries(query_key, MOST_TERMS, backends)
    for each in queries:
        if each.job is None:
            continue
        report = report_on(each.job, backends.now())
        to = f"; all that PubMed dates to {each.settled_to} or before is in the corpus" if each.settled_to else ""
        yield LoggedSearch(
            "PubMed",
            PLATFORMS["PubMed"],
            "database",
            each.checkpoint.term,
            instant(each.job.updated),
            report.processed,
            None,
            f"the newest sync of the followed query: records that were new or changed{to}",
        )


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

"""How a review's records were searched for, as PRISMA-S asks to report it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from bio_mcp.literature.clock import instant
from bio_mcp.ports import Backends
from bio_mcp.ports.screening import ReviewSearch
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

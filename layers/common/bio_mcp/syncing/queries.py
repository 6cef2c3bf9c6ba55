"""Queries that the corpus follows: their watermarks and last syncs, how to stop and remove them, and the sync of
retractions."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType

from bio_mcp.errors import Conflict
from bio_mcp.jobs.runner import cancel, leased, state_of
from bio_mcp.ports import Backends
from bio_mcp.ports.state import Checkpoint, Job
from bio_mcp.syncing import withdrawals
from bio_mcp.syncing.cursor import LEASE_S, SyncCursor, SyncReport
from bio_mcp.syncing.delta import KIND, SyncRun, jobs_of, lease_name

RETRACTIONS_KEY = "bio-mcp/retractions"  # no query of a stack's may have a stroke in its key
OF_THE_INSTALLATION: Mapping[str, str] = MappingProxyType(
    {
        RETRACTIONS_KEY: "looks for retractions of any paper of the corpus and of projects",
        withdrawals.QUERY_KEY: "looks for papers of the corpus that PubMed has withdrawn",
    }
)
"""What the installation syncs for itself, and so nobody follows: what becomes of a paper is news of the queries that
found it."""

# Publication type and the words that PubMed indexes for CommentsCorrections; what `retraction_status` reads.
RETRACTIONS_TERM = (
    '"Retracted Publication"[pt] OR hasretractionin OR haspartialretractionin OR hasretractedandrepublishedin '
    "OR hasexpressionofconcernin"
)


@dataclass(frozen=True, slots=True)
class FollowedQuery:
    """A term of a query key, and its newest job if there is one."""

    checkpoint: Checkpoint
    job: Job | None

    @property
    def about(self) -> str:
        """What the installation does by it; "" for what somebody follows."""
        return OF_THE_INSTALLATION.get(self.checkpoint.query_key, "")

    @property
    def settled_to(self) -> str | None:
        """The day (US Eastern) up to which every record of the term is in the corpus; None before a first sync."""
        return min(self.checkpoint.windows.values(), default=None)


def list_queries(
    query_key: str | None, most: int, backends: Backends, starts_with: str = "", first: int = 0
) -> tuple[list[FollowedQuery], int]:
    """List at most `most` queries, by key, or those of one key; and count the queries left out.

    Keys begin with `starts_with`, in either case; the first `first` of them are passed over. A watermark that was set
    before a first sync is of no query yet.
    """
    begun = starts_with.casefold()
    every = [each for each in backends.checkpoints.all(query_key) if each.term is not None]
    checkpoints = [each for each in every if each.query_key.casefold().startswith(begun)][first:]
    queries = [
        FollowedQuery(each, backends.jobs.latest(KIND, each.query_key, each.term)) for each in checkpoints[:most]
    ]
    return queries, len(checkpoints) - len(queries)


def report_on(job: Job, now: datetime) -> SyncReport:
    return SyncRun.report(job, SyncCursor.from_json(job.cursor), state_of(job, now))


def seconds_left(job: Job, report: SyncReport) -> float | None:
    """How long a sync still takes if it goes on as it did since it began; None where that is not known."""
    took, left = (job.updated - job.created).total_seconds(), report.expected - report.processed
    return took * left / report.processed if took > 0 and left > 0 and report.processed else None


def stop(query_key: str, backends: Backends) -> list[Job]:
    """Cancel the unfinished jobs of a query, and return them.

    A running job ends at its next slice; its queued continuations do nothing.
    """
    unfinished = [job for job in jobs_of(query_key, backends) if job.unfinished]
    for job in unfinished:
        cancel(job, "corpus.queries.stop", backends)
    return unfinished


def remove(query_key: str, backends: Backends) -> list[Checkpoint]:
    """Delete the watermarks, jobs and news of a query; its papers stay. Raises `Conflict` while it is synced."""
    with leased(lease_name(query_key), LEASE_S, backends) as free:
        if not free:
            raise Conflict(f"a sync of {query_key!r} is running; stop it first, with `bio-mcp sync --stop`")
        while jobs := jobs_of(query_key, backends):
            for job in jobs:
                backends.jobs.remove(job)
        backends.news.forget(query_key)
        removed = backends.checkpoints.remove(query_key)
        if removed:
            before = [[each.term, each.last_edat] for each in removed]
            backends.audit.record("corpus.queries.remove", query_key, before, None)
        return removed

"""Queries that the corpus follows, with watermark and last sync."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from bio_mcp.ports import Backends
from bio_mcp.ports.state import Checkpoint, Job
from bio_mcp.syncing.cursor import Cursor
from bio_mcp.syncing.delta import LEASE_S
from bio_mcp.syncing.planning import KIND
from bio_mcp.syncing.reports import STATES, SyncReport, report_of


@dataclass(frozen=True, slots=True)
class FollowedQuery:
    """A term of a query key, and its newest job if there is one."""

    checkpoint: Checkpoint
    job: Job | None

    @property
    def settled_to(self) -> str | None:
        """The day (US Eastern) up to which every record of the term is in the corpus; None before a first sync."""
        return min(self.checkpoint.windows.values(), default=None)


def list_queries(
    query_key: str | None, most: int, backends: Backends, starts_with: str = "", first: int = 0
) -> tuple[list[FollowedQuery], int]:
    """List at most `most` queries, by key, or those of one key; and count the queries left out.

    Keys begin with `starts_with`, in either case; the first `first` of them are passed over.
    """
    begun = starts_with.casefold()
    every = backends.checkpoints.all(query_key)
    checkpoints = [each for each in every if each.query_key.casefold().startswith(begun)][first:]
    queries = [
        FollowedQuery(each, backends.jobs.latest(KIND, each.query_key, each.term)) for each in checkpoints[:most]
    ]
    return queries, len(checkpoints) - len(queries)


def state_of(job: Job, now: datetime) -> str:
    """The job's state as a sync reports it.

    A job that is `running` but has been silent for as long as its lease is `interrupted`: its process has ended.
    """
    if job.state == "running" and now - job.updated > timedelta(seconds=LEASE_S):
        return "interrupted"
    return STATES.get(job.state, "incomplete" if job.state == "failed" else job.state)


def report_on(job: Job, now: datetime) -> SyncReport:
    """Report how far the job has come."""
    return report_of(job, Cursor.from_json(job.cursor), state_of(job, now))

"""What is followed: every query with its watermark and what became of its last sync."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from bio_mcp.ports import Backends
from bio_mcp.ports.state import Checkpoint, Job
from bio_mcp.syncing.cursor import Cursor
from bio_mcp.syncing.delta import LEASE_S
from bio_mcp.syncing.planning import KIND
from bio_mcp.syncing.reports import STATES, SyncReport, report_of


@dataclass(frozen=True, slots=True)
class Followed:
    """A term of a query key, and its newest job where there is one."""

    checkpoint: Checkpoint
    job: Job | None

    @property
    def settled_to(self) -> str | None:
        """The day up to which every record of the term is in the corpus."""
        return min(self.checkpoint.windows.values(), default=None)


def followed(query_key: str | None, most: int, backends: Backends) -> tuple[list[Followed], int]:
    """At most so many queries, by key, or those of one key; and how many more there are."""
    stand = backends.checkpoints.all(query_key)
    found = [Followed(each, backends.jobs.latest(KIND, each.query_key, each.term)) for each in stand[:most]]
    return found, len(stand) - len(found)


def state_of(job: Job, now: datetime) -> str:
    """The state in the words of a sync's answer. A job that has been silent for as long as its lease is interrupted:
    its process has ended."""
    if job.state == "running" and now - job.updated > timedelta(seconds=LEASE_S):
        return "interrupted"
    return STATES.get(job.state, "incomplete" if job.state == "failed" else job.state)


def report_on(job: Job, now: datetime) -> SyncReport:
    """How far the job has come."""
    return report_of(job, Cursor.from_json(job.cursor), state_of(job, now))

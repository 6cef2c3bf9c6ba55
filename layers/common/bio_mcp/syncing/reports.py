"""Reports of a sync, also of work that continued in the background and whose result nobody has read yet."""

from dataclasses import dataclass
from datetime import timedelta

from bio_mcp.errors import Conflict, NotFound
from bio_mcp.literature.clock import instant, utc
from bio_mcp.ports import Backends
from bio_mcp.ports.state import Job
from bio_mcp.syncing.cursor import Cursor

FRESH = timedelta(hours=1)  # age up to which the unread result of a background job is returned instead of a new run
STATES = {"succeeded": "complete", "cancelled": "cancelled"}


@dataclass(frozen=True, slots=True)
class SyncReport:
    """Result or progress of a job.

    `state`: complete; incomplete (the watermark did not move); continues (later, by itself); running (another call is
    at work); cancelled. `ended`: when the job ended, ISO 8601, if this call itself did nothing.
    """

    job_id: str
    state: str
    inserted: int
    updated: int
    skipped: int
    failed: int
    processed: int
    expected: int
    max_edat: str | None
    warnings: tuple[str, ...]
    ended: str | None = None


def report_of(job: Job, cursor: Cursor, state: str, *more: str, ended: str | None = None) -> SyncReport:
    """Report on a job; the counts include what became durable of a batch that stopped half-way."""
    counts = dict(cursor.counts)
    for change in cursor.partial.values():
        counts[change] += 1
    return SyncReport(
        job_id=job.job_id,
        state=state,
        **counts,
        failed=len(cursor.failed),
        processed=cursor.processed + len(cursor.partial),
        expected=cursor.total,
        max_edat=utc(cursor.max_edat) if cursor.max_edat else None,
        warnings=(*cursor.warnings, *more),
        ended=ended,
    )


def already_running(job: Job | None, query_key: str) -> SyncReport:
    """Report the job that runs. Raises `Conflict`, retryable, when another term runs or the job is starting."""
    if job is None or job.state != "running":
        message = f"a sync of {query_key!r} is just starting, or runs with another term; ask again later"
        raise Conflict(message, retry_after_s=5)
    still = f"{job.job_id} is still running; nothing was started"
    return report_of(job, Cursor.from_json(job.cursor), "running", still)


def result_of(job: Job, *more: str) -> SyncReport:
    """The result of a job that has ended."""
    if error := job.progress.get("error"):
        more = (f"it ended with: {error}", *more)
    state, ended = STATES.get(job.state, "incomplete"), instant(job.updated)
    return report_of(job, Cursor.from_json(job.cursor), state, *more, ended=ended)


def result_by_id(job_id: str, backends: Backends, unattended: bool) -> SyncReport:
    """The result of the job with this id, when nothing is left to do.

    Raises `NotFound` for an unknown id; for a queued call, whose job was removed meanwhile, it is `cancelled` instead.
    """
    try:
        return result_of(backends.jobs.get(job_id))
    except NotFound:
        if not unattended:
            raise
        return SyncReport(job_id, "cancelled", 0, 0, 0, 0, 0, 0, None, ("there is no such job any more",))


def unread_result(job: Job | None, request: dict[str, object], backends: Backends) -> SyncReport | None:
    """The newest job's unread result, if the job is of this very request and ended in the background within `FRESH`.

    Marks the result as read: the next call gets None and starts a new sync.
    """
    if not (unread := take_unread(job, request, backends)):
        return None
    return result_of(
        unread, f"this is the result of {unread.job_id}, which continued by itself; ask again to start a new sync"
    )


def take_unread(job: Job | None, request: dict[str, object], backends: Backends) -> Job | None:
    """The job, of any kind, if its result is unread, recent and of this very request; it counts as read from now on."""
    if job is None or job.unfinished or job.progress.get("reported", True) or job.request != request:
        return None
    if backends.now() - job.updated > FRESH:
        return None
    job.progress["reported"] = True
    backends.jobs.put(job)
    return job


def history(job: Job | None) -> list[str]:
    """Warnings for a new run about the newest job: that it stalled, or how it ended in the background."""
    if job is None:
        return []
    if job.state == "stalled":
        return [f"{job.job_id} had stalled: {job.progress.get('error')}; it continues now"]
    if job.unfinished or job.progress.get("reported", True):
        return []
    result = result_of(job)
    return [
        f"{job.job_id}, which continued by itself, ended {result.state} at {result.ended}: {result.inserted} inserted, "
        f"{result.updated} updated, {result.skipped} skipped, {result.failed} failed"
    ]

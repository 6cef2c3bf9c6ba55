"""What a sync answers, also for work that went on by itself and whose result nobody has been given yet."""

from dataclasses import dataclass
from datetime import timedelta

from bio_mcp.errors import Conflict, NotFound
from bio_mcp.literature.clock import instant, utc
from bio_mcp.ports import Backends
from bio_mcp.ports.state import Job
from bio_mcp.syncing.cursor import Cursor

FRESH = timedelta(hours=1)  # so long the result of a job that went on by itself is the answer in place of a new sync
STATES = {"succeeded": "complete", "cancelled": "cancelled"}


@dataclass(frozen=True, slots=True)
class SyncReport:
    """Where the job stands. `state`: complete, incomplete (the watermark stays), continues (later, by itself), running
    (by somebody else), cancelled. `ended`: when the job ended, where the call itself did nothing."""

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
    """The counts hold what became durable of a batch that was left half-way."""
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
    """The job that runs. Raises `Conflict` when it is another term's, or has no job yet: this call must come again."""
    if job is None or job.state != "running":
        message = f"a sync of {query_key!r} is just starting, or runs by another term; ask again later"
        raise Conflict(message, retry_after_s=5)
    still = f"{job.job_id} is still running; nothing was started"
    return report_of(job, Cursor.from_json(job.cursor), "running", still)


def result_of(job: Job, *more: str) -> SyncReport:
    """The result of a job that has ended."""
    if error := job.progress.get("error"):
        more = (f"it ended with: {error}", *more)
    state, ended = STATES.get(job.state, "incomplete"), instant(job.updated)
    return report_of(job, Cursor.from_json(job.cursor), state, *more, ended=ended)


def ended(job_id: str, backends: Backends, unattended: bool) -> SyncReport:
    """The result of a job that nobody goes on with. Raises `NotFound`, but not in a queue: there it was removed."""
    try:
        return result_of(backends.jobs.get(job_id))
    except NotFound:
        if not unattended:
            raise
        return SyncReport(job_id, "cancelled", 0, 0, 0, 0, 0, 0, None, ("there is no such job any more",))


def unreported(job: Job | None, request: dict[str, object], backends: Backends) -> SyncReport | None:
    """The result of the newest job, where it is of this very request, went on by itself, has ended a while ago and
    nobody has been given it; then somebody has."""
    if job is None or job.unfinished or job.progress.get("reported", True) or job.request != request:
        return None
    if backends.now() - job.updated > FRESH:
        return None
    job.progress["reported"] = True
    backends.jobs.put(job)
    return result_of(
        job, f"this is the result of {job.job_id}, which went on by itself; a new sync starts if asked again"
    )


def history(job: Job | None) -> list[str]:
    """What whoever asks for a new run should know of the newest job."""
    if job is None:
        return []
    if job.state == "stalled":
        return [f"{job.job_id} had stopped going on by itself: {job.progress.get('error')}; it goes on now"]
    if job.unfinished or job.progress.get("reported", True):
        return []
    result = result_of(job)
    return [
        f"{job.job_id}, which went on by itself, ended {result.state} at {result.ended}: {result.inserted} inserted, "
        f"{result.updated} updated, {result.skipped} skipped, {result.failed} failed"
    ]

"""Reports of an ingest, also of one that went on in the background and whose result nobody has read yet."""

from dataclasses import dataclass

from bio_mcp.errors import Conflict, InvalidInput
from bio_mcp.ingesting.cursor import Cursor
from bio_mcp.literature.clock import instant
from bio_mcp.ports import Backends
from bio_mcp.ports.state import Job
from bio_mcp.syncing.reports import STATES, take_unread


@dataclass(frozen=True, slots=True)
class IngestReport:
    """Result or progress of a job.

    `state`: complete; continues (later, by itself); running (another call is at work); incomplete; cancelled.
    `ended`: when the job ended, ISO 8601, if this call itself did nothing.
    """

    job_id: str
    state: str
    cursor: Cursor
    warnings: tuple[str, ...]
    ended: str | None = None


def report_of(job: Job, cursor: Cursor, state: str, *more: str, ended: str | None = None) -> IngestReport:
    """Report on a job."""
    unlisted = [f"and {cursor.unlisted:,} more warnings"] if cursor.unlisted else []
    return IngestReport(job.job_id, state, cursor, (*cursor.warnings, *unlisted, *more), ended)


def already_running(job: Job | None) -> IngestReport:
    """Report the job that runs. Raises `Conflict`, retryable, when it is just starting."""
    if job is None or job.state != "running":
        raise Conflict("this is just being ingested; ask again later", retry_after_s=5)
    return report_of(
        job, Cursor.from_json(job.cursor), "running", f"{job.job_id} is still running; nothing was started"
    )


def result_of(job: Job, *more: str) -> IngestReport:
    """The result of a job that has ended, or that nothing continues."""
    if error := job.progress.get("error"):
        more = (f"it ended with: {error}", *more)
    return report_of(
        job, Cursor.from_json(job.cursor), STATES.get(job.state, "incomplete"), *more, ended=instant(job.updated)
    )


def unread_result(job: Job | None, request: dict[str, object], backends: Backends) -> IngestReport | None:
    """The newest job's unread result, if the job is of this very request and ended in the background within `FRESH`.

    Marks the result as read: the next call gets None and starts a new run.
    """
    if not (unread := take_unread(job, request, backends)):
        return None
    note = f"this is the result of {unread.job_id}, which went on by itself; ask again to look for changes"
    return result_of(unread, note)


def no_job(job_id: str, *, unattended: bool) -> IngestReport:
    """The report on a job that does not exist, for a queued call. Raises `InvalidInput` for any other."""
    if not unattended:
        raise InvalidInput(f"job_id: there is no job {job_id!r}")
    return IngestReport(job_id, "cancelled", Cursor(), ("there is no such job any more",))

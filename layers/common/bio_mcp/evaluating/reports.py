"""Reports of an evaluation, also of one that went on in the background and whose result nobody has read yet."""

from dataclasses import dataclass

from bio_mcp.errors import Conflict
from bio_mcp.evaluating.cursor import Cursor
from bio_mcp.literature.clock import instant
from bio_mcp.ports import Backends
from bio_mcp.ports.state import Job
from bio_mcp.syncing.reports import STATES, take_unread


@dataclass(frozen=True, slots=True)
class EvaluationReport:
    """What a job has come to; the figures are the cursor's. `state` and `ended` are as of an `IngestReport`."""

    job_id: str
    state: str
    cursor: Cursor
    warnings: tuple[str, ...] = ()
    ended: str | None = None


def report_of(job: Job, cursor: Cursor, state: str, *warnings: str) -> EvaluationReport:
    """Report on a job."""
    return EvaluationReport(job.job_id, state, cursor, (*cursor.warnings, *warnings))


def already_running(job: Job | None) -> EvaluationReport:
    """Report the job that runs. Raises `Conflict`, retryable, when it is just starting."""
    if job is None or job.state != "running":
        raise Conflict("this set is just being evaluated; ask again later", retry_after_s=5)
    return report_of(
        job, Cursor.from_json(job.cursor), "running", f"{job.job_id} is still running; nothing was started"
    )


def result_of(job: Job, *notes: str) -> EvaluationReport:
    """The result of a job that no longer runs."""
    error = job.progress.get("error")
    reasons = [f"it ended with: {error}"] if error else []
    state, cursor = STATES.get(job.state, "incomplete"), Cursor.from_json(job.cursor)
    return EvaluationReport(job.job_id, state, cursor, (*cursor.warnings, *reasons, *notes), instant(job.updated))


def unread_result(job: Job | None, request: dict[str, object], backends: Backends) -> EvaluationReport | None:
    """The newest job's unread result, if the job is of this very request and ended in the background of late.

    Marks the result as read: the next call gets None and starts a new run.
    """
    unread = take_unread(job, request, backends)
    note = "this is the result of a job that went on by itself; ask again to evaluate anew"
    return result_of(unread, note) if unread else None

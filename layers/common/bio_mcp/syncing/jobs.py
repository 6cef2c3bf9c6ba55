"""What the runs of every kind of job share."""

from bio_mcp.errors import NotFound
from bio_mcp.ports import Backends
from bio_mcp.ports.state import Job


class Cancelled(Exception):
    """The job was cancelled by another process."""


def stop_if_cancelled(job: Job, backends: Backends) -> None:
    """Raise `Cancelled` where the job was cancelled meanwhile."""
    if backends.jobs.is_cancelled(job.job_id):
        raise Cancelled(f"{job.job_id} was cancelled")


def ended_job(job_id: str | None, backends: Backends, *, unattended: bool) -> Job | None:
    """The job of any kind with this id, once it has ended; None before that, and where there is none.

    Its result counts as read, unless nobody reads the answer of this call.
    """
    try:
        job = backends.jobs.get(job_id) if job_id else None
    except NotFound:
        return None
    if job is None or job.unfinished:
        return None
    if not unattended and not job.progress.get("reported", True):
        job.progress["reported"] = True
        backends.jobs.put(job)
    return job

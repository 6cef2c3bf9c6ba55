"""Stop work before its end: jobs stalled by the queue, syncs cancelled or removed by an operator."""

from uuid import uuid4

from bio_mcp.errors import Conflict, NotFound
from bio_mcp.ports import Backends
from bio_mcp.ports.state import Checkpoint, Job
from bio_mcp.syncing.delta import LEASE_S, lease_name
from bio_mcp.syncing.planning import KIND


def stall(job_id: str, reason: str, backends: Backends) -> None:
    """Mark a job of any kind as stalled: nothing continues it by itself. One that another run works on is left alone,
    and so is one that does not exist."""
    holder = uuid4().hex
    try:
        lease = backends.jobs.get(job_id).lease
    except NotFound:
        return
    if not backends.leases.acquire(lease, holder, LEASE_S):
        return
    try:
        job = backends.jobs.get(job_id)
        if job.unfinished:
            job.state, job.progress = "stalled", {**job.progress, "error": reason}
            backends.jobs.put(job)
    finally:
        backends.leases.release(lease, holder)


def stop(query_key: str, backends: Backends) -> list[Job]:
    """Cancel the unfinished jobs of a query, and return them.

    A running job ends at its next slice; its queued continuations do nothing.
    """
    unfinished = [job for job in jobs_of(query_key, backends) if job.unfinished]
    for job in unfinished:
        cancel(job, "corpus.queries.stop", backends)
    return unfinished


def cancel(job: Job, action: str, backends: Backends, subject: str | None = None) -> None:
    """Cancel a job of any kind, and log that as `action` of `subject`; whoever works on it ends at its next save."""
    before = {"job_id": job.job_id, "state": job.state}
    backends.audit.record(action, job.request["query_key"], before, "cancelled", subject)
    job.state, job.updated = "cancelled", backends.now()
    backends.jobs.put(job)


def remove(query_key: str, backends: Backends) -> list[Checkpoint]:
    """Delete the watermarks, jobs and news of a query; its papers stay. Raises `Conflict` while it is synced."""
    lease, holder = lease_name(query_key), uuid4().hex
    if not backends.leases.acquire(lease, holder, LEASE_S):
        raise Conflict(f"a sync of {query_key!r} is running; stop it first, with `bio-mcp queries stop`")
    try:
        while jobs := jobs_of(query_key, backends):
            for job in jobs:
                backends.jobs.remove(job)
        backends.news.forget(query_key)
        removed = backends.checkpoints.remove(query_key)
        if removed:
            before = [[each.term, each.last_edat] for each in removed]
            backends.audit.record("corpus.queries.remove", query_key, before, None)
        return removed
    finally:
        backends.leases.release(lease, holder)


def jobs_of(query_key: str, backends: Backends) -> list[Job]:
    """The newest job of each term of a query, newest first."""
    terms = (None, *(each.term for each in backends.checkpoints.all(query_key)))
    by_id = {job.job_id: job for term in terms if (job := backends.jobs.latest(KIND, query_key, term))}
    return sorted(by_id.values(), key=lambda job: job.created, reverse=True)

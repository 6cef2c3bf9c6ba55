"""Ingest a source into a project: a job that goes through its documents one by one, and resumes where it was stopped.

The cursor is saved after each document has become durable. At most one run works on a source of a project: it holds a
lease and renews it at each document.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import sha256
from math import isinf
from time import monotonic
from typing import Any
from uuid import uuid4

from bio_mcp.deadline import Deadline
from bio_mcp.errors import DeadlineExceeded, InvalidInput, NotFound, UpstreamFailed
from bio_mcp.ingesting.cursor import Cursor
from bio_mcp.ingesting.feeds import Entry, Feed
from bio_mcp.ingesting.reports import IngestReport, already_running, report_of, result_of, unread_result
from bio_mcp.ingesting.settling import Settles
from bio_mcp.literature.clock import instant
from bio_mcp.ports import Backends
from bio_mcp.ports.state import Job
from bio_mcp.progress import Progress
from bio_mcp.syncing.jobs import JobRun, Share, ended_job

TOOL = "ingest_from_source"
BATCH_TOOL = "ingest.run"  # which also reads what documents state
KIND = "ingest"
LEASE_S = 600
TOO_LONG = "it takes longer to read than a queued call may; ingest it on the command line"


@dataclass(frozen=True, slots=True)
class Request:
    """What a job does: the `arguments` of the call, and whether it is `local`, from the user of this machine.

    `tool` is what a continuation calls again; jobs of one `kind` share nothing with those of another.
    """

    project: str
    location: str
    local: bool
    arguments: dict[str, Any] = field(default_factory=dict)
    tool: str = TOOL
    kind: str = KIND

    @property
    def query_key(self) -> str:
        """One for each source of a project, which does not show where on a machine that is."""
        return f"{self.project} {sha256(self.location.encode(errors='surrogateescape')).hexdigest()[:16]}"

    def to_json(self) -> dict[str, Any]:
        """The request as its job holds it."""
        return {"query_key": self.query_key, "local": self.local, "arguments": self.arguments}


def job_of(job_id: str, backends: Backends, kind: str = KIND) -> Job | None:
    """The job of this kind with this id; None if there is none any more."""
    try:
        job = backends.jobs.get(job_id)
    except NotFound:
        return None
    return job if job.kind == kind else None


def continuation(tool: str, job: Job) -> dict[str, Any]:
    """The call that continues an ingest, or reports its result."""
    return {"tool": tool, "arguments": {**job.request["arguments"], "job_id": job.job_id}}


def ingest(
    request: Request,
    feed: Feed,
    settling: Callable[[Job, Cursor], Settles],
    backends: Backends,
    deadline: Deadline,
    progress: Progress,
    *,
    job_id: str | None = None,
    unattended: bool = False,
) -> IngestReport:
    """Run or resume the ingest of a source until it is done or the deadline is near.

    `settling` makes what brings the documents in; it is called once the job is known and the lease is held. With
    `job_id` that job continues, or its result is returned, and no other is started. Raises what `feed` and `settling`
    raise; the job then waits with its cursor for the next call.
    """
    if ended := ended_job(job_id, backends, unattended=unattended):
        return result_of(ended)
    lease, share = _new_job(request, backends).lease, Share(backends, deadline, progress, unattended)
    if not backends.leases.acquire(lease, share.holder, LEASE_S):
        return already_running(backends.jobs.latest(request.kind, request.query_key))
    try:
        last = backends.jobs.latest(request.kind, request.query_key)
        if job_id and not (last and last.unfinished and last.job_id == job_id):
            return result_of(backends.jobs.get(job_id))
        if not unattended and (result := unread_result(last, request.to_json(), backends)):
            return result
        job = _resumed(last, request, backends, deadline) or _new_job(request, backends, _planned(last, request))
        return _Run(request.tool, job, feed, settling, share).run()
    finally:
        backends.leases.release(lease, share.holder)


def _resumed(last: Job | None, request: Request, backends: Backends, deadline: Deadline) -> Job | None:
    """The unfinished job of this very request. Any other is ended, as is one that is asked for without a time limit.

    Who has all the time looks at every document again, since those behind the cursor may have changed meanwhile.
    """
    if last is None or not last.unfinished:
        return None
    if last.request == request.to_json() and not isinf(deadline.remaining):
        return last
    last.state, last.updated = "failed", backends.now()
    backends.jobs.put(last)
    return None


def _planned(last: Job | None, request: Request) -> dict[str, str]:
    """What a run of this request had planned when it was killed: the next one finishes that first."""
    same = last is not None and last.request == request.to_json()
    return dict(last.cursor.get("planned", {})) if last and same else {}


def _new_job(request: Request, backends: Backends, planned: dict[str, str] | None = None) -> Job:
    now = backends.now()
    job_id = f"{request.kind}_{instant(now)}_{uuid4().hex[:6]}"
    return Job(job_id, request.kind, "running", now, now, request.to_json(), Cursor(planned=planned or {}).to_json())


class _Run(JobRun[IngestReport]):
    """One call's share of an ingest."""

    what = "ingest of this source"
    lease_s = LEASE_S
    cursor: Cursor

    def __init__(
        self, tool: str, job: Job, feed: Feed, settling: Callable[[Job, Cursor], Settles], share: Share
    ) -> None:
        super().__init__(share)
        self.tool, self.job, self.feed, self.settling = tool, job, feed, settling
        self.cursor, self._since = Cursor.from_json(job.cursor), monotonic()

    def work(self) -> IngestReport:
        """Go through the documents, one by one."""
        settling = self.settling(self.job, self.cursor)
        for place, entry in enumerate(self.cursor.rest(self.feed.entries())):
            if not self._may_go_on(entry):
                return self.continue_later()
            self._one(entry, settling, whole_call=self.unattended and not place)
            self.save("running")
        self.cursor.warn(*self.feed.finish())
        self.progress(self.cursor.done, self.cursor.expected, "")
        self.save("succeeded")
        return self.report("complete")

    def report(self, state: str, *notes: str) -> IngestReport:
        """Report how far the ingest is."""
        return report_of(self.job, self.cursor, state, *notes)

    def counts(self) -> dict[str, int]:
        """Documents."""
        return {"processed": self.cursor.done, "expected": self.cursor.expected}

    def continuation(self) -> dict[str, Any]:
        """The same ingest, by the job's id."""
        return continuation(self.tool, self.job)

    def _one(self, entry: Entry, settling: Settles, *, whole_call: bool) -> None:
        """Bring in one document. One that cannot be read is a warning, and so is one that takes too long twice."""
        try:
            self.cursor.settled(entry, settling.settle(entry.load()))
        except (InvalidInput, UpstreamFailed) as problem:
            if problem.retryable:
                raise
            self.cursor.failure(entry, str(problem))
        except DeadlineExceeded:
            if not whole_call or not self.cursor.ran_out():
                raise
            self.cursor.failure(entry, TOO_LONG)

    def _may_go_on(self, entry: Entry) -> bool:
        """Renew the lease, report progress, and return whether there is time for another document.

        Raises `Conflict` when the lease was lost: another run is at work, and nothing more may be written.
        """
        self.renew()
        self.stop_if_cancelled()
        self.progress(self.cursor.done, self.cursor.expected, entry.name)
        return self.budget.allows(self.deadline)

    def save(self, state: str, problem: str | None = None) -> None:
        """Save the job, and the time that it took."""
        now = monotonic()
        self.cursor.seconds, self._since = self.cursor.seconds + now - self._since, now
        super().save(state, problem)

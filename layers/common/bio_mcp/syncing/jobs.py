"""What all long work has in common: a job that is saved on the way, held by one run at a time, and continued later."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar
from uuid import uuid4

from bio_mcp.deadline import Deadline
from bio_mcp.errors import BudgetSpent, Conflict, DeadlineExceeded, Failure, NotFound
from bio_mcp.ports import Backends
from bio_mcp.ports.state import Job
from bio_mcp.progress import Progress
from bio_mcp.syncing.time_budget import TimeBudget

Report = TypeVar("Report")


class Cancelled(Exception):
    """The job was cancelled by another process."""


class Cursor(Protocol):
    """The state that a later run resumes from."""

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON."""
        ...


@dataclass(frozen=True, slots=True)
class Share:
    """What one call gives to a job. `holder` has its lease; `unattended`: nobody reads the call's answer."""

    backends: Backends
    deadline: Deadline
    progress: Progress
    unattended: bool = False
    holder: str = field(default_factory=lambda: uuid4().hex)


class JobRun(ABC, Generic[Report]):
    """One call's share of a job: works until the work, the time or a budget ends, and saves the job each time.

    `what` is the work as a sentence names it; whoever works holds the job's lease, renewed for `lease_s` at each step.
    """

    job: Job
    cursor: Cursor
    what: str
    lease_s: float = 600

    def __init__(self, share: Share) -> None:
        self.backends, self.deadline, self.progress = share.backends, share.deadline, share.progress
        self.holder, self.unattended, self.budget = share.holder, share.unattended, TimeBudget()

    @abstractmethod
    def work(self) -> Report:
        """Do the work and report its result, or continue later."""

    @abstractmethod
    def report(self, state: str, *notes: str) -> Report:
        """Report how far the job is."""

    @abstractmethod
    def counts(self) -> dict[str, int]:
        """How much is processed and how much expected."""

    @abstractmethod
    def continuation(self) -> dict[str, Any]:
        """The call that continues the job."""

    def run(self) -> Report:
        """Work until it is done, the time is over or a port fails; the job is saved in each case.

        A spent budget is no failure: the job goes on when there is a new one.
        """
        self.save("running")
        try:
            return self.work()
        except DeadlineExceeded:
            return self.continue_later()
        except Cancelled as cancelled:
            return self.report("cancelled", str(cancelled))
        except Failure as failure:
            if isinstance(failure, BudgetSpent) and failure.retry_after_s is not None:
                return self.continue_later(f"{failure}; the job goes on then", failure.retry_after_s)
            self.save("waiting" if failure.retryable else "failed", str(failure))
            failure.details.setdefault("job_id", self.job.job_id)
            raise

    def renew(self) -> None:
        """Renew the lease. Raises `Conflict` when it was lost: another run is at work, nothing more may be written."""
        if not self.backends.leases.acquire(self.job.lease, self.holder, self.lease_s):
            raise Conflict(f"another run took over the {self.what}", job_id=self.job.job_id)

    def stop_if_cancelled(self) -> None:
        """Raise `Cancelled` where the job was cancelled meanwhile."""
        if self.backends.jobs.is_cancelled(self.job.job_id):
            raise Cancelled(f"{self.job.job_id} was cancelled")

    def save(self, state: str, problem: str | None = None) -> None:
        """Save the job with its cursor. Whoever asks about the job reads its progress here."""
        job = self.job
        job.state, job.updated, job.cursor = state, self.backends.now(), self.cursor.to_json()
        job.progress = {**self.counts(), "error": problem, "reported": not self.unattended}
        self.backends.jobs.put(job)

    def continue_later(self, reason: str | None = None, wait_s: float = 0) -> Report:
        """Save the job, queue its continuation, due in `wait_s`, and report how far it is."""
        self.save("waiting", reason)
        self.backends.continuations.send(self.continuation(), wait_s)
        later = f"{self.job.job_id} continues by itself; ask again for its result"
        return self.report("continues", *filter(None, [reason]), later)


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

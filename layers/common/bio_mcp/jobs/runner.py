"""The one runner of long work: a sync, an ingest, an evaluation, an export, a check of references or of the corpus.

A job is saved with its cursor after each step, so that whatever ends a run, the next one goes on behind the last step
that is durable. At most one run works on a job: it holds the job's lease and renews it with each save. What ended while
nobody was reading is reported to the next caller, once.
"""

import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from datetime import datetime, timedelta
from typing import Any, ClassVar, Generic, Self, TypeVar, cast
from uuid import uuid4

from bio_mcp.deadline import Clock, Deadline, Progress
from bio_mcp.errors import BudgetSpent, Conflict, DeadlineExceeded, Failure, JobNotFound, NotFound
from bio_mcp.literature.clock import instant
from bio_mcp.ports import Backends
from bio_mcp.ports.state import Hold, Job
from bio_mcp.scope import holding

FRESH = timedelta(hours=1)  # age up to which the unread result of a background job is returned instead of a new run
STATES = {"succeeded": "complete", "cancelled": "cancelled"}  # of a job that has ended; any other is incomplete
FIRST_STEP_S = 6.0  # assumed time of a step before one has been timed: 32 abstracts on one slow core
REMOVED = "there is no such job any more"
RESERVE_S = 1.0  # for saving the cursor and answering
SILENT = timedelta(minutes=5)
STALL_LEASE_S = 300


class Cancelled(Exception):
    """The job was cancelled by another process."""


@dataclass(slots=True)
class Cursor:
    """The state of a job that a later run resumes from: a dataclass of JSON values, small enough to save often, with a
    default for each."""

    def to_json(self) -> dict[str, Any]:
        """It as JSON values, which may be shared with the cursor: write them at once."""
        return {each.name: getattr(self, each.name) for each in fields(self)}

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> Self:
        return cls(**stored)


C = TypeVar("C", bound=Cursor)
R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class RunContext:
    """What one call gives to a job. `holder` has its lease; `unattended`: nobody reads the call's answer."""

    backends: Backends
    deadline: Deadline
    progress: Progress
    unattended: bool = False
    holder: str = field(default_factory=lambda: uuid4().hex)


@dataclass(frozen=True)
class JobReport(Generic[C]):
    """Result or progress of a job.

    `state`: complete; continues (later, by itself); running (another call is at work); incomplete; cancelled.
    `ended`: when the job ended, ISO 8601, if this call itself did nothing.
    """

    job: Job
    state: str
    cursor: C
    warnings: tuple[str, ...] = ()
    ended: str | None = None

    @property
    def job_id(self) -> str:
        return self.job.job_id


class TimeBudget:
    """Measures the seconds between two calls of `allows`, and requires 1.5 times the longest."""

    def __init__(self, clock: Clock = time.monotonic) -> None:
        self._clock = clock
        self._last: float | None = None
        self._longest = 0.0

    def allows(self, deadline: Deadline) -> bool:
        """Whether the deadline leaves time for another step and `RESERVE_S` for saving and answering."""
        now = self._clock()
        if self._last is not None:
            self._longest = max(self._longest, now - self._last)
        self._last = now
        return deadline.remaining > RESERVE_S + (1.5 * self._longest or FIRST_STEP_S)


class JobRun(ABC, Generic[C, R]):
    """One call's share of a job of one kind.

    A subclass says how a job is planned, what a step is, how it ends and how it is reported. The request's `query_key`
    (and `term`) tell the jobs of a kind apart; only a job of an equal request is resumed.
    """

    kind: str
    tool: str  # that continues it
    what: str  # the work, as a sentence names it
    starting: str = ""  # the refusal while another run is about to begin
    again: str | None = None  # what to ask again for, after an unread result; None: nobody waits for results
    lease_s: float = 600
    keeps_waiting = False  # after a failure that no repetition mends
    cursor_type: ClassVar[type[Cursor]]
    job: Job
    cursor: C

    def __init__(self, context: RunContext, request: dict[str, Any]) -> None:
        self.backends, self.deadline, self.progress = context.backends, context.deadline, context.progress
        self.holder, self.unattended, self.budget = context.holder, context.unattended, TimeBudget()
        self.request, self.hold = request, cast(Hold | None, None)

    def prepare(self, named: Job | None) -> None:
        """Find out what is asked for, before anything is held; `named` is the job that the call names."""

    def plan(self, _last: Job | None) -> C:
        """The cursor of a new job; `_last` is the newest job of these keys."""
        return cast(C, self.cursor_type())

    @abstractmethod
    def has_work(self) -> bool:
        """Whether there is another step."""

    @abstractmethod
    def step(self) -> bool:
        """Do the next step; False when the time ran out in the middle of it."""

    def finish(self) -> bool:
        """End a job that has no step left; False where its cursor says why it is incomplete."""
        return True

    def report(self, job: Job, cursor: C, state: str, *notes: str, ended: str | None = None) -> R:
        warnings: Sequence[str] = cast(Any, cursor).warnings
        return cast(R, JobReport(job, state, cursor, (*warnings, *notes), ended))

    def counts(self) -> dict[str, int]:
        cursor: Any = self.cursor
        return {"processed": cursor.done, "expected": cursor.expected}

    @classmethod
    def continuation(cls, job: Job) -> dict[str, Any]:
        """The call that continues a job, or reports its result: the first one, with the id of the job."""
        return {"tool": cls.tool, "arguments": {**job.request.get("arguments", job.request), "job_id": job.job_id}}

    def run(self, job_id: str | None = None) -> R:
        """Run or resume the job of this request until it is done or the deadline is near.

        With `job_id` that job continues, or its result is returned, and no other is started. Raises `JobNotFound` where
        there is none of this kind, but for a queued call, whose job was removed meanwhile: that is cancelled. Raises
        `Conflict` while a run is just starting, and what the work raises; the job then waits with its cursor.
        """
        jobs, found = self.backends.jobs, None
        if job_id:
            try:
                found = find_job(job_id, self.kind, self.backends)
            except JobNotFound:
                if not self.unattended:
                    raise
                now = self.backends.now()
                gone = Job(job_id, self.kind, "cancelled", now, now)
                return self.report(gone, cast(C, self.cursor_type()), "cancelled", REMOVED)
        self.prepare(found)
        if found and not found.unfinished:
            return self.result(self._read(found))
        keys = (self.kind, self.request["query_key"], self.request.get("term"))
        with leased(f"{self.kind}:{self.request['query_key']}", self.lease_s, self.backends, self.holder) as self.hold:
            last = jobs.latest(*keys)
            if self.hold is None:
                return self._running(last)
            if job_id and not (last and last.unfinished and last.job_id == job_id):
                return self.result(jobs.get(job_id))
            if last and self.again and not self.unattended and self._is_unread(last):
                note = f"this is the result of {last.job_id}, which continued by itself; ask again to {self.again}"
                return self.result(self._read(last), note)
            self.job, self.cursor = self.take_up(last)
            return self._run()

    def take_up(self, last: Job | None) -> tuple[Job, C]:
        """The job to work on: the newest one if it is unfinished and of this request, else a new one."""
        if last and last.unfinished and last.request == self.request:
            return last, self.cursor_of(last)
        cursor, now = self.plan(last), self.backends.now()
        job_id = f"{self.kind}_{instant(now)}_{uuid4().hex[:12]}"
        return Job(job_id, self.kind, "running", now, now, self.request, cursor.to_json()), cursor

    def cursor_of(self, job: Job) -> C:
        return cast(C, self.cursor_type.from_json(job.cursor))

    def result(self, job: Job, *notes: str) -> R:
        """The result of a job that has ended, or that nothing continues."""
        if error := job.progress.get("error"):
            notes = (f"it ended with: {error}", *notes)
        state = STATES.get(job.state, "incomplete")
        return self.report(job, self.cursor_of(job), state, *notes, ended=instant(job.updated))

    def work(self) -> R:
        """Take step after step, each of which is saved, and end the job."""
        while self.has_work():
            if not self.may_go_on() or not self.step():
                return self.continue_later()
            self.save("running")
        is_complete = self.finish()
        self.save("succeeded" if is_complete else "failed")
        return self.report(self.job, self.cursor, "complete" if is_complete else "incomplete")

    def may_go_on(self) -> bool:
        """Whether there is time for another step. Raises `Cancelled` where the job was cancelled meanwhile."""
        if self.backends.jobs.is_cancelled(self.job.job_id):
            raise Cancelled(f"{self.job.job_id} was cancelled")
        return self.budget.allows(self.deadline)

    def renew(self) -> None:
        """Renew the lease. Raises `Conflict` when it was lost, if only for a time: another run is at work, or was, and
        nothing more may be written."""
        if self.backends.leases.acquire(self.job.lease, self.holder, self.lease_s) != self.hold:
            raise Conflict(f"another run took over the {self.what}", job_id=self.job.job_id)

    def save(self, state: str, problem: str | None = None) -> None:
        """Renew the lease, and save the job with its cursor. Whoever asks about the job reads its progress here."""
        self.renew()
        job = self.job
        job.state, job.updated, job.cursor = state, self.backends.now(), self.cursor.to_json()
        job.progress = {**self.counts(), "error": problem, "reported": not self.unattended}
        self.backends.jobs.put(job)

    def continue_later(self, reason: str | None = None, wait_s: float = 0) -> R:
        """Save the job, queue its continuation, due in `wait_s`, and report how far it is."""
        self.save("waiting", reason)
        self.backends.continuations.send(self.continuation(self.job), wait_s)
        later = f"{self.job.job_id} continues by itself; ask again for its result"
        return self.report(self.job, self.cursor, "continues", *filter(None, [reason]), later)

    def _run(self) -> R:
        """Work until it is done, the time is over or a port fails; the job is saved in each case.

        A spent budget is no failure: the job goes on when there is a new one.
        """
        self.save("running")
        try:
            return self.work()
        except DeadlineExceeded:
            return self.continue_later()
        except Cancelled as cancelled:
            return self.report(self.job, self.cursor, "cancelled", str(cancelled))
        except Failure as failure:
            if isinstance(failure, BudgetSpent) and failure.retry_after_s is not None:
                return self.continue_later(f"{failure}; the job goes on then", failure.retry_after_s)
            self.save("waiting" if failure.retryable or self.keeps_waiting else "failed", str(failure))
            failure.details.setdefault("job_id", self.job.job_id)
            raise

    def _running(self, job: Job | None) -> R:
        """Report the job that another call works on."""
        if self.again is None:
            raise Conflict(f"a {self.what} is running; ask again later", retry_after_s=60)
        if job is None or job.state != "running":
            raise Conflict(f"{self.starting}; ask again later", retry_after_s=5)
        return self.report(job, self.cursor_of(job), "running", f"{job.job_id} is still running; nothing was started")

    def _is_unread(self, job: Job) -> bool:
        """Whether a job of this very request ended in the background within `FRESH`, and nobody was told yet."""
        told = job.unfinished or job.progress.get("reported", True) or job.request != self.request
        return not told and abs(self.backends.now() - job.updated) <= FRESH

    def _read(self, job: Job) -> Job:
        """Count the result of a job as read, unless nobody reads the answer of this call."""
        if not self.unattended and not job.progress.get("reported", True):
            job.progress["reported"] = True
            self.backends.jobs.put(job)
        return job


@contextmanager
def leased(name: str, seconds: float, backends: Backends, holder: str = "") -> Iterator[Hold | None]:
    """Hold a lease during this block, and write under that; None is given to it where another holds it."""
    holder = holder or uuid4().hex
    hold = backends.leases.acquire(name, holder, seconds)
    try:
        with holding(hold):
            yield hold
    finally:
        if hold:
            backends.leases.release(name, holder)


def find_job(job_id: str, kind: str, backends: Backends) -> Job:
    """The job of this kind with this id. Raises `JobNotFound` where there is none."""
    try:
        job = backends.jobs.get(job_id)
    except NotFound as missing:
        raise JobNotFound(str(missing)) from None
    if job.kind != kind:
        raise JobNotFound(f"{job_id!r} is a job of another kind: {job.kind}")
    return job


def state_of(job: Job, now: datetime) -> str:
    """The job's state as a report has it.

    A job that is `running` but has been silent for `SILENT` is `interrupted`: its process has ended.
    """
    if job.state == "running" and abs(now - job.updated) > SILENT:
        return "interrupted"
    return STATES.get(job.state, "incomplete" if job.state == "failed" else job.state)


def stall(job_id: str, reason: str, backends: Backends) -> None:
    """Mark a job of any kind as stalled: nothing continues it by itself. One that another run works on is left alone,
    and so is one that does not exist."""
    try:
        lease = backends.jobs.get(job_id).lease
    except NotFound:
        return
    with leased(lease, STALL_LEASE_S, backends) as free:
        if free and (job := backends.jobs.get(job_id)).unfinished:
            job.state, job.progress = "stalled", {**job.progress, "error": reason}
            backends.jobs.put(job)


def cancel(job: Job, action: str, backends: Backends, subject: str | None = None) -> None:
    """Cancel a job of any kind, and log that as `action` of `subject`; whoever works on it ends at its next save."""
    before = {"job_id": job.job_id, "state": job.state}
    backends.audit.record(action, job.request["query_key"], before, "cancelled", subject)
    job.state, job.updated = "cancelled", backends.now()
    backends.jobs.put(job)

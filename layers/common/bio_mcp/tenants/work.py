"""Jobs, leases, queued calls and the log of changes, of one tenant or of all."""

from dataclasses import replace
from typing import Any

from bio_mcp.callers import Caller, as_json
from bio_mcp.errors import NotFound
from bio_mcp.ports.messages import WorkQueue
from bio_mcp.ports.state import Audit, Job, Jobs
from bio_mcp.tenants.names import Names

SHARED_KINDS = frozenset({"sync", "withdrawals", "import"})  # of jobs that are of the corpus, which is everybody's


def stored_work(name: str, names: Names) -> str:
    """The stored form of a kind of jobs, or of a lease, which begins with one."""
    return name if name.partition(":")[0] in SHARED_KINDS else names.stored(name)


class TenantJobs:
    """The port `Jobs`, without jobs of other tenants; those of the corpus are everybody's."""

    def __init__(self, jobs: Jobs, names: Names) -> None:
        self._jobs, self._names = jobs, names

    def get(self, job_id: str) -> Job:
        if job := self._own(self._jobs.get(job_id)):
            return job
        raise NotFound(f"There is no job {job_id!r}")

    def put(self, job: Job) -> None:
        self._jobs.put(self._stored(job))

    def is_cancelled(self, job_id: str) -> bool:
        return self._jobs.is_cancelled(job_id) and self._own(self._jobs.get(job_id)) is not None

    def remove(self, job: Job) -> None:
        self._jobs.remove(self._stored(job))

    def latest(self, kind: str, query_key: str, term: str | None = None) -> Job | None:
        found = self._jobs.latest(stored_work(kind, self._names), query_key, term)
        return self._own(found) if found else None

    def newest(self, kind: str, most: int) -> list[Job]:
        return [own for each in self._jobs.newest(stored_work(kind, self._names), most) if (own := self._own(each))]

    def _stored(self, job: Job) -> Job:
        return replace(job, kind=stored_work(job.kind, self._names))

    def _own(self, job: Job) -> Job | None:
        if job.kind in SHARED_KINDS:
            return job
        kind = self._names.own(job.kind)
        return None if kind is None else replace(job, kind=kind)


class CallersAudit:
    """The port `Audit`; who asked for a change is `caller`, whoever forgets to say so."""

    def __init__(self, audit: Audit, caller: Caller | None) -> None:
        self._audit, self._caller = audit, caller

    def record(self, action: str, subject: str, before: Any, after: Any, caller: str | None = None) -> None:
        asked = caller or (self._caller.subject if self._caller else None)
        self._audit.record(action, subject, before, after, caller=asked)


class CallersQueue:
    """The port `WorkQueue`; what is sent is called on behalf of `caller`."""

    def __init__(self, queue: WorkQueue, caller: Caller | None) -> None:
        self._queue, self._caller = queue, caller

    def send(self, event: dict[str, Any], delay_s: float = 0) -> None:
        """Queue the event, with its caller."""
        self._queue.send({**event, "caller": as_json(self._caller)} if self._caller else event, delay_s)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._queue, name)

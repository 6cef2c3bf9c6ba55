"""Check a long list of references: a job that resumes where it was stopped, and holds what was found so far."""

from dataclasses import asdict, dataclass, field, fields
from hashlib import sha256
from typing import Any
from uuid import uuid4

import rfc8785

from bio_mcp.errors import Conflict, NotFound
from bio_mcp.literature.clock import instant
from bio_mcp.literature.references.works import CitedWork
from bio_mcp.ports.state import Job
from bio_mcp.querying.references.checking import check_references
from bio_mcp.querying.references.verdicts import Checked
from bio_mcp.syncing.jobs import JobRun, Share
from bio_mcp.syncing.reports import STATES

TOOL = "checkBibliography"
KIND = "references"
LEASE_S = 120
SLICE = 40  # references checked together, and in one call without a job


@dataclass(slots=True)
class Cursor:
    """What was found out so far, a row each, and why some of it is unknown."""

    rows: list[dict[str, Any]] = field(default_factory=list)
    reasons: list[str] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        """As the job holds it."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Report:
    """Rows in the order of the references, and how far the job is; `job_id` None where there was no need of one."""

    rows: list[dict[str, Any]]
    reasons: list[str]
    state: str = "complete"
    job_id: str | None = None


def row_of(checked: Checked) -> dict[str, Any]:
    """A verdict as JSON: the reference's place, what was found, and what differs."""
    work, article = checked.work, checked.article
    return {
        "key": work.key,
        "line": work.line,
        "reference": work.shown,
        "verdict": checked.verdict,
        "pmid": (article.pmid or None) if article else None,
        "doi": (article.doi if article else work.doi) or None,
        "title": article.title if article else None,
        "retraction": str(checked.retraction),
        "agrees": list(checked.agrees),
        "differs": [asdict(each) for each in checked.differs],
        "reason": checked.reason,
    }


def continuation(job: Job) -> dict[str, Any]:
    """The call that continues a job, or gives its result."""
    return {"tool": TOOL, "arguments": {"job_id": job.job_id}}


def check_list(works: list[CitedWork], share: Share) -> Report:
    """Check these references: a few at once, more as a job, which an unfinished one of the same list continues."""
    if len(works) <= SLICE:
        checked, reasons = check_references(works, share.backends, share.deadline)
        return Report([row_of(each) for each in checked], reasons)
    request = _request(works)
    last = share.backends.jobs.latest(KIND, request["query_key"])
    now = share.backends.now()
    new = Job(f"{KIND}_{instant(now)}_{uuid4().hex[:6]}", KIND, "running", now, now, request, Cursor().to_json())
    return _run(last if last and last.unfinished else new, share)


def check_all(works: list[CitedWork], share: Share) -> Report:
    """Check these references to the end, without a job: for a caller that waits as long as it takes."""
    rows: list[dict[str, Any]] = []
    reasons: list[str] = []
    for start in range(0, len(works), SLICE):
        checked, partial = check_references(works[start : start + SLICE], share.backends, share.deadline)
        rows += [row_of(each) for each in checked]
        reasons += partial
        share.progress(len(rows), len(works), "references")
    return Report(rows, list(dict.fromkeys(reasons)))


def continued(job_id: str, share: Share) -> Report:
    """Go on with a job, or give the result of one that has ended. Raises `NotFound` for another kind of job."""
    job = share.backends.jobs.get(job_id)
    if job.kind != KIND:
        raise NotFound(f"{job_id} checks no references")
    return _run(job, share) if job.unfinished else _report(job, STATES.get(job.state, "incomplete"))


def _request(works: list[CitedWork]) -> dict[str, Any]:
    stated = [{name: value for name, value in asdict(each).items() if value} for each in works]
    return {"query_key": sha256(rfc8785.dumps(stated)).hexdigest()[:32], "works": stated}


def _works(job: Job) -> list[CitedWork]:
    names = {each.name for each in fields(CitedWork)}
    known = ({name: value for name, value in each.items() if name in names} for each in job.request["works"])
    return [CitedWork(**{**each, "authors": tuple(each.get("authors", ()))}) for each in known]


def _report(job: Job, state: str, *notes: str) -> Report:
    cursor = Cursor(**job.cursor)
    return Report(cursor.rows, [*cursor.reasons, *notes], state, job.job_id)


def _run(job: Job, share: Share) -> Report:
    lease = job.lease
    if not share.backends.leases.acquire(lease, share.holder, LEASE_S):
        if job.progress:
            return _report(job, "running", f"{job.job_id} is still running; ask again for its result")
        raise Conflict("this list is just being checked; ask again later", retry_after_s=5)
    try:
        return _ListCheck(job, share).run()
    finally:
        share.backends.leases.release(lease, share.holder)


class _ListCheck(JobRun[Report]):
    """One call's share of a list."""

    what = "check of these references"
    lease_s = LEASE_S
    cursor: Cursor

    def __init__(self, job: Job, share: Share) -> None:
        super().__init__(share)
        self.job, self.cursor, self.works = job, Cursor(**job.cursor), _works(job)

    def work(self) -> Report:
        """Check slice after slice."""
        while len(self.cursor.rows) < len(self.works):
            self.stop_if_cancelled()
            if not self.budget.allows(self.deadline):
                return self.continue_later()
            self._check_slice()
            self.progress(len(self.cursor.rows), len(self.works), "references")
            self.save("running")
        self.save("succeeded")
        return self.report("complete")

    def _check_slice(self) -> None:
        start = len(self.cursor.rows)
        checked, reasons = check_references(self.works[start : start + SLICE], self.backends, self.deadline)
        self.cursor.rows += [row_of(each) for each in checked]
        self.cursor.reasons = list(dict.fromkeys((*self.cursor.reasons, *reasons)))

    def continue_later(self, reason: str | None = None, wait_s: float = 0) -> Report:
        """Save the job; it goes on when it is asked for again, and needs no queue for that."""
        self.save("waiting", reason)
        after = f" after {wait_s:.0f} seconds" if wait_s else ""
        return self.report(
            "continues", *filter(None, [reason]), f"call again with job_id {self.job.job_id}{after}: it goes on"
        )

    def report(self, state: str, *notes: str) -> Report:
        """The rows so far."""
        return Report(self.cursor.rows, [*self.cursor.reasons, *notes], state, self.job.job_id)

    def counts(self) -> dict[str, int]:
        """References."""
        return {"processed": len(self.cursor.rows), "expected": len(self.works)}

    def continuation(self) -> dict[str, Any]:
        """The same job."""
        return continuation(self.job)

    def save(self, state: str, problem: str | None = None) -> None:
        """Renew the lease and save the job."""
        self.renew()
        super().save(state, problem)

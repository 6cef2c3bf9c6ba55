"""Check a long list of references: a job that resumes where it was stopped, and holds what was found so far."""

from dataclasses import asdict, dataclass, field, fields
from hashlib import sha256
from typing import Any

import rfc8785

from bio_mcp.jobs.runner import Cursor, JobRun, RunContext, find_job
from bio_mcp.literature.records import RetractionStatus
from bio_mcp.literature.references.works import CitedWork
from bio_mcp.ports.state import Job
from bio_mcp.querying.references.checking import Checked, check_references

TOOL = "checkBibliography"
KIND = "references"
SLICE = 40  # references checked together, and in one call without a job


@dataclass(slots=True)
class ReferencesCursor(Cursor):
    """What was found out so far, a row each, and why some of it is unknown."""

    rows: list[dict[str, Any]] = field(default_factory=list)
    reasons: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Report:
    """Rows in the order of the references, and how far the job is: `expected` is how many there will be.

    `job_id` is None where there was no need of one.
    """

    rows: list[dict[str, Any]]
    reasons: list[str]
    state: str = "complete"
    job_id: str | None = None
    expected: int = 0


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
        "retraction": str(article.retraction if article else RetractionStatus.UNKNOWN),
        "agrees": list(checked.agrees),
        "differs": [
            {name: text for name, text in asdict(each).items() if text or name != "words"} for each in checked.differs
        ],
        "reason": checked.reason,
    }


def check_list(works: list[CitedWork], context: RunContext) -> Report:
    """Check these references: a few at once, more as a job, which an unfinished one of the same list continues."""
    if len(works) <= SLICE:
        return check_all(works, context)
    unread = ("abstract", "keywords")  # by which no reference is checked
    stated = [{name: value for name, value in asdict(each).items() if value and name not in unread} for each in works]
    request = {"query_key": sha256(rfc8785.dumps(stated)).hexdigest()[:32], "works": stated}
    return ReferencesRun(context, request).run()


def check_all(works: list[CitedWork], context: RunContext) -> Report:
    """Check these references to the end, without a job: for a caller that waits as long as it takes."""
    rows: list[dict[str, Any]] = []
    reasons: list[str] = []
    for start in range(0, len(works), SLICE):
        checked, partial = check_references(works[start : start + SLICE], context.backends, context.deadline)
        rows += [row_of(each) for each in checked]
        reasons += partial
        context.progress(len(rows), len(works), "references")
    return Report(rows, list(dict.fromkeys(reasons)))


def continued(job_id: str, context: RunContext) -> Report:
    """Go on with a job, or give the result of one that has ended. Raises `NotFound` for another kind of job."""
    return ReferencesRun(context, find_job(job_id, KIND, context.backends).request).run(job_id)


class ReferencesRun(JobRun[ReferencesCursor, Report]):
    """One call's share of a list."""

    kind, tool, lease_s, cursor_type = KIND, TOOL, 120, ReferencesCursor
    what = "check of these references"
    starting = "this list is just being checked"
    again = "check it anew"

    def __init__(self, context: RunContext, request: dict[str, Any]) -> None:
        super().__init__(context, request)
        names = {each.name for each in fields(CitedWork)}
        known = [{name: value for name, value in each.items() if name in names} for each in request["works"]]
        self.works = [CitedWork(**{**each, "authors": tuple(each.get("authors", ()))}) for each in known]

    def has_work(self) -> bool:
        return len(self.cursor.rows) < len(self.works)

    def step(self) -> bool:
        rows = self.cursor.rows
        works = self.works[len(rows) : len(rows) + SLICE]
        checked, reasons = check_references(works, self.backends, self.deadline)
        rows += [row_of(each) for each in checked]
        self.cursor.reasons = list(dict.fromkeys((*self.cursor.reasons, *reasons)))
        self.progress(len(rows), len(self.works), "references")
        return True

    def _running(self, job: Job | None) -> Report:
        """Report what the other call has checked by now."""
        if job is None or not job.progress:
            return super()._running(None)
        note = f"{job.job_id} is still running; ask again for its result"
        return self.report(job, self.cursor_of(job), "running", note)

    def continue_later(self, reason: str | None = None, wait_s: float = 0) -> Report:
        """Save the job; it goes on when it is asked for again, and needs no queue for that."""
        self.save("waiting", reason)
        after = f" after {wait_s:.0f} seconds" if wait_s else ""
        later = f"call again with job_id {self.job.job_id}{after}: it goes on"
        return self.report(self.job, self.cursor, "continues", *filter(None, [reason]), later)

    def report(
        self,
        job: Job,
        cursor: ReferencesCursor,
        state: str,
        *notes: str,
        ended: str | None = None,  # noqa: ARG002  verdicts are as of their time
    ) -> Report:
        return Report(cursor.rows, [*cursor.reasons, *notes], state, job.job_id, len(job.request.get("works", ())))

    def counts(self) -> dict[str, int]:
        """References."""
        return {"processed": len(self.cursor.rows), "expected": len(self.works)}

    @classmethod
    def continuation(cls, job: Job) -> dict[str, Any]:
        return {"tool": TOOL, "arguments": {"job_id": job.job_id}}

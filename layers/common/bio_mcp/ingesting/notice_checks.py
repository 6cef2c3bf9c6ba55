"""Ask for notices about the documents of all projects, of every tenant: a job that goes on where it was stopped."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any
from uuid import uuid4

from bio_mcp.errors import Conflict, UpstreamFailed
from bio_mcp.ingesting.noticing import note, without_pmid
from bio_mcp.literature.clock import instant
from bio_mcp.literature.notices import Notice
from bio_mcp.ports import Backends
from bio_mcp.ports.projects import ProjectDocument
from bio_mcp.ports.state import Job
from bio_mcp.syncing.delta import TOOL
from bio_mcp.syncing.jobs import JobRun, Share, ended_job
from bio_mcp.syncing.reports import STATES, SyncReport
from bio_mcp.tenants import of_all_tenants

KIND = "notices"
QUERY_KEY = "bio-mcp/notices"  # no query of a stack's may have a stroke in its key
TERM = "documents of projects without a PMID"
BATCH = 100  # DOIs between two savings of the job: five requests at Crossref


@dataclass(slots=True)
class NoticeCheck:
    """State of a check, saved in its job.

    `waiting` are the projects that are still to be checked; of the first one the documents up to the DOI `after` are.
    Crossref does not have `unknown` of those that are `checked`.
    """

    waiting: list[str]
    after: str = ""
    checked: int = 0
    changed: int = 0
    unknown: int = 0
    doubts: list[str] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON."""
        return asdict(self)


def check_all_notices(share: Share, job_id: str | None = None) -> SyncReport:
    """Run or resume a check of all projects until it is done or the deadline is near; counts are documents.

    With the `job_id` of one that has ended nothing is done. Raises `Conflict` while another check runs, and the
    failures of its ports; the job then waits for the next call.
    """
    share = replace(share, backends=of_all_tenants(share.backends))
    lease = f"{KIND}:{QUERY_KEY}"
    if not share.backends.leases.acquire(lease, share.holder, _Run.lease_s):
        raise Conflict("a check for notices is running; ask again later", retry_after_s=60)
    try:
        if (ended := ended_job(job_id, share.backends, unattended=share.unattended)) and ended.kind == KIND:
            return _report(ended, STATES.get(ended.state, "incomplete"), ended=instant(ended.updated))
        return _Run(_job(share.backends), share).run()
    finally:
        share.backends.leases.release(lease, share.holder)


class _Run(JobRun[SyncReport]):
    """One call's share of a check."""

    what = "check for notices"
    lease_s = 300
    cursor: NoticeCheck

    def __init__(self, job: Job, share: Share) -> None:
        super().__init__(share)
        self.job, self.cursor = job, NoticeCheck(**job.cursor)

    def work(self) -> SyncReport:
        """Check project after project, batch by batch."""
        cursor = self.cursor
        while cursor.waiting:
            if not self.budget.allows(self.deadline):
                return self.continue_later()
            for part in self._parts(cursor.waiting[0]):
                if not self.budget.allows(self.deadline):
                    return self.continue_later()
                self._note(cursor.waiting[0], part)
                cursor.after = part[-1].work.doi or ""
                self.save("running")
                self.progress(cursor.checked, None, f"{cursor.checked:,} documents")
            cursor.waiting, cursor.after = cursor.waiting[1:], ""
        self.save("failed" if cursor.doubts else "succeeded", *cursor.doubts[:1])
        return self.report("incomplete" if cursor.doubts else "complete")

    def report(self, state: str, *notes: str) -> SyncReport:
        """Report how far the check is."""
        return _report(self.job, state, *notes)

    def counts(self) -> dict[str, int]:
        """Documents; how many there are is known at the end."""
        return {"processed": self.cursor.checked, "expected": self.cursor.checked}

    def continuation(self) -> dict[str, Any]:
        """The same check, by the job's id."""
        return {"tool": TOOL, "arguments": {"query_key": QUERY_KEY, "term": TERM, "job_id": self.job.job_id}}

    def save(self, state: str, problem: str | None = None) -> None:
        """Renew the lease and save the job."""
        self.renew()
        super().save(state, problem)

    def _parts(self, project_id: str) -> Iterator[list[ProjectDocument]]:
        """The documents of a project that are not checked yet, those of one DOI together."""
        of_doi: dict[str, list[ProjectDocument]] = {}
        for each in without_pmid(project_id, self.backends):
            of_doi.setdefault(each.work.doi or "", []).append(each)
        left = [doi for doi in of_doi if doi > self.cursor.after]
        for start in range(0, len(left), BATCH):
            yield [each for doi in left[start : start + BATCH] for each in of_doi[doi]]

    def _note(self, project_id: str, documents: Sequence[ProjectDocument]) -> None:
        """Note what is found. Documents about which Crossref refuses to answer keep no others waiting."""
        try:
            noted = note(project_id, documents, self._known, self.backends)
        except UpstreamFailed as failure:
            if failure.retryable:
                raise
            self.cursor.doubts.append(f"{len(documents)} documents were not checked: {failure}")
            return
        self.cursor.checked += noted.checked
        self.cursor.changed += noted.changed
        self.cursor.unknown += noted.unknown

    def _known(self, dois: Sequence[str]) -> Mapping[str, Sequence[Notice]]:
        works = self.backends.notices.of(dois, deadline=self.deadline)
        return {doi: work.notices for doi, work in works.items()}


def _job(backends: Backends) -> Job:
    """The unfinished check, or a new one."""
    last = backends.jobs.latest(KIND, QUERY_KEY)
    if last and last.unfinished:
        return last
    now, waiting = backends.now(), [each.project_id for each in backends.projects.all()]
    job_id = f"{KIND}_{instant(now)}_{uuid4().hex[:12]}"
    return Job(job_id, KIND, "running", now, now, {"query_key": QUERY_KEY}, NoticeCheck(waiting).to_json())


def _report(job: Job, state: str, *notes: str, ended: str | None = None) -> SyncReport:
    check = NoticeCheck(**job.cursor)
    unknown = [f"documents whose DOIs Crossref does not have, nor notices about them: {check.unknown:,}"]
    return SyncReport(
        job_id=job.job_id,
        state=state,
        inserted=0,
        updated=check.changed,
        skipped=check.checked - check.changed,
        failed=0,
        processed=check.checked,
        expected=check.checked,
        max_edat=None,
        warnings=(*check.doubts, *(unknown if check.unknown else ()), *notes),
        ended=ended,
    )

"""The delta sync (`pubmed.sync_delta`): update the corpus to what PubMed has for a query, and lose nothing on the way.

A run is a job with a cursor, saved after each batch has become durable; the next run resumes one that was killed. The
checkpoint moves last, and only when every record that NCBI counted has been settled. At most one run works on a
query key: it holds a lease and renews it at each step.
"""

import logging
from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from functools import cached_property
from types import MappingProxyType
from typing import Any

from bio_mcp.deadline import Deadline
from bio_mcp.literature.clock import utc
from bio_mcp.literature.records import Article
from bio_mcp.ports import Backends
from bio_mcp.ports.state import Job
from bio_mcp.progress import Progress
from bio_mcp.query_terms import discard_unknown_words
from bio_mcp.syncing import retractions
from bio_mcp.syncing.cursor import MISSING_DAYS, Cursor, first_few
from bio_mcp.syncing.fetching import Fetching
from bio_mcp.syncing.finding import Finding
from bio_mcp.syncing.jobs import JobRun, Share, ended_job
from bio_mcp.syncing.planning import KIND, plan, resume_or_start
from bio_mcp.syncing.reports import (
    SyncReport,
    already_running,
    history,
    report_of,
    result_by_id,
    result_of,
    unread_result,
)
from bio_mcp.syncing.settling import settle
from bio_mcp.syncing.watermarks import draw_back
from bio_mcp.syncing.windows import FIELDS, check_term

log = logging.getLogger(__name__)

TOOL = "pubmed.sync_delta"
LEASE_S = 300
SAVE_S = 5.0  # between two saves of the progress within a batch

NOTHING: Mapping[str, str] = MappingProxyType({})


def lease_name(query_key: str) -> str:
    """Name of the lease that a writer of the query's watermarks holds."""
    return f"{KIND}:{query_key}"


def continuation(job: Job) -> dict[str, Any]:
    """The call that continues a sync, or reports its result."""
    return {"tool": TOOL, "arguments": {**job.request, "job_id": job.job_id}}


def sync_delta(
    query_key: str,
    term: str,
    overlap_days: int,
    backends: Backends,
    deadline: Deadline,
    progress: Progress,
    *,
    known_only: bool = False,
    max_records: int = 0,
    job_id: str | None = None,
    unattended: bool = False,
) -> SyncReport:
    """Run or resume the sync of `query_key` until it is done or the deadline is near.

    With `known_only` papers that match and that the corpus has are updated, whatever the watermark, and those that a
    project has are added; the others count as skipped. A new sync of more than `max_records` is refused; 0: none is.
    With `job_id` that job continues, or its result is returned, and no other is started. A job that ended `unattended`
    stores its result for the next caller.

    Raises `InvalidInput` for a term with open brackets or of too many records, `NcbiQueryRejected` for one that NCBI
    cannot run, `Conflict` when another term of the key is being synced, and the failures of its ports; the job then
    waits with its cursor for the next call. A spent budget is no failure: the job goes on when there is a new one.
    """
    request: dict[str, Any] = {"query_key": query_key, "term": check_term(term), "overlap_days": overlap_days}
    if known_only:
        request["known_only"] = True
    if ended := ended_job(job_id, backends, unattended=unattended):
        return result_of(ended)
    share = Share(backends, deadline, progress, unattended)
    if not backends.leases.acquire(lease_name(query_key), share.holder, LEASE_S):
        return already_running(backends.jobs.latest(KIND, query_key, request["term"]), query_key)
    try:
        last = backends.jobs.latest(KIND, query_key, request["term"])
        if job_id and not (last and last.unfinished and last.job_id == job_id):
            return result_by_id(job_id, backends, unattended)
        if not unattended and (result := unread_result(last, request, backends)):
            return result
        run = _Run(request, share, max_records)
        run.cursor.warn(*([] if unattended else history(last)))
        return run.run()
    finally:
        backends.leases.release(lease_name(query_key), share.holder)


class _Run(JobRun[SyncReport]):
    """One call's share of a sync."""

    lease_s = LEASE_S
    cursor: Cursor

    def __init__(self, request: dict[str, Any], share: Share, max_records: int) -> None:
        super().__init__(share)
        self.request, self.what = request, f"sync of {request['query_key']!r}"
        self.job, self.cursor = resume_or_start(request, self.backends, self.deadline, max_records)

    def work(self) -> SyncReport:
        """Step until all is settled, and move the watermarks."""
        while self._has_work():
            if not self._may_go_on() or not self._step():
                return self.continue_later()
            self.save("running")
        return self._finish()

    def report(self, state: str, *notes: str) -> SyncReport:
        """Report how far the sync is."""
        return report_of(self.job, self.cursor, state, *notes)

    def counts(self) -> dict[str, int]:
        """Records, with those of a batch that is durable in part."""
        return {"processed": self.cursor.processed + len(self.cursor.partial), "expected": self.cursor.total}

    def continuation(self) -> dict[str, Any]:
        """The same sync, by the job's id."""
        return continuation(self.job)

    def _has_work(self) -> bool:
        cursor = self.cursor
        return cursor.done < len(cursor.pmids) or bool(cursor.queue) or cursor.retry_failed()

    def _step(self) -> bool:
        """List a segment or settle a batch. False when time ran out in the middle of a batch."""
        cursor = self.cursor
        if cursor.done < len(cursor.pmids):
            return self._settle_batch(cursor.pmids[cursor.done : cursor.done + cursor.size])
        segment = cursor.queue[0]
        page = self.backends.entrez.esearch(segment.term(self.request["term"]), deadline=self.deadline)
        if page.day and page.day < cursor.end and self._ends_at(page.day):
            return True
        nothing = "PubMed finds nothing by this term, so nothing was synced; check its spelling"
        page = discard_unknown_words(page, lambda: self._found_by_term, nothing)
        cursor.warn(*page.warnings)
        cursor.list_segment(segment, page.count, page.ids, self._unknown(page.ids))
        return True

    @cached_property
    def _fetching(self) -> Fetching:
        return Fetching(self.backends.entrez, self.deadline)

    @cached_property
    def _finding(self) -> Finding:
        return Finding(self.request, self.backends)

    @cached_property
    def _found_by_term(self) -> int:
        return self.backends.entrez.esearch(self.request["term"], deadline=self.deadline, retmax=1).count

    def _ends_at(self, day: date) -> bool:
        """End the run at NCBI's own day, behind which the clock here is ahead. True if its windows were planned again.

        That happens when the watermark is later than that day: the windows would then miss records that were never
        read.
        """
        cursor, ahead = self.cursor, (self.cursor.end - day).days
        cursor.end = day
        if ahead > 1:
            cursor.warn(f"the clock here is {ahead} days ahead of NCBI's; correct it")
        drawn_back = draw_back(self.request, self.backends, day)
        if drawn_back:
            cursor.warn(drawn_back)
            cursor.plan(plan(self.request, self.backends, day).queue)
        return drawn_back is not None

    def _unknown(self, pmids: Sequence[str]) -> set[str]:
        """PMIDs that a `known_only` sync must not fetch; empty for every other sync."""
        if not self.request.get("known_only"):
            return set()
        return set(pmids) - self.backends.documents.heads(pmids).keys() - self._of_projects

    @cached_property
    def _of_projects(self) -> frozenset[str]:
        return retractions.pmids_of_projects(self.backends)

    def _settle_batch(self, batch: list[str]) -> bool:
        """Fetch and settle a batch. False when time ran out; `cursor.partial` then has what is durable."""
        cursor = self.cursor
        records, lost = self._fetching.last_try(batch, cursor) if cursor.last_try else self._fetching.batch(batch)
        if lost and cursor.halve():
            return True
        settled = settle(records, self.backends, before_slice=self._may_go_on)
        changes = {**settled.changes, **cursor.partial}
        returned = {record.pmid: record.edat for record in records if isinstance(record, Article)}
        if returned.keys() - changes.keys():
            cursor.partial = changes
            return False
        self._finding.note([each for each in records if isinstance(each, Article)], changes)
        cursor.settle(batch, changes, lost)
        cursor.note_edat(edat for edat in returned.values() if edat)
        return True

    def _may_go_on(self, in_batch: Mapping[str, str] = NOTHING) -> bool:
        """Renew the lease, report progress, and return whether there is time for another slice.

        Raises `Conflict` when the lease was lost: another run is at work, and nothing more may be written.
        """
        self.renew()
        self.stop_if_cancelled()
        cursor = self.cursor
        done, total = cursor.processed + len(in_batch), cursor.total
        if in_batch and (self.backends.now() - self.job.updated).total_seconds() >= SAVE_S:
            cursor.partial = {**in_batch, **cursor.partial}
            self.save("running")
        self.progress(done, total, f"{done:,} of {total:,} records")
        return self.budget.allows(self.deadline)

    def _finish(self) -> SyncReport:
        """Move the watermarks if every record is settled, and report.

        They move to the day before the run's end, since that day is still open. A `known_only` run moves none, as what
        it skipped was never read.
        """
        cursor, key = self.cursor, self.request["query_key"]
        shortfalls = cursor.shortfalls()
        cursor.warn(*shortfalls)
        if cursor.given_up:
            sentence = (
                f"PubMed lists but has not delivered for {MISSING_DAYS} days, given up: {first_few(cursor.given_up)}"
            )
            cursor.warn(sentence)
            log.warning(sentence, extra={"query_key": key, "job_id": self.job.job_id})
        if not shortfalls and not self.request.get("known_only"):  # what that skipped is still to be read
            settled_day = str(cursor.end - timedelta(days=1))  # today is still open
            newest = min(cursor.max_edat, f"{cursor.end}T23:59") if cursor.max_edat else None
            days = dict.fromkeys(FIELDS, settled_day)
            self._finding.finish()
            self.backends.checkpoints.advance(key, self.request["term"], utc(newest) if newest else None, days)
        self.save("failed" if shortfalls else "succeeded")
        return self.report("incomplete" if shortfalls else "complete")

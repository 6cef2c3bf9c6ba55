"""pubmed.sync_delta: bring the corpus up to what PubMed has for a query, losing nothing on the way.

A run is a job with a cursor, saved after each batch has become durable: a run that is killed anywhere is taken up by
the next one. The checkpoint moves last, and only when every record that NCBI counted has been settled. At most one
run per query key: it holds a lease and renews it at each step.
"""

import logging
from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from functools import cached_property
from types import MappingProxyType
from typing import Any
from uuid import uuid4

from bio_mcp.deadline import Deadline
from bio_mcp.errors import Conflict, DeadlineExceeded, Failure
from bio_mcp.literature.clock import utc
from bio_mcp.literature.records import Article
from bio_mcp.ports import Backends
from bio_mcp.progress import Progress
from bio_mcp.query_terms import discard_unknown_words
from bio_mcp.syncing.cursor import DAYS, named
from bio_mcp.syncing.fetching import Fetching
from bio_mcp.syncing.planning import KIND, plan, take_up
from bio_mcp.syncing.reports import SyncReport, already_running, ended, history, report_of, unreported
from bio_mcp.syncing.settling import settle
from bio_mcp.syncing.time_budget import TimeBudget
from bio_mcp.syncing.watermarks import draw_back
from bio_mcp.syncing.windows import FIELDS, check_term

log = logging.getLogger(__name__)

TOOL = "pubmed.sync_delta"
LEASE_S = 300
SAVE_S = 5.0  # between two looks of others at how far a batch has come

NOTHING: Mapping[str, str] = MappingProxyType({})


def lease_name(query_key: str) -> str:
    """The lease that whoever moves the watermarks of a query holds."""
    return f"{KIND}:{query_key}"


def sync_delta(
    query_key: str,
    term: str,
    overlap_days: int,
    backends: Backends,
    deadline: Deadline,
    progress: Progress,
    *,
    known_only: bool = False,
    job_id: str | None = None,
    unattended: bool = False,
) -> SyncReport:
    """Run, or take up, the sync of `query_key` until it is done or the deadline is near.

    With `known_only` nothing is added: of all that matches, whatever the watermark, the papers that the corpus holds
    are brought up to date, and the others count as skipped. With `job_id` that job goes on, or its result is given,
    and no other is started. A job that ended `unattended` keeps its result for whoever asks next.

    Raises `InvalidInput` for a term whose brackets do not close, `NcbiQueryRejected` for one that NCBI cannot run,
    and the kinds of failure of its ports; the job then waits with its cursor for the next call.
    """
    request: dict[str, Any] = {"query_key": query_key, "term": check_term(term), "overlap_days": overlap_days}
    if known_only:
        request["known_only"] = True
    holder = uuid4().hex
    if not backends.leases.acquire(lease_name(query_key), holder, LEASE_S):
        return already_running(backends.jobs.latest(KIND, query_key, request["term"]), query_key)
    try:
        last = backends.jobs.latest(KIND, query_key, request["term"])
        if job_id and not (last and last.unfinished and last.job_id == job_id):
            return ended(job_id, backends, unattended)
        if not unattended and (result := unreported(last, request, backends)):
            return result
        run = _Run(request, holder, backends, deadline, progress, unattended)
        run.cursor.warn(*([] if unattended else history(last)))
        return run.run()
    finally:
        backends.leases.release(lease_name(query_key), holder)


class _Cancelled(Exception):
    """Somebody cancelled the job."""


class _Run:
    """One call's share of a job."""

    def __init__(
        self,
        request: dict[str, Any],
        holder: str,
        backends: Backends,
        deadline: Deadline,
        progress: Progress,
        unattended: bool,
    ) -> None:
        self.request, self.holder, self.backends, self.unattended = request, holder, backends, unattended
        self.deadline, self.progress, self.pace = deadline, progress, TimeBudget()
        self.job, self.cursor = take_up(request, backends)

    def run(self) -> SyncReport:
        self._save("running")
        try:
            while self._has_work():
                if not self._may_go_on() or not self._step():
                    return self._continue_later()
                self._save("running")
        except DeadlineExceeded:
            return self._continue_later()
        except _Cancelled:
            return report_of(self.job, self.cursor, "cancelled", f"{self.job.job_id} was cancelled")
        except Failure as failure:
            self._save("waiting" if failure.retryable else "failed", str(failure))
            failure.details.setdefault("job_id", self.job.job_id)
            raise
        return self._finish()

    def _has_work(self) -> bool:
        cursor = self.cursor
        return cursor.done < len(cursor.pmids) or bool(cursor.queue) or cursor.retry_failed()

    def _step(self) -> bool:
        """List a segment or settle a batch; False when time ran out in the middle of a batch."""
        cursor = self.cursor
        if cursor.done < len(cursor.pmids):
            return self._settle_batch(cursor.pmids[cursor.done : cursor.done + cursor.size])
        segment = cursor.queue[0]
        page = self.backends.entrez.esearch(segment.term(self.request["term"]), deadline=self.deadline)
        if page.day and page.day < cursor.end and self._ends_at(page.day):
            return True
        nothing = "PubMed finds nothing by this term, so nothing was synced; mind its spelling"
        page = discard_unknown_words(page, lambda: self._found_by_term, nothing)
        cursor.warn(*page.warnings)
        cursor.list_segment(segment, page.count, page.ids, self._left_out(page.ids))
        return True

    @cached_property
    def _fetching(self) -> Fetching:
        return Fetching(self.backends.entrez, self.deadline)

    @cached_property
    def _found_by_term(self) -> int:
        return self.backends.entrez.esearch(self.request["term"], deadline=self.deadline, retmax=1).count

    def _ends_at(self, day: date) -> bool:
        """End the run at NCBI's own day, which the clock here is ahead of; whether its windows had to be planned anew.

        They are when the watermark stands after that day: then they hold less than what was never read.
        """
        cursor, ahead = self.cursor, (self.cursor.end - day).days
        cursor.end = day
        if ahead > 1:
            cursor.warn(f"the clock here is {ahead} days ahead of NCBI's; set it right")
        drawn_back = draw_back(self.request, self.backends, day)
        if drawn_back:
            cursor.warn(drawn_back)
            cursor.plan(plan(self.request, self.backends, day).queue)
        return drawn_back is not None

    def _left_out(self, pmids: Sequence[str]) -> set[str]:
        """Those that are not to be fetched."""
        if not self.request.get("known_only"):
            return set()
        return set(pmids) - self.backends.documents.heads(pmids).keys()

    def _settle_batch(self, batch: list[str]) -> bool:
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
        cursor.settle(batch, changes, lost)
        cursor.saw_edat(edat for edat in returned.values() if edat)
        return True

    def _may_go_on(self, in_batch: Mapping[str, str] = NOTHING) -> bool:
        """Renew the lease, tell who waits, and say whether there is time for one more slice.

        Raises `Conflict` when the lease was lost: somebody else is at work now, and nothing more may be written.
        """
        if not self.backends.leases.acquire(lease_name(self.request["query_key"]), self.holder, LEASE_S):
            raise Conflict(f"another run took over the sync of {self.request['query_key']!r}", job_id=self.job.job_id)
        if self.backends.jobs.is_cancelled(self.job.job_id):
            raise _Cancelled
        cursor = self.cursor
        done, total = cursor.processed + len(in_batch), cursor.total
        if in_batch and (self.backends.now() - self.job.updated).total_seconds() >= SAVE_S:
            cursor.partial = {**in_batch, **cursor.partial}
            self._save("running")
        self.progress(done, total, f"{done:,} of {total:,} records")
        return self.pace.allows(self.deadline)

    def _save(self, state: str, error: str | None = None) -> None:
        job, cursor = self.job, self.cursor
        job.state, job.updated, job.cursor = state, self.backends.now(), cursor.to_json()
        job.progress = {"processed": cursor.processed + len(cursor.partial), "expected": cursor.total}
        job.progress |= {"error": error, "reported": not self.unattended}
        self.backends.jobs.put(job)

    def _continue_later(self) -> SyncReport:
        self._save("waiting")
        arguments = {**self.request, "job_id": self.job.job_id}
        self.backends.continuations.send({"tool": TOOL, "arguments": arguments})
        return report_of(
            self.job, self.cursor, "continues", f"{self.job.job_id} goes on by itself; ask again for its result"
        )

    def _finish(self) -> SyncReport:
        cursor, key = self.cursor, self.request["query_key"]
        shortfalls = cursor.shortfalls()
        cursor.warn(*shortfalls)
        if cursor.given_up:
            told = f"PubMed lists and has not delivered for {DAYS} days, given up: {named(cursor.given_up)}"
            cursor.warn(told)
            log.warning(told, extra={"query_key": key, "job_id": self.job.job_id})
        if not shortfalls and not self.request.get("known_only"):  # what that skipped is still to be read
            settled_day = str(cursor.end - timedelta(days=1))  # today is still open
            newest = min(cursor.max_edat, f"{cursor.end}T23:59") if cursor.max_edat else None
            days = dict.fromkeys(FIELDS, settled_day)
            self.backends.checkpoints.advance(key, self.request["term"], utc(newest) if newest else None, days)
        self._save("failed" if shortfalls else "succeeded")
        return report_of(self.job, cursor, "incomplete" if shortfalls else "complete")

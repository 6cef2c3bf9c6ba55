"""Withdrawals: find papers of the corpus that PubMed has withdrawn.

No search reports a withdrawal, and an outage looks like one. So a paper is deleted only when, on two different days
of NCBI's, ESearch did not find its PMID, ESummary denied that PMID by name, and EFetch returned a control paper asked
for in the same request, but not this one.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from datetime import date
from typing import Any
from uuid import uuid4

from bio_mcp.deadline import Deadline
from bio_mcp.errors import Conflict, DeadlineExceeded, Failure, NcbiUnreadable
from bio_mcp.literature.clock import instant
from bio_mcp.literature.records import Deletion
from bio_mcp.ports import Backends
from bio_mcp.ports.state import Job
from bio_mcp.progress import Progress
from bio_mcp.syncing.cursor import first_few
from bio_mcp.syncing.delta import TOOL
from bio_mcp.syncing.reports import SyncReport
from bio_mcp.syncing.settling import settle
from bio_mcp.syncing.time_budget import TimeBudget

KIND = "withdrawals"
QUERY_KEY = "bio-mcp/withdrawals"  # no query of a stack's may have a stroke in its key
TERM = "papers of the corpus"
BATCH = 199  # with the control paper, what an EFetch takes
MOST_GONE = 10  # papers of a batch; more mean that this NCBI is another than the corpus came from
SHARES = 7  # of the corpus, one of which is checked each night
LEASE_S = 300


@dataclass(slots=True)
class WithdrawalCheck:
    """State of a check, saved in its job.

    `pmids[done:]` are to be checked. `suspects` maps PMIDs that were gone to the first such day at NCBI. `doubts` are
    warnings.
    """

    share: int
    pmids: list[str]
    done: int = 0
    suspects: dict[str, str] = field(default_factory=dict)
    deleted: list[str] = field(default_factory=list)
    doubts: list[str] = field(default_factory=list)

    def warn(self, sentence: str) -> None:
        """Add a warning, once."""
        self.doubts = list(dict.fromkeys([*self.doubts, sentence]))

    def warnings(self) -> list[str]:
        """Warnings for the report: doubts, deleted papers and suspects."""
        sentences = list(self.doubts)
        if self.deleted:
            sentences.append(
                f"PubMed withdrew {len(self.deleted)} papers, which were deleted: {first_few(self.deleted)}"
            )
        if self.suspects:
            sentences.append(
                f"PubMed no longer has {len(self.suspects)} papers; they are deleted if a check on another day "
                f"confirms it: {first_few(self.suspects)}"
            )
        return sentences


def check_withdrawals(backends: Backends, deadline: Deadline, progress: Progress, *, whole: bool) -> SyncReport:
    """Run or resume a check of the whole corpus, or of its next seventh, until it is done or the deadline is near.

    Raises `Conflict` while another check runs, and the failures of its ports; the job then waits for the next call.
    """
    lease, holder = f"{KIND}:{QUERY_KEY}", uuid4().hex
    if not backends.leases.acquire(lease, holder, LEASE_S):
        raise Conflict("a check for withdrawn papers is running; ask again later", retry_after_s=60)

    def may_go_on() -> bool:
        return backends.leases.acquire(lease, holder, LEASE_S)

    try:
        return _Run(backends, deadline, progress, may_go_on, whole).run()
    finally:
        backends.leases.release(lease, holder)


def queue(backends: Backends) -> None:
    """Queue a check of the next share, or the continuation of one that waits."""
    backends.continuations.send({"tool": TOOL, "arguments": {"query_key": QUERY_KEY, "term": TERM}})


class _Run:
    """One call's share of a check."""

    def __init__(
        self, backends: Backends, deadline: Deadline, progress: Progress, may_go_on: Callable[[], bool], whole: bool
    ) -> None:
        self.backends, self.deadline, self.progress, self.may_go_on = backends, deadline, progress, may_go_on
        self.budget = TimeBudget()
        self.job, self.check = _take_up(backends, whole)

    def run(self) -> SyncReport:
        """Check batches until the share or the time ends; the job is saved in each case."""
        check = self.check
        try:
            while check.done < len(check.pmids):
                self._save("running")
                self.progress(check.done, len(check.pmids), f"{check.done:,} of {len(check.pmids):,} papers")
                if not self.budget.allows(self.deadline):
                    return self._continue_later()
                self._batch(check.pmids[check.done : check.done + BATCH])
        except DeadlineExceeded:
            return self._continue_later()
        except Failure:
            self._save("waiting")
            raise
        return self._report("complete")

    def _continue_later(self) -> SyncReport:
        report = self._report("continues")
        queue(self.backends)
        return report

    def _batch(self, pmids: Sequence[str]) -> None:
        """Check a batch: delete papers that were gone on an earlier day too, and note the others as suspects.

        A suspect that PubMed has again is cleared.
        """
        gone, day = self._gone(pmids)
        if not self.may_go_on():
            raise Conflict("another run took over the check for withdrawn papers")
        suspects = self.check.suspects
        confirmed = [pmid for pmid in gone if suspects.get(pmid, str(day)) < str(day)]
        settle([Deletion(pmid) for pmid in confirmed], self.backends)
        self.check.deleted += confirmed
        for pmid in pmids:
            if pmid in confirmed or pmid not in gone:
                suspects.pop(pmid, None)
            else:
                suspects.setdefault(pmid, str(day))
        self.check.done += len(pmids)

    def _gone(self, pmids: Sequence[str]) -> tuple[set[str], date]:
        """Those of `pmids` that all three utilities deny, and NCBI's day of the answer.

        Raises `NcbiUnreadable` when NCBI does not return the control paper, which it has just found. More than
        `MOST_GONE` are not believed: none is returned, and a warning is added.
        """
        entrez, deadline = self.backends.entrez, self.deadline
        page = entrez.esearch(" OR ".join(f"{pmid}[uid]" for pmid in pmids), deadline=deadline)
        day = page.day or self.backends.today()
        if not (unlisted := [pmid for pmid in pmids if pmid not in page.ids]):
            return set(), day
        control = next(iter(page.ids or entrez.esearch("all[sb]", retmax=1, deadline=deadline).ids), None)
        if control is None:
            raise NcbiUnreadable("NCBI finds no paper at all; try again")
        summaries = entrez.esummary([control, *unlisted], deadline=deadline)
        denied = set(unlisted) & summaries.denied
        if control in summaries.missing:
            raise NcbiUnreadable("NCBI does not know a paper that it has just found; try again")
        returned = {record.pmid for record in entrez.efetch([control, *sorted(denied)], deadline=deadline)}
        if control not in returned:
            raise NcbiUnreadable("NCBI did not return a paper that it has just found; try again")
        gone = denied - returned
        if len(gone) > MOST_GONE:
            self.check.warn(f"PubMed knows none of {len(gone)} papers of {len(pmids)}: too many to believe, all stay")
            return set(), day
        return gone, day

    def _save(self, state: str) -> None:
        self.job.state, self.job.updated, self.job.cursor = state, self.backends.now(), asdict(self.check)
        self.job.progress = {"processed": self.check.done, "expected": len(self.check.pmids)}
        self.backends.jobs.put(self.job)

    def _report(self, state: str) -> SyncReport:
        """Save the job and report; deleted papers do not count as skipped."""
        check = self.check
        self._save("succeeded" if state == "complete" else "waiting")
        return SyncReport(
            job_id=self.job.job_id,
            state=state,
            inserted=0,
            updated=0,
            skipped=check.done - len(check.deleted),
            failed=0,
            processed=check.done,
            expected=len(check.pmids),
            max_edat=None,
            warnings=tuple(check.warnings()),
        )


def _take_up(backends: Backends, whole: bool) -> tuple[Job, WithdrawalCheck]:
    """The unfinished check, or the next one; it begins with the suspects of the last."""
    last = backends.jobs.latest(KIND, QUERY_KEY)
    before = WithdrawalCheck(**last.cursor) if last else WithdrawalCheck(SHARES - 1, [])
    if last and last.unfinished:
        return last, before
    share = (before.share + 1) % SHARES
    stored = sorted((pmid for pmid in backends.documents.pmids() if whole or int(pmid) % SHARES == share), key=int)
    known = backends.documents.heads(list(before.suspects))
    suspects = {pmid: day for pmid, day in before.suspects.items() if pmid in known}
    check = WithdrawalCheck(share, list(dict.fromkeys([*suspects, *stored])), suspects=suspects)
    now: Any = backends.now()
    job = Job(f"{KIND}_{instant(now)}_{uuid4().hex[:6]}", KIND, "running", now, now, {"query_key": QUERY_KEY})
    return job, check

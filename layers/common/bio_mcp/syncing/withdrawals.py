"""Papers that PubMed withdrew: which of those that the corpus holds are gone, looked for in batches.

No search tells of a withdrawal, and an outage looks like one. A paper goes when, on two different days of NCBI's, no
search found its PMID, ESummary said of that PMID by name that there is none, and EFetch returned another paper
beside which it was asked for, but not this one.
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
from bio_mcp.syncing.cursor import named
from bio_mcp.syncing.delta import TOOL
from bio_mcp.syncing.reports import SyncReport
from bio_mcp.syncing.settling import settle
from bio_mcp.syncing.time_budget import TimeBudget

KIND = "withdrawals"
QUERY_KEY = "bio-mcp/withdrawals"  # no query of a stack's may have a stroke in its key
TERM = "papers of the corpus"
BATCH = 199  # and one that is there, make what an EFetch takes
BELIEVED = 10  # papers of a batch that may be gone; more, and another NCBI is asked than the corpus came from
SHARES = 7  # of the corpus, one of which is looked at each night
LEASE_S = 300


@dataclass(slots=True)
class Look:
    """Where a look stands. `pmids[done:]` are to be looked at; `suspects`: PMIDs that were gone -> the first day."""

    share: int
    pmids: list[str]
    done: int = 0
    suspects: dict[str, str] = field(default_factory=dict)
    deleted: list[str] = field(default_factory=list)
    doubts: list[str] = field(default_factory=list)

    def warn(self, sentence: str) -> None:
        self.doubts = list(dict.fromkeys([*self.doubts, sentence]))

    def warnings(self) -> list[str]:
        found = list(self.doubts)
        if self.deleted:
            found.append(f"PubMed withdrew {len(self.deleted)} papers, which were deleted: {named(self.deleted)}")
        if self.suspects:
            found.append(
                f"PubMed has {len(self.suspects)} papers no more; they go when a look on another day says so too: "
                f"{named(self.suspects)}"
            )
        return found


def look_for_withdrawn(backends: Backends, deadline: Deadline, progress: Progress, *, whole: bool) -> SyncReport:
    """Look, or take up a look, at the whole corpus or at its next seventh, until it is done or the deadline is near.

    Raises the kinds of failure of its ports; the job then waits for the next call.
    """
    lease, holder = f"{KIND}:{QUERY_KEY}", uuid4().hex
    if not backends.leases.acquire(lease, holder, LEASE_S):
        raise Conflict("papers that were withdrawn are being looked for; ask again later", retry_after_s=60)

    def may_go_on() -> bool:
        return backends.leases.acquire(lease, holder, LEASE_S)

    try:
        return _Run(backends, deadline, progress, may_go_on, whole).run()
    finally:
        backends.leases.release(lease, holder)


def queue(backends: Backends) -> None:
    """Have the next share looked at, or the look that waits gone on with."""
    backends.continuations.send({"tool": TOOL, "arguments": {"query_key": QUERY_KEY, "term": TERM}})


class _Run:
    """One call's share of a look."""

    def __init__(
        self, backends: Backends, deadline: Deadline, progress: Progress, may_go_on: Callable[[], bool], whole: bool
    ) -> None:
        self.backends, self.deadline, self.progress, self.may_go_on = backends, deadline, progress, may_go_on
        self.pace = TimeBudget()
        self.job, self.look = _take_up(backends, whole)

    def run(self) -> SyncReport:
        look = self.look
        try:
            while look.done < len(look.pmids):
                self._save("running")
                self.progress(look.done, len(look.pmids), f"{look.done:,} of {len(look.pmids):,} papers")
                if not self.pace.allows(self.deadline):
                    return self._continue_later()
                self._batch(look.pmids[look.done : look.done + BATCH])
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
        gone, day = self._gone(pmids)
        if not self.may_go_on():
            raise Conflict("another run took over the look for papers that were withdrawn")
        suspects = self.look.suspects
        over = [pmid for pmid in gone if suspects.get(pmid, str(day)) < str(day)]
        settle([Deletion(pmid) for pmid in over], self.backends)
        self.look.deleted += over
        for pmid in pmids:
            if pmid in over or pmid not in gone:
                suspects.pop(pmid, None)
            else:
                suspects.setdefault(pmid, str(day))
        self.look.done += len(pmids)

    def _gone(self, pmids: Sequence[str]) -> tuple[set[str], date]:
        """Those of `pmids` that PubMed says by all its utilities to have no more, and the day it said so."""
        entrez, deadline = self.backends.entrez, self.deadline
        page = entrez.esearch(" OR ".join(f"{pmid}[uid]" for pmid in pmids), deadline=deadline)
        day = page.day or self.backends.today()
        if not (unfound := [pmid for pmid in pmids if pmid not in page.ids]):
            return set(), day
        there = next(iter(page.ids or entrez.esearch("all[sb]", retmax=1, deadline=deadline).ids), None)
        if there is None:
            raise NcbiUnreadable("NCBI finds no paper at all; try again")
        summaries = entrez.esummary([there, *unfound], deadline=deadline)
        denied = set(unfound) & summaries.denied
        if there in summaries.missing:
            raise NcbiUnreadable("NCBI does not know a paper that it has just found; try again")
        returned = {record.pmid for record in entrez.efetch([there, *sorted(denied)], deadline=deadline)}
        if there not in returned:
            raise NcbiUnreadable("NCBI did not return a paper that it has just found; try again")
        gone = denied - returned
        if len(gone) > BELIEVED:
            self.look.warn(f"PubMed knows none of {len(gone)} papers of {len(pmids)}: too many to believe, all stay")
            return set(), day
        return gone, day

    def _save(self, state: str) -> None:
        self.job.state, self.job.updated, self.job.cursor = state, self.backends.now(), asdict(self.look)
        self.job.progress = {"processed": self.look.done, "expected": len(self.look.pmids)}
        self.backends.jobs.put(self.job)

    def _report(self, state: str) -> SyncReport:
        look = self.look
        self._save("succeeded" if state == "complete" else "waiting")
        return SyncReport(
            job_id=self.job.job_id,
            state=state,
            inserted=0,
            updated=0,
            skipped=look.done - len(look.deleted),
            failed=0,
            processed=look.done,
            expected=len(look.pmids),
            max_edat=None,
            warnings=tuple(look.warnings()),
        )


def _take_up(backends: Backends, whole: bool) -> tuple[Job, Look]:
    """The unfinished look, or the next one, which begins with what was suspected before."""
    last = backends.jobs.latest(KIND, QUERY_KEY)
    before = Look(**last.cursor) if last else Look(SHARES - 1, [])
    if last and last.unfinished:
        return last, before
    share = (before.share + 1) % SHARES
    held = sorted((pmid for pmid in backends.documents.pmids() if whole or int(pmid) % SHARES == share), key=int)
    known = backends.documents.heads(list(before.suspects))
    suspects = {pmid: day for pmid, day in before.suspects.items() if pmid in known}
    look = Look(share, list(dict.fromkeys([*suspects, *held])), suspects=suspects)
    now: Any = backends.now()
    job = Job(f"{KIND}_{instant(now)}_{uuid4().hex[:6]}", KIND, "running", now, now, {"query_key": QUERY_KEY})
    return job, look

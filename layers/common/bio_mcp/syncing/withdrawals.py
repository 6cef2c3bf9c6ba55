"""Withdrawals: find papers of the corpus that PubMed has withdrawn.

No search reports a withdrawal, and an outage looks like one. So a paper is deleted only when, on two different days
of NCBI's, ESearch did not find its PMID, ESummary denied that PMID by name, and EFetch returned a control paper asked
for in the same request, but not this one.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from bio_mcp.deadline import Deadline, Progress
from bio_mcp.errors import NcbiUnreadable
from bio_mcp.jobs.runner import Cursor, RunContext
from bio_mcp.literature.records import Deletion
from bio_mcp.ports import Backends
from bio_mcp.ports.state import Job
from bio_mcp.syncing.applying import apply_records
from bio_mcp.syncing.cursor import TOOL, CorpusRun, SyncReport, first_few

KIND = "withdrawals"
QUERY_KEY = "bio-mcp/withdrawals"  # no query of a stack's may have a stroke in its key
TERM = "papers of the corpus"
BATCH = 199  # with the control paper, what an EFetch takes
MOST_GONE = 10  # papers of a batch; more mean that this NCBI is another than the corpus came from
SHARES = 7  # of the corpus, one of which is checked each night
CALL = {"tool": TOOL, "arguments": {"query_key": QUERY_KEY, "term": TERM}}
"""Checks the next share, or continues a check that waits."""


@dataclass(slots=True)
class WithdrawalCursor(Cursor):
    """How far a check is. `pmids[done:]` are to be checked. `suspects` maps PMIDs that were gone to the first such day
    at NCBI. `doubts` are warnings."""

    share: int = SHARES - 1
    pmids: list[str] = field(default_factory=list)
    done: int = 0
    suspects: dict[str, str] = field(default_factory=dict)
    deleted: list[str] = field(default_factory=list)
    doubts: list[str] = field(default_factory=list)

    def warnings(self) -> list[str]:
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
    return _Check(RunContext(backends, deadline, progress), whole).run()


class _Check(CorpusRun[WithdrawalCursor]):
    kind, cursor_type = KIND, WithdrawalCursor
    what, keeps_waiting = "check for withdrawn papers", True

    def __init__(self, context: RunContext, whole: bool) -> None:
        super().__init__(context, {"query_key": QUERY_KEY})
        self.whole = whole

    def plan(self, last: Job | None) -> WithdrawalCursor:
        """The next share, after the suspects of the last check."""
        before = self.cursor_of(last) if last else WithdrawalCursor()
        share = (before.share + 1) % SHARES
        pmids = self.backends.documents.pmids()
        stored = sorted((pmid for pmid in pmids if self.whole or int(pmid) % SHARES == share), key=int)
        known = self.backends.documents.heads(list(before.suspects))
        suspects = {pmid: day for pmid, day in before.suspects.items() if pmid in known}
        return WithdrawalCursor(share, list(dict.fromkeys([*suspects, *stored])), suspects=suspects)

    def has_work(self) -> bool:
        return self.cursor.done < len(self.cursor.pmids)

    def step(self) -> bool:
        """Check a batch: delete papers that were gone on an earlier day too, and note the others as suspects.

        A suspect that PubMed has again is cleared.
        """
        cursor = self.cursor
        self.progress(cursor.done, len(cursor.pmids), f"{cursor.done:,} of {len(cursor.pmids):,} papers")
        pmids = cursor.pmids[cursor.done : cursor.done + BATCH]
        gone, day = self._gone(pmids)
        self.renew()
        suspects = cursor.suspects
        suspects.update({pmid: min(first, str(day)) for pmid, first in suspects.items()})  # none is of a day to come
        confirmed = [pmid for pmid in gone if suspects.get(pmid, str(day)) < str(day)]
        apply_records([Deletion(pmid) for pmid in confirmed], self.backends)
        cursor.deleted += confirmed
        for pmid in pmids:
            if pmid in confirmed or pmid not in gone:
                suspects.pop(pmid, None)
            else:
                suspects.setdefault(pmid, str(day))
        cursor.done += len(pmids)
        return True

    def report(
        self, job: Job, cursor: WithdrawalCursor, state: str, *notes: str, ended: str | None = None
    ) -> SyncReport:
        """Deleted papers do not count as skipped."""
        return SyncReport(
            job.job_id,
            state,
            skipped=cursor.done - len(cursor.deleted),
            processed=cursor.done,
            expected=len(cursor.pmids),
            warnings=(*cursor.warnings(), *notes),
            ended=ended,
        )

    @classmethod
    def continuation(cls, _job: Job) -> dict[str, Any]:
        return CALL

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
            doubt = f"PubMed knows none of {len(gone)} papers of {len(pmids)}: too many to believe, all stay"
            self.cursor.doubts = list(dict.fromkeys([*self.cursor.doubts, doubt]))
            return set(), day
        return gone, day

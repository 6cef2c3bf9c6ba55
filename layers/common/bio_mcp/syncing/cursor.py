"""How far a sync is: enough to resume after a kill at any point, and small enough to save after each batch."""

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import Any, Self

from bio_mcp.jobs.runner import C, Cursor, JobRun
from bio_mcp.ports.ncbi import LISTABLE
from bio_mcp.syncing.applying import Change
from bio_mcp.syncing.windows import Segment

TOOL = "pubmed.sync_delta"
LEASE_S = 300
BATCH = 200  # records that an EFetch returns reliably
MISSING_DAYS = 7  # a PMID that is listed but not returned holds the watermark, and is fetched again, for so long
LAST_PATIENCE = 12  # requests in a row that may fail on the last try: one bad record among 200 takes nine
NAMED = 10  # PMIDs at most in a warning


@dataclass(slots=True)
class SyncCursor(Cursor):
    """How far a sync is.

    `end`: the last day of every window. `first`: nothing was synced under the key before. `queue`: segments still to be
    listed, oldest days first. `pmids[done:]`: listed and still to be fetched. `partial`: PMID -> change, for a batch
    that stopped half-way. `counts`: settled records by change. `expected` and `listed`: records that NCBI counted and
    listed, by window. `missing`: PMIDs listed but not returned -> the day they were first missed; `absent` are those of
    this run. `failed`: PMIDs whose fetch failed; they are tried once more at the end (`last_try`), `size` at a time,
    and given up after `LAST_PATIENCE` consecutive `failures`. `outages`: how often the last try was broken off.
    """

    end: date = date.min
    first: bool = False
    queue: list[Segment] = field(default_factory=list)
    pmids: list[str] = field(default_factory=list)
    done: int = 0
    partial: dict[str, str] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=lambda: {change.value: 0 for change in Change})
    expected: dict[str, int] = field(default_factory=dict)
    listed: dict[str, int] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)
    absent: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    last_try: bool = False
    size: int = BATCH
    failures: int = 0
    outages: int = 0
    max_edat: str | None = None
    warnings: list[str] = field(default_factory=list)

    @property
    def processed(self) -> int:
        return sum(self.counts.values()) + len(self.failed)

    @property
    def total(self) -> int:
        """Records that the run expects to process, as far as NCBI has been asked."""
        return max(sum(self.expected.values()), self.processed)

    def warn(self, *sentences: str) -> None:
        """Add warnings to the run's report, each once."""
        self.warnings.extend(sentence for sentence in sentences if sentence not in self.warnings)

    def ask_again(self, missing: Mapping[str, str]) -> None:
        """Take over an earlier run's missing PMIDs; those that are not given up are fetched first."""
        self.missing = dict(missing)
        self.pmids = [pmid for pmid in missing if not self._is_over(pmid)]

    def list_segment(
        self, segment: Segment, count: int, pmids: Sequence[str], left_out: Set[str] = frozenset()
    ) -> None:
        """Record ESearch's answer for the segment at the head of the queue; PMIDs in `left_out` count as skipped.

        A segment of more than `LISTABLE` records is replaced by its two halves, and nothing of it is fetched yet.
        """
        self.queue.pop(0)
        self.expected.setdefault(segment.window, count)
        if count > LISTABLE:
            self.queue[:0] = segment.split()
            return
        self.pmids, self.done = sorted(set(pmids) - left_out, key=int), 0
        self.counts[Change.SKIPPED] += len(left_out)
        self.listed[segment.window] = self.listed.get(segment.window, 0) + len(pmids)

    def pass_batch(self, batch: Iterable[str], changes: Mapping[str, str], lost: Iterable[str]) -> None:
        """Count a finished batch and move past it.

        PMIDs in `lost` could not be fetched. Others without a change were not returned: PubMed lists them and lacks
        them.
        """
        failed = set(lost)
        for pmid in batch:
            self.done += 1
            if pmid in changes:
                self.counts[changes[pmid]] += 1
                self.missing.pop(pmid, None)
            elif pmid in failed:
                self.failed.append(pmid)
            else:
                self.missing.setdefault(pmid, str(self.end))
                self.absent.append(pmid)
        self.partial = {}
        self.size = min(BATCH, 2 * self.size)

    def halve(self) -> bool:
        """On the last try, halve the batch size. False when it is 1 already, or NCBI seems to be down."""
        size = min(self.size, len(self.pmids) - self.done)
        if not self.last_try or size == 1 or self.ncbi_is_down:
            return False
        self.size = size // 2
        return True

    def break_off(self) -> bool:
        """Restart the last try at the next call, as NCBI seems to be down. False when that was done before."""
        if not self.ncbi_is_down or self.outages:
            return False
        self.pmids, self.failed = [*self.pmids[self.done :], *self.failed], []
        self.done, self.size, self.failures, self.outages = 0, BATCH, 0, 1
        return True

    @property
    def ncbi_is_down(self) -> bool:
        """Whether `LAST_PATIENCE` requests failed in a row on the last try, so that the rest is not tried."""
        return self.failures >= LAST_PATIENCE

    def undelivered(self) -> tuple[list[str], list[str]]:
        """PMIDs that were not returned in this run: those that the watermark waits for, and those that it no longer
        waits for, as they were missing for `MISSING_DAYS`.

        None of the latter while the run has settled nothing: then NCBI may be at fault, not the records.
        """
        outstanding = sorted({pmid for pmid in self.absent if pmid in self.missing}, key=int)
        given_up = [pmid for pmid in outstanding if self._is_over(pmid)] if any(self.counts.values()) else []
        return [pmid for pmid in outstanding if pmid not in given_up], given_up

    def _is_over(self, pmid: str) -> bool:
        return date.fromisoformat(self.missing[pmid]) <= self.end - timedelta(days=MISSING_DAYS)

    def retry_failed(self) -> bool:
        """Queue the failed PMIDs for their last try. False when there is nothing to retry."""
        if self.last_try or not self.failed:
            return False
        self.pmids, self.done, self.failed, self.last_try = self.failed, 0, [], True
        self.size, self.failures = BATCH, 0
        return True

    def shortfalls(self) -> list[str]:
        """Reasons why the watermark must not move, as sentences; empty when every counted record is settled."""
        sentences = [
            f"{self.expected[window] - self.listed.get(window, 0)} records of the {window} window were counted but not "
            "listed; the next run asks again"
            for window in self.expected
            if self.listed.get(window, 0) < self.expected[window]
        ]
        if self.failed:
            sentences.append(
                f"{len(self.failed)} records could not be fetched; the next run asks again: {first_few(self.failed)}"
            )
        if waited_for := self.undelivered()[0]:
            sentences.append(
                f"{len(waited_for)} records are listed by PubMed but not delivered; the next run asks again: "
                f"{first_few(waited_for)}"
            )
        return sentences

    def to_json(self) -> dict[str, Any]:
        queue = [segment.to_json() for segment in self.queue]
        return {**Cursor.to_json(self), "end": str(self.end), "queue": queue}

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> Self:
        queue = [Segment.from_json(each) for each in stored["queue"]]
        return cls(**{**stored, "end": date.fromisoformat(stored["end"]), "queue": queue})


@dataclass(frozen=True, slots=True)
class SyncReport:
    """Result or progress of a sync or a check of the corpus. `state` and `ended` are as of a `JobReport`; `incomplete`:
    the watermark did not move."""

    job_id: str
    state: str
    inserted: int = 0
    updated: int = 0
    skipped: int = 0
    failed: int = 0
    processed: int = 0
    expected: int = 0
    max_edat: str | None = None
    warnings: tuple[str, ...] = ()
    ended: str | None = None


class CorpusRun(JobRun[C, SyncReport]):
    """A sync or a check, which counts what its report says."""

    tool, lease_s = TOOL, LEASE_S

    def counts(self) -> dict[str, int]:
        report = self.report(self.job, self.cursor, self.job.state)
        return {"processed": report.processed, "expected": report.expected}


def first_few(names: Iterable[str], most: int = NAMED) -> str:
    """The first names as a list in words, and how many more there are."""
    listed = list(names)
    more = f" and {len(listed) - most} more" if len(listed) > most else ""
    return ", ".join(listed[:most]) + more

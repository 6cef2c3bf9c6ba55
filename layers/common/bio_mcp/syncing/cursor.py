"""Where a sync stands: enough to go on after a kill anywhere, small enough to save after each batch."""

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, fields
from datetime import date, timedelta
from typing import Any, Self

from bio_mcp.ports.pubmed import LISTABLE
from bio_mcp.syncing.revisions import Change
from bio_mcp.syncing.windows import Segment

BATCH = 200  # records that an EFetch returns reliably
DAYS = 7  # for which a PMID that PubMed lists but does not return holds the watermark and is asked for again
LAST_PATIENCE = 12  # requests in a row that may fail on the last try: one bad record among 200 takes nine
NAMED = 10  # PMIDs that a warning names


@dataclass(slots=True)
class Cursor:
    """The state of one run.

    `queue`: segments still to be listed, oldest days first. `pmids[done:]`: listed, still to be fetched.
    `partial`: what became of the records of a batch that was left half-way. `expected` and `listed`: records that
    NCBI counted and listed, by window. `missing`: PMIDs listed but not returned -> the day they were first missed;
    `absent` are those of this run. `failed`: PMIDs whose fetch failed; they are tried once more at the end
    (`last_try`), `size` at a time, after so many `failures` in a row; `outages`: how often that was broken off.
    """

    end: date
    queue: list[Segment]
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
        """Records that the run expects to process, as far as it has asked."""
        return max(sum(self.expected.values()), self.processed)

    def warn(self, *sentences: str) -> None:
        self.warnings.extend(sentence for sentence in sentences if sentence not in self.warnings)

    def plan(self, queue: list[Segment]) -> None:
        """Begin anew with these windows; what was settled stays settled."""
        self.queue, self.expected, self.listed = queue, {}, {}

    def ask_again(self, missing: Mapping[str, str]) -> None:
        """Take over what an earlier run missed: what was not given up is fetched first."""
        self.missing = dict(missing)
        self.pmids = [pmid for pmid in missing if not self._is_over(pmid)]

    def list_segment(
        self, segment: Segment, count: int, pmids: Sequence[str], left_out: Set[str] = frozenset()
    ) -> None:
        """Take in ESearch's answer for the segment at the head of the queue; those `left_out` count as skipped."""
        self.queue.pop(0)
        self.expected.setdefault(segment.window, count)
        if count > LISTABLE:
            self.queue[:0] = segment.split()
            return
        self.pmids, self.done = sorted(set(pmids) - left_out, key=int), 0
        self.counts[Change.SKIPPED] += len(left_out)
        self.listed[segment.window] = self.listed.get(segment.window, 0) + len(pmids)

    def settle(self, batch: Iterable[str], changes: Mapping[str, str], lost: Iterable[str]) -> None:
        """Count a batch that is done. `lost` could not be fetched; others without a change were not returned."""
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
        """On the last try, ask for half as many from now on; False when it is one already, or NCBI seems to be down."""
        size = min(self.size, len(self.pmids) - self.done)
        if not self.last_try or size == 1 or self.ncbi_is_down:
            return False
        self.size = size // 2
        return True

    def break_off(self) -> bool:
        """Begin the last try anew at the next call, as NCBI seems to be down; False when that was done before."""
        if not self.ncbi_is_down or self.outages:
            return False
        self.pmids, self.failed = [*self.pmids[self.done :], *self.failed], []
        self.done, self.size, self.failures, self.outages = 0, BATCH, 0, 1
        return True

    @property
    def ncbi_is_down(self) -> bool:
        """Whether so much failed on the last try that the rest is not asked for."""
        return self.failures >= LAST_PATIENCE

    @property
    def given_up(self) -> list[str]:
        """What was not returned for so many days that the watermark waits no longer, though others were returned."""
        if not any(self.counts.values()):
            return []
        return [pmid for pmid in self._outstanding if self._is_over(pmid)]

    @property
    def _outstanding(self) -> list[str]:
        """What was not returned in this run."""
        return sorted({pmid for pmid in self.absent if pmid in self.missing}, key=int)

    def _is_over(self, pmid: str) -> bool:
        return date.fromisoformat(self.missing[pmid]) <= self.end - timedelta(days=DAYS)

    def saw_edat(self, edats: Iterable[str]) -> None:
        self.max_edat = max((*edats, *filter(None, [self.max_edat])), default=None)

    def retry_failed(self) -> bool:
        """Queue what failed for its last try; False when there is nothing to try again."""
        if self.last_try or not self.failed:
            return False
        self.pmids, self.done, self.failed, self.last_try = self.failed, 0, [], True
        self.size, self.failures = BATCH, 0
        return True

    def shortfalls(self) -> list[str]:
        """Why the watermark must stay where it is, as sentences; empty when everything is settled."""
        found = [
            f"{self.expected[window] - self.listed.get(window, 0)} records of the {window} window were counted but not "
            "listed; the next run asks again"
            for window in self.expected
            if self.listed.get(window, 0) < self.expected[window]
        ]
        if self.failed:
            found.append(
                f"{len(self.failed)} records could not be fetched; the next run asks again: {named(self.failed)}"
            )
        if waited_for := [pmid for pmid in self._outstanding if pmid not in self.given_up]:
            found.append(
                f"{len(waited_for)} records are listed by PubMed and not delivered; the next run asks again: "
                f"{named(waited_for)}"
            )
        return found

    def to_json(self) -> dict[str, Any]:
        """Shares its lists and dictionaries with the cursor: to be written out before the next step."""
        shared = {each.name: getattr(self, each.name) for each in fields(self)}
        return {**shared, "end": str(self.end), "queue": [segment.to_json() for segment in self.queue]}

    @classmethod
    def from_json(cls, given: Mapping[str, Any]) -> Self:
        """Older versions counted the runs that missed a PMID: its first day is then the end of that run."""
        queue = [Segment.from_json(each) for each in given["queue"]]
        missing = {pmid: day if isinstance(day, str) else given["end"] for pmid, day in given["missing"].items()}
        return cls(**{**given, "end": date.fromisoformat(given["end"]), "queue": queue, "missing": missing})


def named(pmids: Iterable[str]) -> str:
    """The first few PMIDs, and how many more there are."""
    given = list(pmids)
    more = f" and {len(given) - NAMED} more" if len(given) > NAMED else ""
    return ", ".join(given[:NAMED]) + more

"""Where a sync stands: enough to go on after a kill anywhere, small enough to save after each batch."""

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, fields
from datetime import date
from typing import Any, Self

from bio_mcp.syncing.revisions import Change
from bio_mcp.syncing.windows import LISTABLE, Segment

MISSES = 5  # runs in which a PMID that PubMed lists but does not return is asked for again
NAMED = 10  # PMIDs that a warning names


@dataclass(slots=True)
class Cursor:
    """The state of one run.

    `queue`: segments still to be listed, oldest days first. `pmids[done:]`: listed, still to be fetched.
    `partial`: what became of the records of a batch that was left half-way. `expected` and `listed`: records that
    NCBI counted and listed, by window. `missing`: PMIDs listed but not returned -> runs so far. `failed`: PMIDs whose
    fetch failed; they are tried once more at the end (`last_try`).
    """

    end: date
    queue: list[Segment]
    pmids: list[str] = field(default_factory=list)
    done: int = 0
    partial: dict[str, str] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=lambda: {change.value: 0 for change in Change})
    expected: dict[str, int] = field(default_factory=dict)
    listed: dict[str, int] = field(default_factory=dict)
    missing: dict[str, int] = field(default_factory=dict)
    failed: list[str] = field(default_factory=list)
    last_try: bool = False
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
                self.missing[pmid] = self.missing.get(pmid, 0) + 1
        self.partial = {}

    def saw_edat(self, edats: Iterable[str]) -> None:
        self.max_edat = max((*edats, *filter(None, [self.max_edat])), default=None)

    def retry_failed(self) -> bool:
        """Queue what failed for its last try; False when there is nothing to try again."""
        if self.last_try or not self.failed:
            return False
        self.pmids, self.done, self.failed, self.last_try = self.failed, 0, [], True
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
        return found

    def to_json(self) -> dict[str, Any]:
        """Shares its lists and dictionaries with the cursor: to be written out before the next step."""
        shared = {each.name: getattr(self, each.name) for each in fields(self)}
        return {**shared, "end": str(self.end), "queue": [segment.to_json() for segment in self.queue]}

    @classmethod
    def from_json(cls, given: Mapping[str, Any]) -> Self:
        queue = [Segment.from_json(each) for each in given["queue"]]
        return cls(**{**given, "end": date.fromisoformat(given["end"]), "queue": queue})


def named(pmids: Iterable[str]) -> str:
    """The first few PMIDs, and how many more there are."""
    given = list(pmids)
    more = f" and {len(given) - NAMED} more" if len(given) > NAMED else ""
    return ", ".join(given[:NAMED]) + more

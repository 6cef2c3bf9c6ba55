"""A file of PubMed brought into the corpus, for as long as there is time.

A slice begins where the one before it ended. A repetition, after whatever end, finds what is stored and leaves it.
"""

import logging
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from bio_mcp.errors import DeadlineExceeded, Failure, IndexUnavailable, StoreFailed, UpstreamFailed
from bio_mcp.literature.changes import ChangeKind, CorpusChange
from bio_mcp.literature.medline import OddRecord
from bio_mcp.literature.records import Article, Deletion, Head
from bio_mcp.one_index import one_index
from bio_mcp.ports import Backends
from bio_mcp.ports.messages import Announcements
from bio_mcp.ports.stores import Documents
from bio_mcp.syncing.importing import odd_if_endless
from bio_mcp.syncing.revisions import Change
from bio_mcp.syncing.settling import settle

log = logging.getLogger(__name__)

Record = Article | Deletion | OddRecord
BUSY = (IndexUnavailable, StoreFailed, UpstreamFailed, DeadlineExceeded)
"""What the index, the tables and the bus raise when they have too much to do, besides other things that pass."""


@dataclass(slots=True)
class Progress:
    """How far a file is loaded: `position` records of it are settled. The counts are of articles, `deleted` of PMIDs;
    one that a slice had stored when it was stopped counts as skipped."""

    position: int = 0
    inserted: int = 0
    updated: int = 0
    skipped: int = 0
    deleted: int = 0
    odd: int = 0
    left_out: int = 0


@dataclass(slots=True)
class Slice:
    """What came of a slice. `busy` is the failure that ended it early, which may pass; `done` when the file is over."""

    progress: Progress
    done: bool = False
    busy: Failure | None = None


def load_slice(
    records: Iterable[Record],
    left_out: Container[int],
    progress: Progress,
    backends: Backends,
    has_time: Callable[[], bool],
    batch: int,
    *,
    again: bool = False,
) -> Slice:
    """Settle the records from `progress.position` on, but for the positions of `left_out`, while there is time.

    New papers are announced to nobody; every other change is. With `again` papers that the index lacks are written to
    it, whatever is marked as indexed. Raises what reading `records` does, and the failures of ports that do not pass.
    """
    quiet = cast(Backends, _Quiet(backends, looks=again))
    for start, part in _batches(records, progress.position, batch):
        if not has_time():
            return Slice(progress)
        applied = [
            each for at, each in enumerate(part, start) if at not in left_out and not isinstance(each, OddRecord)
        ]
        try:
            settled = settle(applied, quiet, before_slice=lambda _changes: has_time())
        except BUSY as failure:
            if not failure.retryable:
                raise
            return Slice(progress, busy=failure)
        changes = list(settled.changes.values())
        if len(changes) + len(settled.deleted) < len({each.pmid for each in applied}):
            return Slice(progress)
        progress.position = start + len(part)
        progress.inserted += changes.count(Change.INSERTED)
        progress.updated += changes.count(Change.UPDATED)
        progress.skipped += changes.count(Change.SKIPPED)
        progress.deleted += len(settled.deleted)
        progress.left_out += sum(at in left_out for at in range(start, progress.position))
        progress.odd += sum(isinstance(each, OddRecord) for each in part)
    return Slice(progress, done=True)


def _batches(records: Iterable[Record], start: int, size: int) -> Iterator[tuple[int, list[Record]]]:
    """The records from `start` on, some at a time, each time with the position of the first."""
    part: list[Record] = []
    for position, record in enumerate(records):
        if position < start:
            continue
        part.append(odd_if_endless(record))
        if len(part) == size:
            yield position + 1 - size, part
            part = []
    if part:
        yield position + 1 - len(part), part


class _Quiet:
    """Backends that announce no paper as new: nobody waits for forty million messages. One that `looks` takes no mark
    for it that a paper is indexed."""

    def __init__(self, backends: Backends, *, looks: bool) -> None:
        self._backends, self._looks = backends, looks

    def __getattr__(self, name: str) -> Any:
        return getattr(self._backends, name)

    @property
    def announcements(self) -> Announcements:
        return _ButNew(self._backends.announcements)

    @property
    def documents(self) -> Documents:
        return cast(Documents, _AsFound(self._backends)) if self._looks else self._backends.documents


@dataclass(frozen=True, slots=True)
class _AsFound:
    """Documents, of which none is marked as indexed that the index lacks."""

    backends: Backends

    def __getattr__(self, name: str) -> Any:
        return getattr(self.backends.documents, name)

    def heads(self, pmids: Sequence[str]) -> dict[str, Head]:
        heads = self.backends.documents.heads(pmids)
        with one_index():
            there = self.backends.passages.chunk_texts(list(heads))
        return {pmid: head if pmid in there else replace(head, indexed_version=0) for pmid, head in heads.items()}


@dataclass(frozen=True, slots=True)
class _ButNew:
    to: Announcements

    def publish(self, changes: Sequence[CorpusChange]) -> None:
        if announced := [each for each in changes if each.kind is not ChangeKind.NEW]:
            self.to.publish(announced)

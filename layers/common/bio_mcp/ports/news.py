"""Which papers each query key has found, and what became of them since."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from bio_mcp.literature.changes import ChangeKind, CorpusChange
from bio_mcp.literature.clock import sortable


@dataclass(frozen=True, slots=True)
class Found:
    """A paper that a sync of a query found. `at` is when it came to PubMed, where that is the news; None: it is now."""

    pmid: str
    version: int
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class NewsEntry:
    """What became of a paper of a query key, at `version` of the corpus; `at` has microseconds.

    Two entries of a key differ in kind, PMID or version.
    """

    at: datetime
    kind: ChangeKind
    pmid: str
    version: int

    @property
    def position(self) -> str:
        """Where it is among the entries of its key: by time, and by PMID, version and kind within one."""
        return f"{sortable(self.at)} {self.pmid:0>10} {self.version:0>6} {self.kind.value}"


class News(Protocol):
    """The papers of each query key and their news. Every method may raise `StoreFailed`.

    An entry may be given only some seconds after it was recorded, so that none comes before one that was given, but for
    papers that are found with a time of their own.
    """

    def find(self, query_key: str, papers: Sequence[Found]) -> None:
        """Note that the query finds these papers; each that it has not found before is new.

        At most one process calls it for a query key at once.
        """
        ...

    def record(self, changes: Sequence[CorpusChange]) -> None:
        """Enter each change, but for new papers, for every query key that has found its paper; once for each key.

        A paper that was deleted is of no key any more.
        """
        ...

    def since(self, query_key: str, after: str, limit: int) -> list[NewsEntry]:
        """Return the first `limit` entries whose position is behind `after`, the oldest first."""
        ...

    def latest(self, query_key: str, limit: int) -> list[NewsEntry]:
        """Return the newest `limit` entries, the newest first."""
        ...

    def pmids(self, query_key: str) -> Iterator[str]:
        """Yield the PMIDs of the key in numeric order; one that is found or deleted meanwhile may be among them."""
        ...

    def is_whole(self, query_key: str) -> bool:
        """Return whether every paper that the query found is noted: false for one that an earlier version synced."""
        ...

    def set_whole(self, query_key: str) -> None:
        """Note that every paper of the query was found from the first day on."""
        ...

    def forget(self, query_key: str) -> None:
        """Delete all that is noted of the key; stopped half-way, the call may be repeated."""
        ...

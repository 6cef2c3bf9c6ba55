"""What the stores of SQLite and DynamoDB have in common: keys, numbers and the shapes of what they store."""

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, date, datetime
from hashlib import sha256
from typing import Any, TypeVar

from bio_mcp.errors import InvalidInput, NotFound, StoreFailed
from bio_mcp.graph.nodes import Edge, Node, to_record
from bio_mcp.literature.clock import sortable
from bio_mcp.literature.identifiers import LONGEST_PMID, is_pmid
from bio_mcp.literature.notices import Notice
from bio_mcp.literature.records import ChangeKind
from bio_mcp.ports.projects import ProjectDocument
from bio_mcp.ports.state import NOWHERE, NUMBERED, Checkpoint, KeyCheckpoints, NewsEntry
from bio_mcp.ports.stores import (
    ReviewMerge,
    ReviewPlan,
    ReviewRecord,
    ReviewSearch,
    ReviewThing,
    ScreeningLabel,
)
from bio_mcp.retrieval.project_chunks import Work

_WORD = r"[a-z0-9]+(?:-[a-z0-9]+)*"
_FOLDER = re.compile(rf"{_WORD}(?:/{_WORD}){{0,7}}")
_SUFFIX = re.compile(r"(?:\.[a-z0-9]{1,10}){0,2}")
_KEY = re.compile(rf"{_FOLDER.pattern}/([0-9a-f]{{64}}){_SUFFIX.pattern}")
LONGEST = 512  # characters; S3 ends at 1,024 bytes


def key_of(folder: str, content: bytes, suffix: str = "") -> str:
    """Return `folder/<SHA-256 in hex><suffix>`. Raises `InvalidInput` for a folder or suffix with other characters."""
    key = f"{folder_named(folder)}/{sha256(content).hexdigest()}{suffix}"
    if not _SUFFIX.fullmatch(suffix) or len(key) > LONGEST:
        raise InvalidInput("the suffix of a blob is like .pdf, and its key is not longer than 512 characters")
    return key


def folder_named(folder: str) -> str:
    """The folder. Raises `InvalidInput` for one that no blob can be in."""
    if not _FOLDER.fullmatch(folder):
        raise InvalidInput("a blob's folder is words of a-z, 0-9 and - joined by /")
    return folder


def key_of_hash(like: str, digest: str) -> str:
    """The key of other content, whose SHA-256 is `digest`, in the folder and with the suffix of the key `like`.

    Raises `NotFound` where `key_of` cannot have returned that.
    """
    if not is_key(like):
        raise missing()
    folder, _, name = like.rpartition("/")
    return f"{folder}/{digest}{name[64:]}"


def is_key(key: str) -> bool:
    """Whether `key_of` can have returned `key`."""
    return len(key) <= LONGEST and _KEY.fullmatch(key) is not None


def checked(key: str, content: bytes) -> bytes:
    """Return `content`. Raises `StoreFailed` if it does not match the hash in `key`."""
    digest = _KEY.fullmatch(key)
    if digest is None or sha256(content).hexdigest() != digest[1]:
        raise StoreFailed("A stored file is damaged; import or fetch it again.", retryable=False)
    return content


def missing() -> NotFound:
    """The failure for an unknown key. It does not quote the key, which may be anybody's text."""
    return NotFound("There is no stored file of this key")


Change = Callable[[KeyCheckpoints], KeyCheckpoints]


class CheckpointsByKey(ABC):
    """`get`, `advance` and `set` of the port `Checkpoints`, over a store that reads and changes one key at a time."""

    def get(self, query_key: str, term: str | None = None) -> Checkpoint:
        return self._read(query_key).of(term)

    def advance(
        self, query_key: str, term: str, last_edat: str | None = None, windows: Mapping[str, str] = NOWHERE
    ) -> Checkpoint:
        return self._change(query_key, lambda before: before.advanced(term, last_edat, windows))[1].of(term)

    def set(
        self, query_key: str, last_edat: str | None, windows: Mapping[str, str], term: str | None = None
    ) -> Checkpoint:
        return self._change(query_key, lambda before: before.moved(term, last_edat, windows))[0].of(term)

    @abstractmethod
    def _read(self, query_key: str) -> KeyCheckpoints:
        """The checkpoints of a key; empty where there are none."""

    @abstractmethod
    def _change(self, query_key: str, change: Change) -> tuple[KeyCheckpoints, KeyCheckpoints]:
        """Apply `change` to the checkpoints of a key, atomically; returns them before and after."""


def abbreviated(names: Sequence[object], most: int = 5) -> str:
    """The first `most` of what a message names, and how many more there are."""
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(map(str, names[:most])) + more


def text_of(what: Node | Edge) -> str:
    """A node or an edge as it is stored; equal ones are one text."""
    return json.dumps(to_record(what), ensure_ascii=False, separators=(",", ":"))


Record = TypeVar("Record", Node, Edge)


def merged(
    given: Iterable[Record],
    stored: Mapping[Any, Record],
    key: Callable[[Record], Any],
    merge: Callable[[Record | None, Record], Record],
) -> dict[Any, Record]:
    """What becomes of nodes or edges that are given, by their keys: each merged with what is stored of it."""
    found: dict[Any, Record] = {}
    for each in given:
        found[key(each)] = merge(found.get(key(each), stored.get(key(each))), each)
    return found


def missing_nodes(node_ids: Collection[str]) -> InvalidInput:
    """The failure for edges whose nodes are neither given nor stored."""
    return InvalidInput(f"These nodes of edges are neither given nor stored: {abbreviated(sorted(node_ids), 10)}")


def entry_at(position: str) -> NewsEntry:
    """The entry whose `position` this is."""
    *numbered, at, pmid, version, kind = position.split(" ")
    number = int(numbered[0].removeprefix(NUMBERED)) if numbered else 0
    return NewsEntry(datetime.fromisoformat(at), ChangeKind(kind), str(int(pmid)), int(version), number)


OLD_VERSIONS = 5  # of a paper, that are stored beside its newest


def utc_day(seconds: float) -> date:
    """The day (UTC) of a time in seconds since 1970."""
    return datetime.fromtimestamp(seconds, UTC).date()


def unknown_paper(pmid: str) -> NotFound:
    """The failure for a PMID that is not in the corpus; it says how to add it."""
    return NotFound(f"PMID {pmid} is not in the corpus; sync or import it first")


def unknown_version(pmid: str, version: int) -> NotFound:
    return NotFound(f"PMID {pmid} is not stored as of version {version}: it was deleted, or revised too often since")


def number(pmid: str) -> int | None:
    """The PMID as an integer; None for what is not one in its normal form ("abc", "007")."""
    return int(pmid) if is_pmid(pmid) else None


def numbers(pmids: Iterable[str]) -> list[int]:
    """Those of `pmids` that are PMIDs; each once, in ascending order."""
    digits = (each for each in pmids if each.isascii() and each.isdecimal() and len(each) <= LONGEST_PMID)
    return sorted({int(each) for each in digits if each[0] != "0"})


def key(pmid: str) -> int:
    """The PMID as an integer. Raises `InvalidInput` for what is not one in its normal form."""
    if not is_pmid(pmid):
        raise InvalidInput(f"{pmid!r} is not a PMID: digits only, no leading zero")
    return int(pmid)


def to_row(document: ProjectDocument) -> dict[str, Any]:
    """The document as JSON values, but for its identifiers, which stand elsewhere: they move between documents."""
    row = asdict(document)
    del row["identifiers"]
    return row


def from_row(row: Mapping[str, Any], identifiers: Iterable[str]) -> ProjectDocument:
    """Restore a document that `to_row` made, with the identifiers that it has."""
    work = row["work"]
    named = {"authors": tuple(work["authors"]), "tags": tuple(work["tags"])}
    notices = tuple(Notice(**each) for each in row.get("notices", ()))  # which older rows have not
    read = {"work": Work(**{**work, **named}), "identifiers": frozenset(identifiers), "notices": notices}
    return ProjectDocument(**{**row, **read})


def plan_row(plan: ReviewPlan) -> dict[str, Any]:
    """The plan as JSON."""
    return asdict(plan) | {"created": sortable(plan.created)}


def plan_of(row: Mapping[str, Any]) -> ReviewPlan:
    return ReviewPlan(**{**row, "created": datetime.fromisoformat(row["created"])})


def review_row(thing: ReviewThing, number: int) -> dict[str, Any]:
    """What is stored of a review under this number, as JSON."""
    if isinstance(thing, ScreeningLabel | ReviewSearch):
        return asdict(thing) | {"at": sortable(thing.at), "number": number}
    return asdict(thing)


def record_of(row: Mapping[str, Any]) -> ReviewRecord:
    """The record that `review_row` made this row of."""
    lists = {name: tuple(row[name]) for name in ("authors", "keywords") if name in row}
    return ReviewRecord(**{**row, **lists})


def merges_of(rows: Iterable[Mapping[str, Any]]) -> list[ReviewMerge]:
    """The merges that `review_row` made these rows of, by id."""
    merges = (ReviewMerge(**{**row, "entry": record_of(row["entry"])}) for row in rows)
    return sorted(merges, key=lambda each: each.merge_id)


def labels_of(rows: Iterable[Mapping[str, Any]]) -> list[ScreeningLabel]:
    """The labels that `review_row` made these rows of, in the order that the port promises."""
    labels = [ScreeningLabel(**{**row, "at": datetime.fromisoformat(row["at"])}) for row in rows]
    return sorted(labels, key=label_order)


def label_order(label: ScreeningLabel) -> tuple[Any, ...]:
    """The place of a label in the order that the port promises."""
    return *_written(label), label.record_id, label.stage


def searches_of(rows: Iterable[Mapping[str, Any]]) -> list[ReviewSearch]:
    """The searches that `review_row` made these rows of, in the order that the port promises."""
    dated = datetime.fromisoformat
    found = [ReviewSearch(**{**row, "at": dated(row["at"]), "record_ids": tuple(row["record_ids"])}) for row in rows]
    return sorted(found, key=lambda each: (*_written(each), each.search_id))


def _written(each: ScreeningLabel | ReviewSearch) -> tuple[int, str]:
    return each.number, "" if each.number else sortable(each.at)


LONGEST_AUTHORIZATION_S = 401 * 86_400.0  # one that ends later was made while the clock was ahead, and counts for none
MAX_SKEW_S = 60.0  # by which the clocks of two machines may differ


def age_s(stored: float, expires: float, now: float) -> float | None:
    """Age in seconds of a value stored at `stored` that expires at `expires`; None once it has expired.

    Also None for a value stored more than `MAX_SKEW_S` in the future: somebody has set the clock back.
    """
    return max(0.0, now - stored) if stored - MAX_SKEW_S <= now < expires else None

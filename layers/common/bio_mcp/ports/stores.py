"""Where the corpus is stored: articles, passages with vectors, large files; and the model that makes the vectors."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal, Protocol

from bio_mcp.graph.nodes import Edge, Neighbours, Node, Step
from bio_mcp.literature.records import CitedSpan, Document, Head, Tombstone
from bio_mcp.retrieval.passages import (
    Candidate,
    Entry,
    Filters,
    Matching,
    OtherName,
    PassageQuery,
    StoredChunk,
    YearCount,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from bio_mcp.retrieval.passages import Vectors


@dataclass(frozen=True, slots=True)
class StoredDay:
    """How many papers came into the corpus on a day, and how many were replaced by a newer version."""

    day: date
    added: int = 0
    revised: int = 0


class Documents(Protocol):
    """Articles, one per PMID. Every method may raise `StoreFailed`."""

    def get(self, pmid: str) -> Document:
        """Return the document. Raises `NotFound`, also for a PMID that was deleted."""

    def get_many(self, pmids: Sequence[str]) -> dict[str, Document]:
        """Return those of `pmids` that exist, by PMID; unknown PMIDs are absent."""

    def heads(self, pmids: Sequence[str]) -> dict[str, Head]:
        """Return what decides whether a fetched record differs from the stored one; unknown PMIDs are absent."""

    def standing(self, pmids: Sequence[str]) -> tuple[dict[str, Head], dict[str, Tombstone]]:
        """Return as of one moment the heads, and what is left of those that were deleted and are not stored now."""

    def deletions(self) -> int:
        """Return the number of the newest tombstone, 0 before there is one."""

    def tombstones(self) -> Iterator[tuple[str, int]]:
        """Yield PMID and version of what was deleted and is not stored now, in no order."""

    def resolve(self, identifiers: Sequence[str]) -> dict[str, str]:
        """Return the PMID of the paper that has it, for each identifier that a stored paper has; the lowest of several.

        An identifier is `doi:10.1000/xyz` or `pmcid:PMC1`, as `literature.identifiers` normalises it.
        """

    def put(self, documents: Sequence[Document]) -> set[str]:
        """Store each document whose version is above the stored one, and above that of its tombstone.

        Returns the PMIDs of documents that do not stand now, as another one does, or none. Concurrent writers may
        interleave: the highest version stands in the end, and of one version one document.
        """

    def at_version(self, pmid: str, version: int) -> Document:
        """Return the document as it was stored at `version`, also when newer ones have replaced it.

        `indexed_version` is 0. The newest version and the last five that were replaced are stored. Raises `NotFound`
        for another one, and for a paper that was deleted.
        """

    def mark_indexed(self, versions: Mapping[str, int]) -> None:
        """Record that the passages of each PMID are durable at this version; never lowers a mark."""

    def mark_given(self, pmids: Sequence[str], place: int) -> None:
        """Record that NLM's file of this place, or a later one, has these papers; others change nothing."""

    def delete(self, tombstones: Mapping[str, Tombstone]) -> set[str]:
        """Put the tombstone of each PMID in the place of what is stored, if that has its version or an older one.

        Returns the PMIDs of which a newer one is stored: those stay. A number that is given is not used. A deletion of
        an earlier bio-mcp left no tombstone.
        """

    def count(self) -> int:
        """Return the exact number of articles."""

    def stored_by_day(self, days: int) -> list[StoredDay]:
        """Return what was stored on each of the last `days` days, today's included, the oldest first.

        Days are of UTC; one on which nothing was stored is left out, and so is what came before days were counted. It
        is for people: a process that is killed as it stores may leave papers uncounted.
        """

    def pmids(self) -> Iterator[str]:
        """Yield every PMID once, in no order; one that is stored or deleted meanwhile may be among them or not."""


class Passages(Protocol):
    """The searchable passages of every document, with their vectors. Every method may raise `IndexUnavailable`.

    The next search of any process sees a write that is not left to `refresh`, except in OpenSearch Serverless, whose
    searches lag by seconds. Reading by PMID sees each write at once.

    A long run should write `write_at_once` documents together, 1 where a few writes cost no more than one, and
    `refresh_after` before each `refresh`: 1 where a refresh costs nothing.
    """

    write_at_once: int
    refresh_after: int

    def ensure_schema(self, fingerprint: str, dim: int) -> None:
        """Make the index if there is none. Raises `ModelMismatch` when it holds another model's vectors."""

    def check_model(self, fingerprint: str, dim: int) -> None:
        """Raise `ModelMismatch` when the index holds another model's vectors; reads only. An empty or absent index
        holds none."""

    def renew(self, fingerprint: str, dim: int) -> None:
        """Hold the vectors of this model from now on: an index of another model becomes an empty one, in one step."""

    def name(self) -> str:
        """Return what tells this index from all others, as long as it exists; "" before there is one."""

    def versions(self) -> Iterator[tuple[str, int]]:
        """Yield PMID and version of every paper that a search can see, in the order of PMIDs as numbers."""

    def chunk_texts(self, pmids: Sequence[str]) -> dict[str, dict[str, str]]:
        """Return PMID -> chunk id -> SHA-256 (hex) of the embedded text whose vector is stored."""

    def chunk_vectors(self, pmids: Sequence[str]) -> dict[str, dict[str, "NDArray[np.float32]"]]:
        """Return PMID -> SHA-256 (hex) of the embedded text -> its vector as stored, of shape (dim,)."""

    def upsert_chunks(self, entries: Sequence[Entry], *, refresh: bool = True) -> None:
        """Replace each document's passages by the entry's, in one step per document; ignore older versions, and those
        that `delete` refuses.

        The write is durable. With `refresh` False searches may miss it until `refresh` is called.
        Raises `ModelMismatch` for vectors of another length, `EmbeddingFailed` for one that is not finite.
        """

    def refresh(self, fingerprint: str, dim: int) -> None:
        """Let searches see all that this model's runs have written, by whatever process.

        Raises `ModelMismatch` when an index of another model is searched by now: it has none of that.
        """

    def delete(self, pmids: Sequence[str], upto: Mapping[str, int] = MappingProxyType({})) -> None:
        """Remove the passages of the documents; unknown PMIDs change nothing.

        Of a PMID in `upto` those of that version and older are removed, and refused from now on: a writer that read
        the document before it was deleted cannot bring them back.
        """

    def hybrid_search(self, query: PassageQuery) -> list[Candidate]:
        """Return the union of the best `query.depth` documents by BM25 and by cosine of their best window, unordered.

        Ties within a leg: PMID descending (as a number). A partial answer is an error, never a shorter list.
        """

    def document_vectors(self, pmids: Sequence[str]) -> "dict[str, NDArray[np.float32]]":
        """Return the mean of each document's passage vectors, as a unit vector of shape (dim,).

        Unknown PMIDs are absent.
        """

    def chunks(self, pmids: Sequence[str], vector: "Vectors | None" = None) -> dict[str, list[StoredChunk]]:
        """Return the passages of each document in the order of the text, with cosines where `vector` is given."""

    def count(self) -> tuple[int, int]:
        """Return the number of documents and of chunks in the index."""

    def matching(self, filters: Filters, most: int) -> Matching:
        """Count the documents that pass the filters; of them the newest, at most `most`.

        The newest is that of the latest day of `PaperFields.days`, then of the highest PMID. With no filters all pass.
        """

    def words_like(self, word: str) -> list[tuple[str, int]]:
        """Return the words of titles and abstracts that a lower-case word may stand for, with the number of documents
        that have each, or 10,000 where it is more: that word alone, and 1, if a document has it.

        Others begin with the same letter, and differ by at most two edits, which `spelling.edits` counts. The best
        known are there, at most some 100.
        """

    def other_names(self, names: Collection[str]) -> list[OtherName]:
        """Return what each of these names is the short or the long form of, by `Entry.abbreviations`."""

    def by_year(self) -> list[YearCount]:
        """Return how many documents of each year and study design there are, by year and points, unknown ones first."""


class Embeddings(Protocol):
    """A sentence-embedding model. Threads may share it."""

    fingerprint: str
    """Changes whenever vectors stop being comparable: model, weights, tokenizer, limit, pooling."""
    dim: int
    """Numbers in a vector."""
    max_tokens: int
    """Tokens that the model reads, its special tokens included."""

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Return the length of each text in the model's own tokens, its special tokens included, not cut."""

    def embed(self, texts: Sequence[str]) -> "Vectors":
        """Return one unit vector per passage, float32, shape (len(texts), dim). Raises `EmbeddingFailed`."""

    def embed_questions(self, texts: Sequence[str]) -> "Vectors":
        """Return as `embed` does what to compare with passages: some models want what is asked in another form."""


EXPIRING_DAYS: Mapping[str, int] = MappingProxyType({"exports": 7, "uploads": 4})
"""First folders whose files may be deleted so many days after they were last put."""


class Blobs(Protocol):
    """Bytes that are too many for a table, such as a long article. What a key stands for never changes.

    Files of `EXPIRING_DAYS` are gone some time after their days. Every method may raise `StoreFailed`.
    """

    def put(self, folder: str, content: bytes, suffix: str = "") -> str:
        """Store `content`; returns its key, `folder/<SHA-256 in hex><suffix>`: equal bytes have one key.

        `folder` is words of a-z, 0-9 and - joined by /, `suffix` like ".pdf". Raises `InvalidInput` for others.
        """

    def get(self, key: str) -> bytes:
        """Return the bytes, checked against their key. Raises `NotFound`, also for what `put` cannot have made."""

    def join(self, keys: Sequence[str]) -> str:
        """Store what the keys hold, one after another, as one file; returns its key, in the folder of the first.

        Memory is bounded by the largest of them. Raises `NotFound`.
        """

    def stream(self, key: str) -> Iterator[bytes]:
        """Yield the bytes, some at a time, not compared with their key. Raises `NotFound` before the first."""

    def link(self, key: str, name: str, seconds: int) -> str | None:
        """Return an address that downloads the file under this name, by whoever has it, for so long.

        None where files are on this machine alone; reads nothing.
        """

    def delete(self, key: str) -> None:
        """Delete the file; an unknown key changes nothing."""

    def drop(self, folder: str) -> None:
        """Delete the files of this folder, not of those below it. Raises `InvalidInput` as `put` does."""

    def uri(self, key: str) -> str:
        """Return where whoever runs this finds the file: `file:///...` or `s3://bucket/key`; reads nothing."""


@dataclass(frozen=True, slots=True)
class StoredAnswer:
    """An answer as it was given. `answer_id` follows from question, text or reason, and spans: an equal answer is one.

    `text` is "" for one that was withheld, and `reason` says why. `warnings` are sentences for the user. `flagged`
    names papers among `spans` that were retracted since, by PMID. `number` is given out by the store when the answer is
    first put: a later one has a higher number.
    """

    answer_id: str
    question: str
    text: str
    spans: tuple[CitedSpan, ...]
    confidence: float
    asked: datetime
    flagged: tuple[str, ...] = ()
    number: int = field(default=0, compare=False)
    reason: str = ""
    warnings: tuple[str, ...] = ()


class Answers(Protocol):
    """Answers by id. Every method may raise `StoreFailed`. A store may drop an answer two years after it was given."""

    def put(self, answer: StoredAnswer) -> None:
        """Store the answer; one that is stored keeps its number, its first time and its flags."""

    def get(self, answer_id: str) -> StoredAnswer:
        """Return the answer. Raises `NotFound`."""

    def citing(self, pmid: str) -> list[StoredAnswer]:
        """Return the answers that cite the paper, by id."""

    def flag(self, pmid: str) -> None:
        """Flag the answers that cite the paper: it is retracted."""

    def flagged(self, limit: int) -> list[StoredAnswer]:
        """Return answers that are flagged, the last one stored first."""


Decision = Literal["include", "exclude", "maybe"]
Stage = Literal["abstract", "full_text"]


@dataclass(frozen=True, slots=True)
class ReviewPlan:
    """That a review is there, since when, and how it is screened: `screeners` decide about each record, without seeing
    each other's decisions; `criteria` are words that speak for a record."""

    created: datetime
    screeners: int = 1
    criteria: str = ""


@dataclass(frozen=True, slots=True)
class ReviewRecord:
    """A record as it was when it came into the review.

    `record_id` is a PMID, or `doi:10.1000/x`, or `title:` and a hash where there is neither. `pmid` is of one whose id
    is none. Fields that the source does not state are empty.
    """

    record_id: str
    title: str
    abstract: str = ""
    year: int | None = None
    doi: str | None = None
    pmid: str = ""
    authors: tuple[str, ...] = ()
    journal: str = ""
    volume: str = ""
    issue: str = ""
    pages: str = ""
    keywords: tuple[str, ...] = ()
    preprint: bool = False


@dataclass(frozen=True, slots=True)
class ReviewMerge:
    """An entry that a search had, and that was taken for the record `into`, which the review had; `why` in words.

    `position` is that of the entry in the `record_ids` of the search.
    """

    merge_id: str
    entry: ReviewRecord
    into: str
    why: str
    search_id: str
    position: int


@dataclass(frozen=True, slots=True)
class ScreeningLabel:
    """How a record was decided at a stage, by whom and when; `resolves`: as the third decision, where others differ.
    `number` is given out by the store, each time a higher one in the review; 0 for a label of a version that gave out
    none."""

    record_id: str
    stage: Stage
    decision: Decision
    at: datetime
    reason: str | None = None
    caller: str | None = None
    number: int = field(default=0, compare=False)
    resolves: bool = False

    @property
    def whose(self) -> str:
        """What tells apart the labels of one record and stage: the screener, or that it resolves a conflict."""
        return "resolved" if self.resolves else whose(self.caller)


def whose(screener: str | None) -> str:
    """The labels of a screener; None is the user of this machine."""
    return f"by {screener}" if screener else ""


@dataclass(frozen=True, slots=True)
class ReviewSearch:
    """A search that brought records into a review. Equal searches have one `search_id`.

    `database` is what was searched, as "PubMed"; `method` is "database", or "other" for records that no query found.
    `found` counts what the search returned, before duplicates were removed; `record_ids` are those of the review, one
    for each that could be read: a record may be there twice. `source` is what can be collected from again, `topic:KEY`,
    `project:ID` or `question`. `number` is as of a `ScreeningLabel`.
    """

    search_id: str
    at: datetime
    database: str
    term: str | None
    found: int
    record_ids: tuple[str, ...]
    method: Literal["database", "other"] = "database"
    number: int = field(default=0, compare=False)
    source: str = ""


ReviewThing = ReviewRecord | ScreeningLabel | ReviewSearch | ReviewMerge


def review_of_project(project_id: str) -> str:
    """The name of a project's review."""
    return f"project:{project_id}"


def review_of_query(query_key: str) -> str:
    """The name of the review of what a query key finds."""
    return f"query:{query_key}"


class Screenings(Protocol):
    """Reviews, by name. Every method may raise `StoreFailed`.

    A call that was killed may have written a part of what it was given; repeated, it writes the rest.
    """

    def plan(self, review: str) -> ReviewPlan | None:
        """Return the plan of the review; None where it has none."""

    def put_plan(self, review: str, plan: ReviewPlan) -> None:
        """Store the plan in place of the one before."""

    def reviews(self) -> dict[str, ReviewPlan]:
        """Return the plan of each review that has one, by name."""

    def put(self, review: str, things: Sequence[ReviewThing]) -> None:
        """Store records, labels, searches and merges, each in place of the one of its id; a label in place of the other
        one of its record, stage and `whose`. No two of a call may be of one id.
        """

    def records(self, review: str) -> list[ReviewRecord]:
        """Return every record of the review, by id."""

    def remove_labels(self, review: str, labels: Sequence[ScreeningLabel]) -> None:
        """Take back labels, which `labels` returned; those that are gone change nothing."""

    def labels(self, review: str) -> list[ScreeningLabel]:
        """Return every label of the review in the order in which they were given. Those without a number come
        first, by their times."""

    def searches(self, review: str) -> list[ReviewSearch]:
        """Return the searches in the order in which they were given; those without a number come first, by their
        times."""

    def merges(self, review: str) -> list[ReviewMerge]:
        """Return the merges, by id."""

    def remove_merge(self, review: str, merge_id: str) -> None:
        """Delete the merge, if it is there."""

    def drop(self, review: str) -> None:
        """Delete all that the review has."""


class Graph(Protocol):
    """Nodes by id, and edges from both of their ends. Every method may raise `StoreFailed`.

    A name is compared as `graph.names.fold_name` folds it: without case, accents, marks of length and punctuation.
    """

    def put(self, nodes: Sequence[Node], edges: Sequence[Edge]) -> None:
        """Add nodes and edges; one that is stored is merged with it as `graph.merging` says, so that none is lost.

        Edges are stored after their nodes. Raises `InvalidInput` for an edge whose nodes are neither given nor stored;
        nothing is written then.
        """

    def nodes(self, node_ids: Sequence[str]) -> dict[str, Node]:
        """Return those nodes that exist, by id; unknown ids are absent."""

    def neighbours(self, node_ids: Sequence[str], steps: Collection[Step], limit: int) -> dict[str, Neighbours]:
        """Return the edges that may be walked from each node, at most `limit` by each of `steps`.

        They are in the order of their type, direction (forwards first) and the id of the other node. A node without any
        is absent. Never reads more than the nodes asked for.
        """

    def named(self, names: Sequence[str]) -> dict[str, list[Node]]:
        """Return the nodes that have each name, or a synonym that folds to it, by id; unknown names are absent."""

    def names(self) -> Iterator[tuple[str, Node]]:
        """Yield every name and synonym as it is written, with its node."""

    def revision(self) -> str:
        """Return a token that changes whenever a node or an edge does; "" for an empty graph."""

    def count(self) -> Mapping[str, int]:
        """Return how many nodes and edges there are, by type; a type without any is absent."""


@dataclass(frozen=True, slots=True)
class CacheEntry:
    """A cached value and its age in seconds."""

    value: bytes
    age_s: float


class Cache(Protocol):
    """Values by key, each until its lifetime ends or room is needed: any of them may be gone at any time.

    A key is text of at most 200 characters. Raises `StoreFailed`.
    """

    def get(self, keys: Sequence[str]) -> dict[str, CacheEntry]:
        """Return the live values under these keys (each once); missing and expired keys are absent."""

    def put(self, values: Mapping[str, bytes], lifetime_s: float) -> None:
        """Store each value from now on, in place of what is there; values that are too large are dropped.

        A lifetime of 0 deletes the keys.
        """

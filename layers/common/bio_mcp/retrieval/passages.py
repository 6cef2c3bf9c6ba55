"""Values that go into the passage index and come out of it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import TYPE_CHECKING
from uuid import UUID, uuid5

from bio_mcp.literature.quality import StaticQuality
from bio_mcp.literature.records import RetractionStatus
from bio_mcp.retrieval.pubmed_syntax import NOTHING, PaperFields, Tree

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]

NAMESPACE = UUID("1b2c3d4e-0000-0000-0000-000000000000")


def chunk_uuid(pmid: str, chunk_id: str, namespace: UUID = NAMESPACE) -> str:
    """The stable public id of a chunk: UUID version 5 over "{pmid}:{chunk_id}" in `namespace`."""
    return str(uuid5(namespace, f"{pmid}:{chunk_id}"))


@dataclass(frozen=True, slots=True)
class Chunk:
    """A passage of one abstract.

    `chunk_id` is `s{i}` (a section), `s{i}_{j}` (a window in it) or `w{k}` (a window of an unlabelled abstract).
    `char_start`, `char_end` are offsets into the abstract as `bio_mcp.retrieval.chunking.abstract_text` joins it;
    both 0 for a title-only chunk. `text` is the passage itself, without the title. `embedded_text` is what the
    model is given: title, then passage, never longer than the model reads.
    """

    chunk_id: str
    text: str
    embedded_text: str
    section: str | None
    char_start: int
    char_end: int

    @property
    def embedded_sha256(self) -> str:
        """SHA-256 (hex) of `embedded_text`: equal for equal vectors of one model."""
        return sha256(self.embedded_text.encode()).hexdigest()


@dataclass(slots=True)
class Entry:
    """One document for the index.

    `vectors` has the vector of a chunk by its `chunk_id`. A chunk without one keeps the vector that is stored for the
    same `embedded_sha256`; where none is stored, writing the entry raises `Conflict`.
    """

    pmid: str
    version: int
    title: str | None
    terms: Sequence[str]  # the analysed token stream of title and abstract
    chunks: tuple[Chunk, ...]
    vectors: "dict[str, NDArray[np.float32]]"  # chunk_id -> unit vector
    year: int | None = None
    journal: str | None = None
    journal_nlm_id: str | None = None
    publication_types: tuple[str, ...] = ()  # UIs
    tags: tuple[str, ...] = ()
    projects: tuple[str, ...] = ()
    quality: StaticQuality = field(default_factory=StaticQuality)
    retraction: RetractionStatus = RetractionStatus.UNKNOWN
    fields: PaperFields = NOTHING
    abbreviations: tuple[tuple[str, str], ...] = ()  # short and long forms that it defines, as analysed names
    participants: int | None = None  # of the study


@dataclass(frozen=True, slots=True)
class Filters:
    """Which documents may be returned. Fields are joined by AND; within a set any member is enough, for tags all.

    Years are inclusive. `journals` are NLM ids or lower-cased journal titles, `publication_types` are UIs. `tree` is a
    query that must find the document. `participants_min` leaves out studies that state fewer participants or none.
    """

    year_from: int | None = None
    year_to: int | None = None
    journals: frozenset[str] = frozenset()
    publication_types: frozenset[str] = frozenset()
    tags: frozenset[str] = frozenset()
    project: str | None = None
    tree: Tree | None = None
    participants_min: int | None = None

    def __bool__(self) -> bool:
        return self != Filters()


@dataclass(frozen=True, slots=True)
class PassageQuery:
    """A search: `terms` (analysed, with weights) for BM25, `vector` for cosine; an empty leg is skipped.

    `depth` is the number of documents that each leg returns. With `within`, only these PMIDs are searched, and each of
    their passages is scored exactly.
    """

    terms: tuple[tuple[str, float], ...]
    vector: "NDArray[np.float32] | None"
    filters: Filters = field(default_factory=Filters)
    depth: int = 200  # documents per leg
    within: frozenset[str] | None = None


@dataclass(slots=True)
class Candidate:
    """A document that at least one leg returned.

    `bm25` and `sim` are None when that leg did not return it. `chunk_id` is the window with the best cosine, None when
    only the lexical leg returned the document.
    """

    pmid: str
    bm25: float | None
    sim: float | None
    chunk_id: str | None
    year: int | None
    quality: StaticQuality
    retraction: RetractionStatus


@dataclass(frozen=True, slots=True)
class Matching:
    """How many documents pass some filters, and the PMIDs of the newest of them."""

    total: int
    pmids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class OtherName:
    """A short and a long form of one name, as analysed terms with spaces between; `name` is the one that was asked for.

    `papers` is the number of papers that define it."""

    name: str
    other: str
    papers: int


@dataclass(frozen=True, slots=True)
class YearCount:
    """How many documents are of a year and have these points for their study design; None: unknown."""

    year: int | None
    design: int | None
    documents: int


@dataclass(slots=True)
class StoredChunk:
    """A chunk as the index stores it; `sim` is its cosine to the query's vector, where one was given."""

    pmid: str
    chunk_id: str
    text: str
    section: str | None
    char_start: int
    char_end: int
    sim: float | None = None

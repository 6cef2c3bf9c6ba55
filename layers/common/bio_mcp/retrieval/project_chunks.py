"""Chunks of a project's documents, as its index stores, finds and returns them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import TYPE_CHECKING, Any, TypeAlias

from bio_mcp.literature.parsed import PageSpan, SectionKind
from bio_mcp.retrieval.analysis import analyse
from bio_mcp.retrieval.thai_words import word_terms

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

DEPTH = 100  # chunks per leg of a search
ChunkVectors: TypeAlias = "Mapping[str, NDArray[np.float32]]"
"""Unit vectors by chunk id."""


@dataclass(frozen=True, slots=True)
class Work:
    """The work that a chunk is of. `authors` are family names first ("Doe J"), `source` the file's name or address.

    `identifiers` are `pmid:1`, `pmcid:PMC1`, `doi:10.1/x`, `citekey:doe2020`, `sha256:...`, `zotero:LIBRARY/KEY`,
    `place:...` (a hash of where the file is) and the `doc_id` itself.
    """

    doc_id: str
    title: str | None = None
    citekey: str | None = None
    doi: str | None = None
    pmid: str | None = None
    url: str | None = None
    year: int | None = None
    authors: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    language: str | None = None
    source: str | None = None


@dataclass(frozen=True, slots=True)
class ProjectChunk:
    """A passage of a document of a project. `chunk_id` is unique in the project, `position` orders a document's chunks.

    `context`, title and headings, stands before `text` in what is embedded. `char_start` and `char_end` are offsets in
    the document's text; both 0 where unknown, as for chunks that a client stored. `metadata` is what that client sent.
    """

    chunk_id: str
    work: Work
    text: str
    position: int = 0
    context: str = ""
    section: str | None = None
    section_path: tuple[str, ...] = ()
    page_span: PageSpan | None = None
    char_start: int = 0
    char_end: int = 0
    kind: SectionKind = SectionKind.BODY
    metadata: Mapping[str, Any] = field(default_factory=dict)

    @property
    def embedded_text(self) -> str:
        """What the embedding model is given."""
        return f"{self.context} {self.text}".strip()

    @property
    def embedded_sha256(self) -> str:
        """SHA-256 (hex) of `embedded_text`: equal for equal vectors of one model."""
        return sha256(self.embedded_text.encode()).hexdigest()

    @property
    def terms(self) -> list[str]:
        """The analysed token stream that the lexical leg is made of: of Thai n-grams, and words where they are known.

        What was indexed without the words is found by its n-grams.
        """
        return [*analyse(self.embedded_text), *word_terms(self.embedded_text)]


@dataclass(frozen=True, slots=True)
class ChunkFilters:
    """Which chunks may be returned. Fields are joined by AND; all of `tags`, any of the others.

    Comparison ignores case, but for `citekeys`. `authors` are family names, or names as stored. `section_prefix` is the
    beginning of the headings from the top, joined by " > ": "Part I" also finds what stands below it.
    """

    tags: frozenset[str] = frozenset()
    citekeys: frozenset[str] = frozenset()
    authors: frozenset[str] = frozenset()
    doc_ids: frozenset[str] = frozenset()
    year_from: int | None = None
    year_to: int | None = None
    section_prefix: str | None = None

    def __bool__(self) -> bool:
        return self != ChunkFilters()


@dataclass(frozen=True, slots=True)
class ChunkQuery:
    """A search: `terms` (analysed, with weights) for BM25, `vector` for cosine; an empty leg is skipped.

    `model` is the fingerprint of the vector's model; "": any of its length will do.
    """

    terms: tuple[tuple[str, float], ...] = ()
    vector: "NDArray[np.float32] | None" = None
    filters: ChunkFilters = field(default_factory=ChunkFilters)
    depth: int = DEPTH
    model: str = ""


@dataclass(frozen=True, slots=True)
class ChunkMatch:
    """A chunk that at least one leg returned; `bm25` and `sim` are None where that leg did not return it."""

    chunk: ProjectChunk
    bm25: float | None = None
    sim: float | None = None

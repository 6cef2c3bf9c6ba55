"""Chunks of projects: their ids and collections, what they hold, and what of them a filter compares."""

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import TYPE_CHECKING, Any, TypeAlias

from bio_mcp.errors import InvalidInput, NotFound
from bio_mcp.literature.documents import PageSpan, SectionKind
from bio_mcp.retrieval.analysis import analyse
from bio_mcp.retrieval.thai import word_terms

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


_ID = re.compile(r"[a-z0-9][a-z0-9._-]*(?:/[a-z0-9][a-z0-9._-]*)*")
_READABLE = re.compile(r"[a-z0-9._]+(?:/[a-z0-9._-]+)?")
MAX_ID = 100  # characters
MAX_LISTED = 20  # projects that exist, in a failure


def collection_name(project_id: str) -> str:
    """The name of a project's collection: `citeloom/clean-arch` has `proj-citeloom-clean-arch`. No two ids share one.

    An id whose name another could have too, as `a-b/c` that of `a/b-c`, has `proj--`, the id and a part of its hash.
    Raises `InvalidInput` for an id that no project can have.
    """
    if len(project_id) > MAX_ID or not _ID.fullmatch(project_id):
        raise InvalidInput(
            f"{project_id[:MAX_ID]!r} cannot be the id of a project: use lower-case letters, digits, '.', '_' and '-', "
            f"in parts joined by '/', at most {MAX_ID} characters, such as lab/heart-failure"
        )
    flat = project_id.replace("/", "-")
    if _READABLE.fullmatch(project_id):
        return f"proj-{flat}"
    return f"proj--{flat}-{sha256(project_id.encode()).hexdigest()[:12]}"


MAKES = "ingest_from_source with create: true makes"  # which the command line puts into its own words
MAKES_ONE = f"{MAKES} one."


def unknown_project(project_id: str, existing: Iterable[str]) -> NotFound:
    """The failure for an unknown project; it lists up to `MAX_LISTED` others."""
    names = sorted(existing)
    more = f" and {len(names) - MAX_LISTED} more" if len(names) > MAX_LISTED else ""
    listed = ", ".join(names[:MAX_LISTED]) or "none yet"
    return NotFound(
        f"Project {project_id!r} not found. Available projects: {listed}{more}. {MAKES_ONE}",
        available_projects=names[:MAX_LISTED],
    )


DEPTH = 100  # chunks per leg of a search
ChunkVectors: TypeAlias = "Mapping[str, NDArray[np.float32]]"
"""Unit vectors by chunk id."""


@dataclass(frozen=True, slots=True)
class Work:
    """The work that a chunk is of. `authors` are family names first ("Doe J"), `source` the file's name or address.

    `identifiers` are `pmid:1`, `pmcid:PMC1`, `doi:10.1/x`, `citekey:doe2020`, `sha256:...`, `zotero:LIBRARY/KEY`,
    `place:...` (a hash of where the file is), `key:...` (a citekey that was made here) and the `doc_id` itself.
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
    journal: str | None = None


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


SECTION_SEPARATOR = " > "
_INITIALS = re.compile(r"[^\W\d_]{1,4}(?:[.-]+[^\W\d_]{0,4})*\.?")
_SUFFIXES = frozenset(["jr", "sr", "2nd", "3rd", "4th", "ii", "iii", "iv"])


def folded(text: str) -> str:
    """`text` without its case: in Unicode's composed form, single spaces between words."""
    return " ".join(unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold()).split())


def author_names(author: str) -> frozenset[str]:
    """The names by which a filter finds an author, folded: as stored, and the family name.

    "van der Berg JA 3rd" is also found as "van der berg", "Doe, Jane" and "Doe Jane" as "doe".
    """
    return frozenset(filter(None, (folded(author), folded(_family_name(author)))))


def _family_name(author: str) -> str:
    family, comma, _ = author.partition(",")
    words = author.split()
    if comma or len(words) < 2:
        return family
    count = len(words)
    while count > 1 and (
        words[count - 1].strip(".").lower() in _SUFFIXES
        or (words[count - 1].isupper() and _INITIALS.fullmatch(words[count - 1]))
    ):
        count -= 1
    return " ".join(words[: count if count < len(words) else -1])


def section_of(chunk: ProjectChunk) -> str:
    """The headings of a chunk from the top, folded: what `ChunkFilters.section_prefix` is compared with."""
    path = chunk.section_path or ((chunk.section,) if chunk.section else ())
    return folded(SECTION_SEPARATOR.join(path))


@dataclass(frozen=True, slots=True)
class WorkFacets:
    """What filters look at in a work; all but `doc_id` and `citekey` folded."""

    doc_id: str
    citekey: str | None
    year: int | None
    tags: frozenset[str]
    authors: frozenset[str]


def facets_of(work: Work) -> WorkFacets:
    """The facets of a work."""
    authors: frozenset[str] = frozenset().union(*map(author_names, work.authors))
    return WorkFacets(work.doc_id, work.citekey, work.year, frozenset(map(folded, work.tags)), authors)


def folded_filters(filters: ChunkFilters) -> ChunkFilters:
    """The same filters, spelled as facets are."""
    return replace(
        filters,
        tags=frozenset(map(folded, filters.tags)),
        authors=frozenset(map(folded, filters.authors)),
        section_prefix=None if filters.section_prefix is None else folded(filters.section_prefix),
    )

"""Projects: literature that somebody works with, each in an index of its own; its documents, and how they are read."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from bio_mcp.literature.documents import PageWord, ParsedDocument
from bio_mcp.literature.notices import Notice
from bio_mcp.retrieval.project_chunks import ChunkMatch, ChunkQuery, ChunkVectors, ProjectChunk, Work

if TYPE_CHECKING:
    from bio_mcp.retrieval.passages import Vectors

TOP_K = 20  # hits that a search may return, unless a project says otherwise
MAX_CHARACTERS = 1_800  # of a hit's text, unless a project says otherwise


@dataclass(frozen=True, slots=True)
class Project:
    """Literature that somebody works with. `collection` names its index, which holds vectors of `embed_model` alone.

    `embed_model` is the model's fingerprint. `hybrid_enabled` says whether it is searched by words as well. A search
    returns at most `top_k` hits, each cut to `max_characters`. `references` is a CSL-JSON file with its works.
    """

    project_id: str
    collection: str
    embed_model: str
    hybrid_enabled: bool = True
    references: str | None = None
    top_k: int = TOP_K
    max_characters: int = MAX_CHARACTERS


class Projects(Protocol):
    """Every project, by id. Every method may raise `StoreFailed`."""

    def get(self, project_id: str) -> Project:
        """Return the project. Raises `NotFound`, which names the projects that exist."""

    def put(self, project: Project) -> None:
        """Add the project, or replace the one of its id."""

    def all(self) -> list[Project]:
        """Return every project, by id."""

    def delete(self, project_id: str) -> bool:
        """Delete the project, not its collection or documents; returns whether it existed."""


class Collections(Protocol):
    """The index of each project, by the name of its collection. Every method may raise `IndexUnavailable`.

    Collections share nothing: no call on one reads, writes or counts what is in another, and BM25 counts the chunks of
    one alone. A collection that does not exist raises `NotFound` when it is written to, and is empty when it is read.
    The next search of any process sees a write.
    """

    def create(self, collection: str, fingerprint: str, dim: int) -> None:
        """Make the collection if there is none. Raises `ModelMismatch` when it holds another model's vectors."""

    def drop(self, collection: str) -> bool:
        """Delete the collection with all its chunks; returns whether it existed."""

    def model(self, collection: str) -> tuple[str, int] | None:
        """Return fingerprint and dimension of the model whose vectors it holds; None if there is no collection."""

    def rebuild(self, collection: str, fingerprint: str, dim: int, embed: "Callable[[Sequence[str]], Vectors]") -> None:
        """Embed every chunk's `embedded_text` by another model, beside what is searched, then switch in one step.

        Searches go on in the old index meanwhile. Chunks that are written meanwhile are in the new one, or the write
        raises `Conflict`, as it may while the switch is made. Stopped half-way, the old index stands, and the call may
        be repeated.
        """

    def replace(
        self, collection: str, doc_id: str, chunks: Sequence[ProjectChunk], vectors: ChunkVectors, model: str = ""
    ) -> None:
        """Make `chunks` all that the document has; no chunks delete it.

        `vectors` has unit vectors by chunk id; a chunk without one keeps the stored vector of the same
        `embedded_sha256`, else `Conflict` is raised. So it is for vectors of another `model` (its fingerprint) than the
        collection's, which may have been rebuilt. A search sees the old or the new chunks, and after a call that was
        killed perhaps some of both, until it is repeated. Raises `ModelMismatch` for a vector of another length.
        """

    def upsert(self, collection: str, chunks: Sequence[ProjectChunk], vectors: ChunkVectors, model: str = "") -> None:
        """Add or replace single chunks, each with its vector, whatever else their documents have.

        A chunk id that another document has moves to this one. Raises `ModelMismatch` for a vector of another length,
        and `Conflict` as `replace` does.
        """

    def hashes(self, collection: str, doc_id: str) -> dict[str, str]:
        """Return chunk id -> `embedded_sha256` of the document's chunks."""

    def document(self, collection: str, doc_id: str) -> list[ProjectChunk]:
        """Return the chunks of a document, by position and id; empty for an unknown one."""

    def search(self, collection: str, query: ChunkQuery) -> list[ChunkMatch]:
        """Return the union of the best `query.depth` chunks by BM25 and by cosine, unordered.

        Ties within a leg: chunk id ascending. A partial answer is an error, never a shorter list, and so is a search by
        another model than the collection is of by now: `IndexUnavailable`.
        """

    def sample(self, collection: str, count: int) -> list[ProjectChunk]:
        """Return `count` chunks at most, those with the lowest ids."""

    def count(self, collection: str) -> int:
        """Return the exact number of chunks."""


@dataclass(frozen=True, slots=True)
class ProjectDocument:
    """A document of a project: what identifies it, and what was read.

    `identifiers` has every name that it is known by, as `Work` lists them; no two documents of a project share one.
    `sha256` is of the file that was read, `recipe` of all else that its chunks depend on: parser, options, the model's
    limit. `chunks` is how many are in the index, and `chunks_sha256` tells which, where it is known; 0: the document is
    still to be read, whatever is there, and never was without a `recipe`. `origin` tells where it came from, such as a
    library's item with its version, for who follows that. `notices` are about its DOI, as `note_notices` found them
    last.
    """

    work: Work
    identifiers: frozenset[str]
    sha256: str = ""
    recipe: str = ""
    chunks: int = 0
    chunks_sha256: str = ""
    pages: int | None = None
    ocr: bool = False
    origin: Mapping[str, Any] = field(default_factory=dict)
    notices: tuple[Notice, ...] = ()

    @property
    def doc_id(self) -> str:
        """The document's id in the project; it stays the same when more identifiers become known."""
        return self.work.doc_id


class ProjectDocuments(Protocol):
    """The documents of each project. Every method may raise `StoreFailed`."""

    def find(self, project_id: str, identifiers: Sequence[str]) -> list[ProjectDocument]:
        """Return the documents that have any of the identifiers, each once, by id."""

    def put(self, project_id: str, document: ProjectDocument) -> None:
        """Add the document, or replace the one of its id. An identifier that another has moves to this one."""

    def delete(self, project_id: str, doc_ids: Sequence[str]) -> None:
        """Delete the documents; unknown ids change nothing."""

    def all(self, project_id: str) -> list[ProjectDocument]:
        """Return every document of the project, by id."""

    def cursor(self, project_id: str, library: str) -> dict[str, Any]:
        """Return how far a library has been read into the project, as `put_cursor` stored it; empty at first."""

    def put_cursor(self, project_id: str, library: str, cursor: Mapping[str, Any]) -> None:
        """Store how far a library has been read: JSON values."""

    def drop(self, project_id: str) -> None:
        """Delete all documents and cursors of the project."""


class Parser(Protocol):
    """Reads a file into sections: PDF, scans, DOCX, HTML, Markdown, JATS XML, plain text. Threads may share it."""

    version: str
    """Changes whenever the same file may be read differently."""

    def parse(self, content: bytes, name: str, languages: Sequence[str] = ()) -> ParsedDocument:
        """Read the file; what it is, its content says, and `name` where that does not.

        `languages` are ISO 639-1 or -3 codes for recognising text in images, the likeliest first. Takes bounded time
        and memory, whatever the file. Raises `UnreadableDocument` with the reason, and `DeadlineExceeded` when the
        `call_deadline` comes first.
        """

    def words(self, content: bytes, page: int, languages: Sequence[str] = ()) -> list[PageWord]:
        """Recognise the words on the image of a PDF's page, in reading order; none of a page that there is not.

        Bounded as `parse` is, and raises what that does.
        """

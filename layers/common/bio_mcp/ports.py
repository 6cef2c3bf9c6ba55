"""What tools and workflows need from the world. Adapters provide it; nobody asks how.

Every method may raise `StoreFailed` or, of passages, `IndexUnavailable`; what else it raises stands with it. Every
write is idempotent: the same call twice leaves what one call leaves. A write has been made durable when the call
returns.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime
from typing import TYPE_CHECKING, Any, Protocol
from uuid import UUID

from bio_mcp.checkpoints import Checkpoint as Checkpoint
from bio_mcp.checkpoints import Checkpoints as Checkpoints
from bio_mcp.deadline import Deadline
from bio_mcp.literature.changes import CorpusChange
from bio_mcp.literature.records import Article, Deletion, Document, Head
from bio_mcp.lookup import NcbiLookup
from bio_mcp.pubmed import LISTABLE, Pubmed, Summaries
from bio_mcp.pubmed import SearchPage as SearchPage
from bio_mcp.retrieval.passages import Candidate, Entry, PassageQuery, StoredChunk
from bio_mcp.work import Job as Job
from bio_mcp.work import Project as Project

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from bio_mcp.retrieval.passages import Vectors


class Documents(Protocol):
    """Articles, one per PMID."""

    def get(self, pmid: str) -> Document:
        """The document. Raises `NotFound`, also for a PMID that was deleted."""
        ...

    def get_many(self, pmids: Sequence[str]) -> dict[str, Document]:
        """Those of `pmids` that exist, by PMID."""
        ...

    def heads(self, pmids: Sequence[str]) -> dict[str, Head]:
        """What decides whether a record is news, for those of `pmids` that exist."""
        ...

    def put(self, documents: Sequence[Document]) -> None:
        """Store each document whose version is above the stored one; leave the others alone."""
        ...

    def mark_indexed(self, versions: Mapping[str, int]) -> None:
        """Note that the passages of PMID at this version are durable; never lowers a mark."""
        ...

    def delete(self, pmids: Sequence[str]) -> int:
        """Forget the articles; returns how many there were."""
        ...

    def count(self) -> int: ...

    def pmids(self) -> Iterator[str]:
        """Every PMID once, in no order; what is stored or deleted meanwhile may be among them or not."""
        ...


class Passages(Protocol):
    """The searchable passages of every document, with their vectors."""

    def ensure_schema(self, fingerprint: str, dim: int) -> None:
        """Make the index if there is none. Raises `ModelMismatch` when it holds another model's vectors."""
        ...

    def renew(self, fingerprint: str, dim: int, write: "Callable[[Sequence[str], Passages], None]") -> None:
        """Hold the vectors of another model from now on, for the same documents.

        `write` is given PMIDs, some hundred at a time, and the passages to write them to; those that no longer exist
        it leaves out. Stopped half-way, it may be repeated. An engine that can make an index beside the one that is
        searched switches to it when it is whole.
        """
        ...

    def chunk_texts(self, pmids: Sequence[str]) -> dict[str, dict[str, str]]:
        """PMID -> chunk id -> SHA-256 (hex) of the embedded text whose vector is stored."""
        ...

    def upsert_chunks(self, entries: Sequence[Entry]) -> None:
        """Replace each document's passages by the entry's, in one step per document; older versions are ignored."""
        ...

    def delete(self, pmids: Sequence[str]) -> None: ...

    def hybrid_search(self, query: PassageQuery) -> list[Candidate]:
        """The union of the best `query.depth` documents by BM25 and by cosine of their best window, unordered.

        Ties within a leg: PMID descending (as a number). A partial answer is an error, never a shorter list.
        """
        ...

    def document_vectors(self, pmids: Sequence[str]) -> "dict[str, NDArray[np.float32]]":
        """The mean of each document's passage vectors, as a unit vector of shape (dim,); unknown PMIDs are absent."""
        ...

    def chunks(self, pmids: Sequence[str], vector: "Vectors | None" = None) -> dict[str, list[StoredChunk]]:
        """The passages of each document in the order of the text, with cosines where `vector` is given."""
        ...

    def count(self) -> tuple[int, int]:
        """Documents and chunks in the index."""
        ...


class Embeddings(Protocol):
    """A sentence-embedding model."""

    @property
    def fingerprint(self) -> str:
        """Changes whenever vectors stop being comparable: model, weights, tokenizer, limit, pooling."""
        ...

    @property
    def dim(self) -> int: ...

    @property
    def max_tokens(self) -> int:
        """Tokens that the model reads, its special tokens included."""
        ...

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Length of each text in the model's own tokens, its special tokens included, not cut."""
        ...

    def embed(self, texts: Sequence[str]) -> "Vectors":
        """One unit vector per text, float32, shape (len(texts), dim). Raises `EmbeddingFailed`."""
        ...


class Entrez(Protocol):
    """PubMed by E-utilities. Raises `NcbiFailed` and its kinds, `DeadlineExceeded`. Calls are paced and retried."""

    def esearch(
        self,
        term: str,
        *,
        deadline: Deadline,
        retstart: int = 0,
        retmax: int = LISTABLE,
        sort: str = "pub_date",
        history: bool = False,
    ) -> SearchPage:
        """PMIDs that match `term`; only the first 9,999 of a search can be read."""
        ...

    def efetch(self, pmids: Sequence[str], *, deadline: Deadline) -> Iterator[Article | Deletion]:
        """Stream the records of at most 200 PMIDs; those that PubMed does not have are absent.

        Yields nothing before the answer is whole: a cut answer raises and yields nothing.
        """
        ...

    def esummary(self, pmids: Sequence[str], *, deadline: Deadline) -> Summaries:
        """Summaries, and what PubMed has none of."""
        ...


class Jobs(Protocol):
    def get(self, job_id: str) -> Job:
        """Raises `NotFound`."""
        ...

    def put(self, job: Job) -> None:
        """Store the job, in place of what it was; one that was cancelled stays as it is."""
        ...

    def is_cancelled(self, job_id: str) -> bool:
        """Whether the job is there and was cancelled."""
        ...

    def remove(self, job: Job) -> None:
        """Forget the job, finished or not."""
        ...

    def latest(self, kind: str, query_key: str, term: str | None = None) -> Job | None:
        """The newest job of this kind with this `request["query_key"]`, whatever its state.

        With a term, the newest of those that have it as `request["term"]`.
        """
        ...


class Leases(Protocol):
    """At most one holder per name."""

    def acquire(self, name: str, holder: str, seconds: float) -> bool:
        """Take or extend the lease; False when another holder's has not run out."""
        ...

    def release(self, name: str, holder: str) -> None: ...


class Continuations(Protocol):
    """Tool calls to be made later, at least once each, `delay_s` seconds from now at the earliest."""

    def send(self, event: dict[str, Any], delay_s: float = 0) -> None:
        """`event` is `{"tool": name, "arguments": {...}}`. Two equal events may become one: doubles change nothing."""
        ...


class Announcements(Protocol):
    """Tells whoever listens what became of the corpus."""

    def publish(self, news: Sequence[CorpusChange]) -> None:
        """Tell each at least once, in any order. Raises `UpstreamFailed` when not all could be told."""
        ...


class Audit(Protocol):
    def record(self, action: str, subject: str, before: Any, after: Any, caller: str | None = None) -> None:
        """Append to the log of changes made by hand. Values are JSON; `caller` is who asked for it, where known."""
        ...


class Blobs(Protocol):
    """Bytes that are too many for a table, as a long article. What a key stands for never changes."""

    def put(self, folder: str, content: bytes, suffix: str = "") -> str:
        """Keep `content`; returns its key, `folder/<SHA-256 in hex><suffix>`: equal bytes have one key.

        `folder` is words of a-z, 0-9 and - joined by /, `suffix` like ".pdf". Raises `InvalidInput` for others.
        """
        ...

    def get(self, key: str) -> bytes:
        """The bytes, checked against their key. Raises `NotFound`, also for what `put` cannot have made."""
        ...

    def exists(self, key: str) -> bool: ...


class Projects(Protocol):
    def get(self, project_id: str) -> Project:
        """Raises `NotFound`, naming the projects that there are."""
        ...

    def put(self, project: Project) -> None:
        """Add the project, or replace the one of its id."""
        ...

    def all(self) -> list[Project]:
        """Every project, by id."""
        ...


class Backends(Protocol):
    """Every port, reached lazily: an attribute connects on first use."""

    @property
    def documents(self) -> Documents: ...
    @property
    def passages(self) -> Passages: ...
    @property
    def embeddings(self) -> Embeddings: ...
    @property
    def entrez(self) -> Entrez: ...
    @property
    def pubmed(self) -> Pubmed: ...
    @property
    def lookup(self) -> NcbiLookup: ...
    @property
    def checkpoints(self) -> Checkpoints: ...
    @property
    def jobs(self) -> Jobs: ...
    @property
    def leases(self) -> Leases: ...
    @property
    def continuations(self) -> Continuations: ...
    @property
    def audit(self) -> Audit: ...
    @property
    def announcements(self) -> Announcements: ...
    @property
    def blobs(self) -> Blobs: ...
    @property
    def projects(self) -> Projects: ...

    @property
    def chunk_namespace(self) -> UUID:
        """What the public ids of chunks are made in; the same for as long as a corpus lives."""
        ...

    def today(self) -> date:
        """The day it is at NCBI (US Eastern)."""
        ...

    def now(self) -> datetime:
        """The time it is, UTC."""
        ...


Records = Iterable[Article | Deletion]

"""Where the corpus is stored: articles, passages with vectors, large files; and the model that makes the vectors."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from types import MappingProxyType
from typing import TYPE_CHECKING, Protocol

from bio_mcp.literature.records import Document, Head
from bio_mcp.retrieval.passages import Candidate, Entry, PassageQuery, StoredChunk, YearCount

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
        ...

    def get_many(self, pmids: Sequence[str]) -> dict[str, Document]:
        """Return those of `pmids` that exist, by PMID; unknown PMIDs are absent."""
        ...

    def heads(self, pmids: Sequence[str]) -> dict[str, Head]:
        """Return what decides whether a fetched record differs from the stored one; unknown PMIDs are absent."""
        ...

    def resolve(self, identifiers: Sequence[str]) -> dict[str, str]:
        """Return the PMID of the paper that has it, for each identifier that a stored paper has; the lowest of several.

        An identifier is `doi:10.1000/xyz` or `pmcid:PMC1`, as `literature.identifiers` normalises it.
        """
        ...

    def put(self, documents: Sequence[Document]) -> None:
        """Store each document whose version is above the stored one; leave the others alone.

        Concurrent writers may interleave: the highest version stands in the end.
        """
        ...

    def at_version(self, pmid: str, version: int) -> Document:
        """Return the document as it was stored at `version`, also when newer ones have replaced it.

        `indexed_version` is 0. The newest version and the last five that were replaced are stored. Raises `NotFound`
        for another one, and for a paper that was deleted.
        """
        ...

    def mark_indexed(self, versions: Mapping[str, int]) -> None:
        """Record that the passages of each PMID are durable at this version; never lowers a mark."""
        ...

    def delete(self, pmids: Sequence[str]) -> int:
        """Delete the articles; returns how many existed. Unknown PMIDs change nothing."""
        ...

    def count(self) -> int:
        """Return the exact number of articles."""
        ...

    def stored_by_day(self, days: int) -> list[StoredDay]:
        """Return what was stored on each of the last `days` days, today's included, the oldest first.

        Days are of UTC; one on which nothing was stored is left out, and so is what came before days were counted. It
        is for people: a process that is killed as it stores may leave papers uncounted.
        """
        ...

    def pmids(self) -> Iterator[str]:
        """Yield every PMID once, in no order; one that is stored or deleted meanwhile may be among them or not."""
        ...


class Passages(Protocol):
    """The searchable passages of every document, with their vectors. Every method may raise `IndexUnavailable`.

    The next search of any process sees a write that is not left to `refresh`, except in OpenSearch Serverless, whose
    searches lag by seconds. Reading by PMID sees each write at once.
    """

    def ensure_schema(self, fingerprint: str, dim: int) -> None:
        """Make the index if there is none. Raises `ModelMismatch` when it holds another model's vectors."""
        ...

    def check_model(self, fingerprint: str, dim: int) -> None:
        """Raise `ModelMismatch` when the index holds another model's vectors; reads only. An empty or absent index
        holds none."""
        ...

    def renew(self, fingerprint: str, dim: int) -> None:
        """Hold the vectors of this model from now on: an index of another model becomes an empty one, in one step."""
        ...

    def name(self) -> str:
        """Return what tells this index from all others, as long as it exists; "" before there is one."""
        ...

    def chunk_texts(self, pmids: Sequence[str]) -> dict[str, dict[str, str]]:
        """Return PMID -> chunk id -> SHA-256 (hex) of the embedded text whose vector is stored."""
        ...

    def chunk_vectors(self, pmids: Sequence[str]) -> dict[str, dict[str, "NDArray[np.float32]"]]:
        """Return PMID -> SHA-256 (hex) of the embedded text -> its vector as stored, of shape (dim,)."""
        ...

    def upsert_chunks(self, entries: Sequence[Entry], *, refresh: bool = True) -> None:
        """Replace each document's passages by the entry's, in one step per document; ignore older versions.

        The write is durable. With `refresh` False searches may miss it until `refresh` is called.
        Raises `ModelMismatch` for vectors of another length, `EmbeddingFailed` for one that is not finite.
        """
        ...

    def refresh_after(self) -> int:
        """How many documents a long run should write before each `refresh`: 1 where a refresh costs nothing."""
        ...

    def refresh(self, fingerprint: str, dim: int) -> None:
        """Let searches see all that this model's runs have written, by whatever process.

        Raises `ModelMismatch` when an index of another model is searched by now: it has none of that.
        """
        ...

    def delete(self, pmids: Sequence[str]) -> None:
        """Remove the passages of the documents; unknown PMIDs change nothing."""
        ...

    def hybrid_search(self, query: PassageQuery) -> list[Candidate]:
        """Return the union of the best `query.depth` documents by BM25 and by cosine of their best window, unordered.

        Ties within a leg: PMID descending (as a number). A partial answer is an error, never a shorter list.
        """
        ...

    def document_vectors(self, pmids: Sequence[str]) -> "dict[str, NDArray[np.float32]]":
        """Return the mean of each document's passage vectors, as a unit vector of shape (dim,).

        Unknown PMIDs are absent.
        """
        ...

    def chunks(self, pmids: Sequence[str], vector: "Vectors | None" = None) -> dict[str, list[StoredChunk]]:
        """Return the passages of each document in the order of the text, with cosines where `vector` is given."""
        ...

    def count(self) -> tuple[int, int]:
        """Return the number of documents and of chunks in the index."""
        ...

    def by_year(self) -> list[YearCount]:
        """Return how many documents of each year and study design there are, by year and points, unknown ones first."""
        ...


class Embeddings(Protocol):
    """A sentence-embedding model. Threads may share it."""

    @property
    def fingerprint(self) -> str:
        """Changes whenever vectors stop being comparable: model, weights, tokenizer, limit, pooling."""
        ...

    @property
    def dim(self) -> int:
        """Numbers in a vector."""
        ...

    @property
    def max_tokens(self) -> int:
        """Tokens that the model reads, its special tokens included."""
        ...

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Return the length of each text in the model's own tokens, its special tokens included, not cut."""
        ...

    def embed(self, texts: Sequence[str]) -> "Vectors":
        """Return one unit vector per passage, float32, shape (len(texts), dim). Raises `EmbeddingFailed`."""
        ...

    def embed_questions(self, texts: Sequence[str]) -> "Vectors":
        """Return as `embed` does what to compare with passages: some models want what is asked in another form."""
        ...


EXPIRING_DAYS: Mapping[str, int] = MappingProxyType({"exports": 7})
"""First folders whose files may be deleted so many days after they were last put."""


class Blobs(Protocol):
    """Bytes that are too many for a table, such as a long article. What a key stands for never changes.

    Files of `EXPIRING_DAYS` are gone some time after their days. Every method may raise `StoreFailed`.
    """

    def put(self, folder: str, content: bytes, suffix: str = "") -> str:
        """Store `content`; returns its key, `folder/<SHA-256 in hex><suffix>`: equal bytes have one key.

        `folder` is words of a-z, 0-9 and - joined by /, `suffix` like ".pdf". Raises `InvalidInput` for others.
        """
        ...

    def get(self, key: str) -> bytes:
        """Return the bytes, checked against their key. Raises `NotFound`, also for what `put` cannot have made."""
        ...

    def exists(self, key: str) -> bool:
        """Return whether the key is stored; False for what `put` cannot have made."""
        ...

    def join(self, keys: Sequence[str]) -> str:
        """Store what the keys hold, one after another, as one file; returns its key, in the folder of the first.

        Memory is bounded by the largest of them. Raises `NotFound`.
        """
        ...

    def stream(self, key: str) -> Iterator[bytes]:
        """Yield the bytes, some at a time, not compared with their key. Raises `NotFound` before the first."""
        ...

    def link(self, key: str, name: str, seconds: int) -> str | None:
        """Return an address that downloads the file under this name, by whoever has it, for so long.

        None where files are on this machine alone; reads nothing.
        """
        ...

    def uri(self, key: str) -> str:
        """Return where whoever runs this finds the file: `file:///...` or `s3://bucket/key`; reads nothing."""
        ...

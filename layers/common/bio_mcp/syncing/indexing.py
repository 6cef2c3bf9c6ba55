"""The indexes of papers: what is written to them, refreshed and deleted."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar

from bio_mcp.errors import Conflict, Failure, ModelMismatch
from bio_mcp.literature.records import Document
from bio_mcp.ports import Backends
from bio_mcp.ports.models import PaperIndex, Role
from bio_mcp.ports.stores import Embeddings, Passages
from bio_mcp.retrieval.chunking import chunks_of, entry_of
from bio_mcp.retrieval.passages import Chunk, Entry
from bio_mcp.scope import one_index

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = dict[str, NDArray[np.float32]]

T = TypeVar("T")
NOTHING: Mapping[str, Any] = MappingProxyType({})
Embed = Callable[[Sequence[Document], Embeddings, Passages], list[Entry]]
"""What `embedded` does."""
SLICE = 32  # documents embedded between two checks of the time


def slices(items: Iterable[T], passages: Passages | None = None) -> Iterator[list[T]]:
    """Yield the items, `SLICE` at a time, or as many as these passages want to be written together."""
    rest, size = iter(items), max(SLICE, passages.write_at_once) if passages else SLICE
    while part := list(islice(rest, size)):
        yield part


@contextmanager
def searched_index(backends: Backends) -> Iterator[tuple[Embeddings, Passages]]:
    """The model and the index that papers are searched by, which is made if there is none: one pair for a block.

    Raises `ModelMismatch` where this process does not have the model.
    """
    with one_index():
        embeddings, passages = backends.embeddings, backends.passages
        passages.ensure_schema(embeddings.fingerprint, embeddings.dim)
        yield embeddings, passages


def refresh_all(backends: Backends) -> None:
    """Let searches see what was written to any index."""
    with searched_index(backends) as (embeddings, passages):
        passages.refresh(embeddings.fingerprint, embeddings.dim)
        searched = passages.name()
    for each in backends.indexes.all():
        if each.name != searched:
            each.passages.refresh(each.fingerprint, each.dim)


def delete_passages(upto: Mapping[str, int], backends: Backends, done: set[str]) -> None:
    """Remove passages up to these versions from every index but those that are `done`, by name, and add it there. They
    are refused from now on."""
    while left := [each for each in backends.indexes.all() if each.name not in done]:
        for each in left:
            with unless_removed(each, backends):
                each.passages.delete(list(upto), upto)
            done.add(each.name)


def model_of(index: PaperIndex, backends: Backends) -> Embeddings:
    """The model of an index. Raises `ModelMismatch` where this process does not have it."""
    model = backends.models.of(index.fingerprint)
    if model is None:
        without = "bio-mcp admin reindex" if index.role is Role.SEARCHED else "bio-mcp admin reindex remove"
        raise ModelMismatch(
            f"The {index.role} index of the papers is of the model {index.fingerprint}, which is not installed here. "
            f"Install it (bio-mcp admin models add), or do without that index ({without}).",
            indexed=index.fingerprint,
            configured=backends.embeddings.fingerprint,
        )
    return model


@contextmanager
def unless_removed(index: PaperIndex, backends: Backends) -> Iterator[None]:
    """Let no failure out that an index gives because it was removed meanwhile."""
    try:
        yield
    except Failure:
        if any(each.name == index.name for each in backends.indexes.all()):
            raise


def write_passages(
    documents: Sequence[Document],
    embeddings: Embeddings,
    passages: Passages,
    *,
    twin: Passages | None = None,
) -> None:
    """Replace the documents' passages, which searches may miss until a refresh; only texts whose vector is not stored
    yet are embedded.

    `twin` is another index of the same model, whose vectors are taken where it has them.
    """
    for part in slices(documents, passages):
        try:
            passages.upsert_chunks(embedded(part, embeddings, passages, twin), refresh=False)
        except Conflict:  # a vector that was stored was deleted by another writer meanwhile
            passages.upsert_chunks(embedded(part, embeddings, passages, twin), refresh=False)


def embedded(
    documents: Sequence[Document], embeddings: Embeddings, passages: Passages, twin: Passages | None = None
) -> list[Entry]:
    """The documents' index entries, without the vectors of texts that are stored already."""
    pmids = [document.article.pmid for document in documents]
    return entries_of(documents, passages.chunk_texts(pmids), embeddings, twin.chunk_vectors(pmids) if twin else {})


def entries_of(
    documents: Sequence[Document],
    known: Mapping[str, Mapping[str, str]],
    embeddings: Embeddings,
    made: "Mapping[str, Vectors]" = NOTHING,
) -> list[Entry]:
    """The index entry of each document; only texts that are not `known` (PMID -> chunk id -> SHA-256) get a vector.

    It is embedded, unless it is `made` already (PMID -> SHA-256 -> vector).
    """
    chunked = [chunks_of(each.article, embeddings.count_tokens, embeddings.max_tokens) for each in documents]
    fresh: list[Vectors] = [{} for _ in documents]
    missing = list[tuple[int, Chunk]]()
    for position, (document, chunks) in enumerate(zip(documents, chunked, strict=True)):
        stored, there = known.get(document.article.pmid, {}), made.get(document.article.pmid, {})
        for chunk in chunks:
            if stored.get(chunk.chunk_id) == chunk.embedded_sha256:
                continue
            if there and (vector := there.get(chunk.embedded_sha256)) is not None:
                fresh[position][chunk.chunk_id] = vector
            else:
                missing.append((position, chunk))
    vectors = embeddings.embed([chunk.embedded_text for _, chunk in missing]) if missing else ()
    for (position, chunk), vector in zip(missing, vectors, strict=True):
        fresh[position][chunk.chunk_id] = vector
    return [entry_of(document, chunks, new) for document, chunks, new in zip(documents, chunked, fresh, strict=True)]

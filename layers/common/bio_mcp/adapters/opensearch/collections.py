"""The indexes of projects in OpenSearch: one small index for each, named after its collection, behind an alias.

A write is refreshed as a whole, at its end, and OpenSearch itself refreshes nothing before: a search sees a document's
old chunks or its new ones. Not so on Serverless, whose searches lag by seconds.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeVar

from bio_mcp.adapters.collections import (
    check_chunk_vectors,
    check_same_model,
    no_vector,
    other_collection_model,
    unknown_collection,
)
from bio_mcp.adapters.entry_vectors import other_model
from bio_mcp.adapters.opensearch.bulk import Bulk
from bio_mcp.adapters.opensearch.chunk_documents import CHUNKS, chunk_of, document_of, key_of
from bio_mcp.adapters.opensearch.chunk_index import ChunkIndex
from bio_mcp.adapters.opensearch.chunk_queries import CHUNK
from bio_mcp.adapters.opensearch.collection_indices import CollectionIndices
from bio_mcp.adapters.opensearch.collection_rebuild import Embed, rebuild
from bio_mcp.adapters.opensearch.endpoint import transport_to
from bio_mcp.adapters.opensearch.errors import IndexRefused
from bio_mcp.adapters.opensearch.index import GONE, Index
from bio_mcp.adapters.opensearch.inspection import count_projects, room_for
from bio_mcp.adapters.opensearch.schema import FLAVOURS, Layout
from bio_mcp.adapters.opensearch.transport import OpenSearchTransport
from bio_mcp.errors import Conflict, IndexUnavailable, InvalidInput
from bio_mcp.health import OK, Finding
from bio_mcp.retrieval.project_chunks import ChunkMatch, ChunkQuery, ChunkVectors, ProjectChunk

if TYPE_CHECKING:
    from bio_mcp.retrieval.passages import Vectors

T = TypeVar("T")


def connected(url: str, service: str, corpus: str, *, k1: float, b: float) -> "OpenSearchCollections":
    """Return the collections at `url` whose names begin with `corpus`. Connects when first used."""
    layout = Layout(FLAVOURS[service], k1, b, contents=CHUNKS)
    return OpenSearchCollections(transport_to(url, service), corpus, layout)


class OpenSearchCollections:
    """The port `Collections` over an index for each."""

    def __init__(
        self, transport: OpenSearchTransport, corpus: str, layout: Layout, *, bulk: Bulk | None = None
    ) -> None:
        self.indices = CollectionIndices(transport, corpus, layout, bulk or Bulk(transport))

    def create(self, collection: str, fingerprint: str, dim: int) -> None:
        alias = self.indices.alias(collection)
        if alias is None:
            raise InvalidInput(f"{collection[:150]!r} cannot be the name of a collection")
        index = alias.refresh()
        if index is not None and index.holds(fingerprint, dim):
            return
        if index is not None and self.indices.chunks(index).count():
            raise other_collection_model(collection, index.fingerprint, fingerprint)
        for each in (self.indices.following(alias), alias):
            self.indices.remove(each)
        self.indices.make(collection, alias, fingerprint, dim)

    def drop(self, collection: str) -> bool:
        alias = self.indices.alias(collection)
        if alias is None:
            return False
        self.indices.remove(self.indices.following(alias))
        return self.indices.remove(alias)

    def model(self, collection: str) -> tuple[str, int] | None:
        alias = self.indices.alias(collection)
        index = alias.refresh() if alias else None
        return (index.fingerprint, index.dim) if index else None

    def rebuild(self, collection: str, fingerprint: str, dim: int, embed: Embed) -> None:
        rebuild(self.indices, collection, fingerprint, dim, embed)

    def replace(
        self, collection: str, doc_id: str, chunks: Sequence[ProjectChunk], vectors: ChunkVectors, model: str = ""
    ) -> None:
        def write(index: ChunkIndex) -> None:
            index.refresh()  # what a killed call wrote is listed too
            stored = [hit["_id"] for hit in index.listed(doc_id)]
            missing = any(each.chunk_id not in vectors for each in chunks)
            new = _documents(chunks, vectors, index.vectors(doc_id) if missing else {})
            index.put(new)
            index.delete([key for key in stored if key not in new])

        self._write(collection, vectors, model, write)

    def upsert(self, collection: str, chunks: Sequence[ProjectChunk], vectors: ChunkVectors, model: str = "") -> None:
        self._write(collection, vectors, model, lambda index: index.put(_documents(chunks, vectors, {})))

    def hashes(self, collection: str, doc_id: str) -> dict[str, str]:
        def read(index: ChunkIndex) -> dict[str, str]:
            return {hit["sort"][0]: hit["fields"]["embedded"][0] for hit in index.listed(doc_id)}

        return self._read(collection, read, {})

    def document(self, collection: str, doc_id: str) -> list[ProjectChunk]:
        def read(index: ChunkIndex) -> list[ProjectChunk]:
            return [chunk_of(hit["_source"]) for hit in index.listed(doc_id, CHUNK)]

        chunks: list[ProjectChunk] = self._read(collection, read, [])
        return sorted(chunks, key=lambda chunk: (chunk.position, chunk.chunk_id))

    def search(self, collection: str, query: ChunkQuery) -> list[ChunkMatch]:
        def read(index: ChunkIndex) -> list[ChunkMatch]:
            if query.vector is None:
                return index.search(query)
            check_same_model(collection, index.index.fingerprint, query.model, IndexUnavailable)
            if query.vector.shape == (index.index.dim,):
                return index.search(query)
            if index.count():
                raise other_model()
            return []

        return self._read(collection, read, [])

    def sample(self, collection: str, count: int) -> list[ProjectChunk]:
        def read(index: ChunkIndex) -> list[ProjectChunk]:
            listed = index.listed(source=CHUNK, at_once=max(1, min(count, 1_000)))
            return [chunk_of(hit["_source"]) for hit in islice(listed, max(0, count))]

        return self._read(collection, read, [])

    def count(self, collection: str) -> int:
        return self._read(collection, ChunkIndex.count, 0)

    def inspect(self) -> Finding:
        """Count the projects, and say how many more the domain has room for."""
        transport, corpus = self.indices.transport, self.indices.corpus
        if self.indices.layout.flavour.tunable:
            return room_for(transport, corpus)
        count = count_projects(transport, corpus)
        return Finding(OK, f"{count:,} projects; a Serverless collection has no shards to count")

    def _read(self, collection: str, read: Callable[[ChunkIndex], T], empty: T) -> T:
        """Read the index, or its successor when it was rebuilt meanwhile.

        Raises `IndexUnavailable` when an index that this process has just seen is gone without one.
        """
        alias = self.indices.alias(collection)
        index = alias.index() if alias else None
        if alias is None or index is None:
            return empty
        try:
            return read(self.indices.chunks(index))
        except IndexRefused as error:
            if error.kind != GONE:
                raise
        index = alias.refresh()
        if index is None:
            raise IndexUnavailable(
                f"The collection {collection} was there a moment ago and is gone: its project was deleted, or its "
                "index lost."
            )
        return read(self.indices.chunks(index))

    def _write(
        self,
        collection: str,
        vectors: ChunkVectors,
        model: str,
        write: Callable[[ChunkIndex], None],
    ) -> None:
        """Write to the index, then let searches see it. Raises `Conflict` if another index is searched by then."""
        alias = self.indices.alias(collection)
        index = alias.refresh() if alias else None
        if alias is None or index is None:
            raise unknown_collection(collection)
        if vectors:
            check_same_model(collection, index.fingerprint, model, Conflict)
        check_chunk_vectors(vectors, index.dim)
        chunks = self.indices.chunks(index)
        try:
            write(chunks)
            chunks.refresh()
        finally:
            _check_same(collection, index, alias.refresh())


def _documents(
    chunks: Sequence[ProjectChunk], vectors: ChunkVectors, stored: "Mapping[str, Vectors]"
) -> dict[str, dict[str, Any]]:
    """The documents of the chunks by `_id`, with given or stored vectors. Raises `Conflict` for a lack of both."""
    found = {}
    for chunk in chunks:
        vector = vectors.get(chunk.chunk_id, stored.get(chunk.embedded_sha256))
        if vector is None:
            raise no_vector(chunk)
        found[key_of(chunk.chunk_id)] = document_of(chunk, vector)
    return found


def _check_same(collection: str, index: Index, now: Index | None) -> None:
    if now is None:
        raise unknown_collection(collection)
    if now != index or now.blocked:
        raise Conflict(
            f"The collection {collection} is just being switched to another model; write again in a minute. If nobody "
            "rebuilds it, rebuild it again: that was stopped half-way."
        )

"""The indexes of projects in OpenSearch: one small index for each, named after its collection, behind an alias.

The alias is `CORPUS.COLLECTION`; the indices behind it add `~`, which no collection's name has, so that no name of one
can be read as another's, and a pattern that ends in `~*` finds what is one collection's alone. A policy may allow
names that begin with `CORPUS.` and nothing else.

A write is refreshed as a whole, at its end, and OpenSearch itself refreshes nothing before: a search sees a document's
old chunks or its new ones. Not so on Serverless, whose searches lag by seconds.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeVar

from bio_mcp.adapters.collections import (
    check_chunk_vectors,
    no_vector,
    other_collection_model,
    rebuild_overtaken,
    unknown_collection,
)
from bio_mcp.adapters.entry_vectors import other_model
from bio_mcp.adapters.opensearch.bulk import Bulk
from bio_mcp.adapters.opensearch.chunk_documents import CHUNKS, chunk_of, document_of, key_of
from bio_mcp.adapters.opensearch.chunk_index import ChunkIndex
from bio_mcp.adapters.opensearch.chunk_queries import CHUNK
from bio_mcp.adapters.opensearch.collection_rebuild import bring_up
from bio_mcp.adapters.opensearch.endpoint import transport_to
from bio_mcp.adapters.opensearch.errors import IndexRefused
from bio_mcp.adapters.opensearch.index import GONE, Alias, Index
from bio_mcp.adapters.opensearch.schema import FLAVOURS, Layout
from bio_mcp.adapters.opensearch.transport import OpenSearchTransport
from bio_mcp.errors import Conflict, IndexUnavailable, InvalidInput, ModelMismatch
from bio_mcp.retrieval.project_chunks import ChunkMatch, ChunkQuery, ProjectChunk

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from bio_mcp.retrieval.passages import Vectors

T = TypeVar("T")

FULL = "validation_exception"  # of making an index: the nodes hold as many shards as they may
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,150}")


def connected(
    url: str, service: str, corpus: str, *, k1: float, b: float, region: str | None = None
) -> "OpenSearchCollections":
    """Return the collections at `url` whose names begin with `corpus`. Connects when first used."""
    layout = Layout(FLAVOURS[service], k1, b, contents=CHUNKS)
    return OpenSearchCollections(transport_to(url, service, region), corpus, layout)


class OpenSearchCollections:
    """The port `Collections` over an index for each."""

    def __init__(
        self, transport: OpenSearchTransport, corpus: str, layout: Layout, *, bulk: Bulk | None = None
    ) -> None:
        self._transport = transport
        self._corpus = corpus
        self._layout = layout
        self._bulk = bulk or Bulk(transport)
        self._aliases: dict[str, Alias] = {}

    def create(self, collection: str, fingerprint: str, dim: int) -> None:
        alias = self._alias(collection)
        if alias is None:
            raise InvalidInput(f"{collection[:150]!r} cannot be the name of a collection")
        index = alias.refresh()
        if index is not None and index.holds(fingerprint, dim):
            return
        if index is not None and self._chunks(index).count():
            raise other_collection_model(collection, index.fingerprint, fingerprint)
        for each in (self._following(alias), alias):
            self._remove_all(each)
        _made(collection, lambda: alias.make(fingerprint, dim))

    def drop(self, collection: str) -> bool:
        alias = self._alias(collection)
        if alias is None:
            return False
        self._remove_all(self._following(alias))
        return self._remove_all(alias)

    def model(self, collection: str) -> tuple[str, int] | None:
        alias = self._alias(collection)
        index = alias.refresh() if alias else None
        return (index.fingerprint, index.dim) if index else None

    def rebuild(self, collection: str, fingerprint: str, dim: int, embed: "Callable[[Sequence[str]], Vectors]") -> None:
        alias = self._alias(collection)
        old = alias.refresh() if alias else None
        if alias is None or old is None:
            raise unknown_collection(collection)
        first = alias.index_name(fingerprint, dim) != old.name
        following = self._following(alias, generation=1 if first else 2)
        begun = following.refresh()
        if begun is not None and begun.name != following.index_name(fingerprint, dim):
            self._remove_all(following)
        new = _made(collection, lambda: following.make(fingerprint, dim))
        try:
            self._bring_up_and_switch(alias, old, following, new, embed)
        except IndexUnavailable:
            if alias.refresh() != old:
                raise rebuild_overtaken(collection) from None
            raise

    def replace(
        self, collection: str, doc_id: str, chunks: Sequence[ProjectChunk], vectors: "Mapping[str, NDArray[np.float32]]"
    ) -> None:
        def write(index: ChunkIndex) -> None:
            index.refresh()  # what a killed call wrote is listed too
            stored = [hit["_id"] for hit in index.listed(doc_id)]
            lacking = any(each.chunk_id not in vectors for each in chunks)
            new = _documents(chunks, vectors, index.vectors(doc_id) if lacking else {})
            index.put(new)
            index.delete([key for key in stored if key not in new])

        self._write(collection, vectors, write)

    def upsert(
        self, collection: str, chunks: Sequence[ProjectChunk], vectors: "Mapping[str, NDArray[np.float32]]"
    ) -> None:
        self._write(collection, vectors, lambda index: index.put(_documents(chunks, vectors, {})))

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
            if query.vector is None or query.vector.shape == (index.index.dim,):
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

    def _read(self, collection: str, read: Callable[[ChunkIndex], T], empty: T) -> T:
        """Read the index, or its successor when it was rebuilt meanwhile.

        Raises `IndexUnavailable` when an index that this process has just seen is gone without one.
        """
        alias = self._alias(collection)
        index = alias.index() if alias else None
        if alias is None or index is None:
            return empty
        try:
            return read(self._chunks(index))
        except IndexRefused as error:
            if error.kind != GONE:
                raise
        index = alias.refresh()
        if index is None:
            raise IndexUnavailable(
                f"The collection {collection} was there a moment ago and is gone: its project was deleted, or its "
                "index lost."
            )
        return read(self._chunks(index))

    def _write(
        self, collection: str, vectors: "Mapping[str, NDArray[np.float32]]", write: Callable[[ChunkIndex], None]
    ) -> None:
        """Write to the index, then let searches see it. Raises `Conflict` if another index is searched by then."""
        alias = self._alias(collection)
        index = alias.refresh() if alias else None
        if alias is None or index is None:
            raise unknown_collection(collection)
        check_chunk_vectors(vectors, index.dim)
        chunks = self._chunks(index)
        try:
            write(chunks)
            chunks.refresh()
        finally:
            _check_same(collection, index, alias.refresh())

    def _bring_up_and_switch(
        self, alias: Alias, old: Index, following: Alias, new: Index, embed: "Callable[[Sequence[str]], Vectors]"
    ) -> None:
        bring_up(self._chunks(old), self._chunks(new), embed)
        with ExitStack() as undo:
            if self._layout.flavour.tunable:
                undo.callback(alias.block, old, blocked=False)
                alias.block(old)
            bring_up(self._chunks(old), self._chunks(new), embed)
            alias.hand_over(old, new, also_from=following)
            undo.pop_all()

    def _chunks(self, index: Index) -> ChunkIndex:
        return ChunkIndex(self._transport, self._bulk, self._layout, index)

    def _alias(self, collection: str) -> Alias | None:
        """The alias of a collection; None for what can be the name of none, which is never sent to OpenSearch."""
        if not _NAME.fullmatch(collection):
            return None
        if collection not in self._aliases:
            name = f"{self._corpus}.{collection}"
            self._aliases[collection] = Alias(self._transport, name, name, self._layout)
        return self._aliases[collection]

    def _following(self, alias: Alias, generation: int = 1) -> Alias:
        """The alias of the index that a rebuild fills."""
        layout = replace(self._layout, generation=generation)
        return Alias(self._transport, f"{alias.name}{CHUNKS.separator}next", alias.corpus, layout)

    def _remove_all(self, alias: Alias) -> bool:
        """Remove what is behind the alias; returns whether there was something."""
        found = False
        while (index := alias.refresh()) is not None:
            found = True
            try:
                self._transport.ask("DELETE", f"/{index.name}")
            except IndexRefused as error:
                if error.kind != GONE:
                    raise
        return found


def _documents(
    chunks: Sequence[ProjectChunk], vectors: "Mapping[str, NDArray[np.float32]]", stored: "Mapping[str, Vectors]"
) -> dict[str, dict[str, Any]]:
    """The documents of the chunks by `_id`, with given or stored vectors. Raises `Conflict` for a lack of both."""
    found = {}
    for chunk in chunks:
        vector = vectors.get(chunk.chunk_id, stored.get(chunk.embedded_sha256))
        if vector is None:
            raise no_vector(chunk)
        found[key_of(chunk.chunk_id)] = document_of(chunk, vector)
    return found


def _made(collection: str, make: Callable[[], Index]) -> Index:
    """Return the index that `make` makes, its failures in words of collections."""
    try:
        return make()
    except ModelMismatch as error:
        raise other_collection_model(collection, error.details["indexed"], error.details["configured"]) from None
    except IndexRefused as error:
        if error.kind != FULL:
            raise
        raise IndexUnavailable(
            "The search domain has no room for another project's index: delete projects, or give the domain more "
            "nodes; bio-mcp doctor counts.",
            retryable=False,
        ) from error


def _check_same(collection: str, index: Index, now: Index | None) -> None:
    if now is None:
        raise unknown_collection(collection)
    if now != index or now.blocked:
        raise Conflict(
            f"The collection {collection} is being rebuilt for another model; write again when that has ended. If "
            "nobody rebuilds it, rebuild it again: that was stopped half-way."
        )

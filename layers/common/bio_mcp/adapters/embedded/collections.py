"""The indexes of projects: stored in the corpus file, each searched in memory."""

import json
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from bio_mcp.adapters.collections import (
    check_chunk_vectors,
    check_same_model,
    other_collection_model,
    unknown_collection,
)
from bio_mcp.adapters.embedded.chunk_checks import intact_hashes, intact_vectors
from bio_mcp.adapters.embedded.chunk_rows import (
    Head,
    decoded_row,
    delete_chunks,
    head,
    term_numbers,
    vectors_of,
    write_chunks,
)
from bio_mcp.adapters.embedded.collection_builds import add_build, rebuild, switch
from bio_mcp.adapters.embedded.collection_index import CollectionSnapshot, LoadedCollections
from bio_mcp.adapters.embedded.database import Database
from bio_mcp.adapters.entry_vectors import other_model
from bio_mcp.errors import Conflict, IndexUnavailable
from bio_mcp.retrieval.chunk_facets import folded_filters
from bio_mcp.retrieval.project_chunks import ChunkMatch, ChunkQuery, ChunkVectors, ProjectChunk

if TYPE_CHECKING:
    from bio_mcp.retrieval.passages import Vectors

TRIES = 10  # of a search whose collection other searches see change
_CHUNKS = (
    "SELECT c.id, c.chunk_id, c.doc_id, c.position, CAST(t.chunk AS BLOB), t.crc FROM collection_chunks AS c "
    "LEFT JOIN collection_texts AS t ON t.id = c.id WHERE c.collection = ? AND "
)
_NUMBERS = "SELECT id FROM collection_chunks WHERE collection = ?"
_REPLACED = f"{_NUMBERS} AND (doc_id = ? OR chunk_id IN (SELECT value FROM json_each(?)))"  # noqa: S608


class SqliteCollections:
    """The port `Collections` over the corpus file. `k1` and `b` are BM25's parameters."""

    def __init__(self, database: Database, *, k1: float, b: float) -> None:
        self._database = database
        self._loaded = LoadedCollections(k1, b)

    def create(self, collection: str, fingerprint: str, dim: int) -> None:
        if self.model(collection) == (fingerprint, dim):
            return
        with self._database.writing(IndexUnavailable) as connection:
            stored = head(connection, collection)
            if stored is None:
                number = connection.execute(
                    "INSERT INTO collections VALUES (NULL, ?, 0, 0, 0)", (collection,)
                ).lastrowid
                stored = Head(number or 0, 0, 0, "", 0)
            elif (stored.model, stored.dim) == (fingerprint, dim):
                return
            elif _count(connection, stored.collection):
                raise other_collection_model(collection, stored.model, fingerprint)
            switch(connection, stored, add_build(connection, stored.collection, fingerprint, dim))

    def drop(self, collection: str) -> bool:
        with self._database.writing(IndexUnavailable) as connection:
            stored = head(connection, collection)
            if stored is None:
                return False
            delete_chunks(connection, stored.collection, _numbers(connection, _NUMBERS, stored.collection))
            for table in ("terms", "builds"):
                connection.execute(f"DELETE FROM collection_{table} WHERE collection = ?", (stored.collection,))  # noqa: S608
            connection.execute("DELETE FROM collections WHERE id = ?", (stored.collection,))
            return True

    def model(self, collection: str) -> tuple[str, int] | None:
        with self._database.reading(IndexUnavailable) as connection:
            stored = head(connection, collection)
        return (stored.model, stored.dim) if stored else None

    def rebuild(self, collection: str, fingerprint: str, dim: int, embed: "Callable[[Sequence[str]], Vectors]") -> None:
        rebuild(self._database, collection, fingerprint, dim, embed)

    def replace(
        self, collection: str, doc_id: str, chunks: Sequence[ProjectChunk], vectors: ChunkVectors, model: str = ""
    ) -> None:
        with self._database.writing(IndexUnavailable) as connection:
            stored = _fitting(connection, collection, vectors, model)
            by_id = {chunk.chunk_id: chunk for chunk in chunks}
            blobs = vectors_of(by_id.values(), vectors, intact_vectors(connection, stored.collection, doc_id))
            _rewrite(connection, stored, doc_id, by_id, blobs)

    def upsert(self, collection: str, chunks: Sequence[ProjectChunk], vectors: ChunkVectors, model: str = "") -> None:
        with self._database.writing(IndexUnavailable) as connection:
            stored = _fitting(connection, collection, vectors, model)
            by_id = {chunk.chunk_id: chunk for chunk in chunks}
            _rewrite(connection, stored, None, by_id, vectors_of(by_id.values(), vectors, {}))

    def hashes(self, collection: str, doc_id: str) -> dict[str, str]:
        with self._database.reading(IndexUnavailable) as connection:
            stored = head(connection, collection)
            return intact_hashes(connection, stored.collection, doc_id) if stored else {}

    def document(self, collection: str, doc_id: str) -> list[ProjectChunk]:
        with self._database.reading(IndexUnavailable) as connection:
            stored = head(connection, collection)
            if stored is None:
                return []
            rows = _chunks(connection, stored, "c.doc_id = ? ORDER BY c.position, c.chunk_id", doc_id)
            return [chunk for _, chunk in rows]

    def search(self, collection: str, query: ChunkQuery) -> list[ChunkMatch]:
        for _ in range(TRIES):
            with self._database.reading(IndexUnavailable) as connection:
                stored = head(connection, collection)
                if stored is None:
                    return []
                if query.vector is not None:
                    check_same_model(collection, stored.model, query.model, IndexUnavailable)
                snapshot = self._loaded.current(connection, stored)
                if snapshot is not None:
                    return _matches(connection, stored, snapshot, query)
        raise IndexUnavailable("The project is being written to faster than it can be read; try again.")

    def sample(self, collection: str, count: int) -> list[ProjectChunk]:
        with self._database.reading(IndexUnavailable) as connection:
            stored = head(connection, collection)
            if stored is None:
                return []
            return [chunk for _, chunk in _chunks(connection, stored, "1 ORDER BY c.chunk_id LIMIT ?", max(count, 0))]

    def count(self, collection: str) -> int:
        with self._database.reading(IndexUnavailable) as connection:
            stored = head(connection, collection)
            return _count(connection, stored.collection) if stored else 0


def _fitting(connection: sqlite3.Connection, collection: str, vectors: ChunkVectors, model: str) -> Head:
    """The collection, which these vectors of that model can be written to."""
    stored = head(connection, collection)
    if stored is None:
        raise unknown_collection(collection)
    if vectors:
        check_same_model(collection, stored.model, model, Conflict)
    check_chunk_vectors(vectors, stored.dim)
    return stored


def _count(connection: sqlite3.Connection, collection: int) -> int:
    sql = "SELECT count(*) FROM collection_chunks WHERE collection = ?"
    count: int = connection.execute(sql, (collection,)).fetchone()[0]
    return count


def _numbers(connection: sqlite3.Connection, sql: str, *values: object) -> list[int]:
    return [number for (number,) in connection.execute(sql, values)]


def _rewrite(
    connection: sqlite3.Connection,
    to: Head,
    doc_id: str | None,
    chunks: Mapping[str, ProjectChunk],
    vectors: Mapping[str, bytes],
) -> None:
    """Replace the chunks of these ids, and all chunks of `doc_id`, by `chunks`."""
    replaced = _numbers(connection, _REPLACED, to.collection, doc_id, json.dumps(list(chunks)))
    delete_chunks(connection, to.collection, replaced)
    write_chunks(connection, to, chunks.values(), vectors)
    connection.execute("UPDATE collections SET change = change + 1 WHERE id = ?", (to.collection,))


def _chunks(
    connection: sqlite3.Connection, of: Head, condition: str, *values: object
) -> Iterator[tuple[int, ProjectChunk]]:
    """Yield number and chunk of those that meet the condition. Raises `IndexUnavailable` for a damaged one."""
    for number, *row in connection.execute(_CHUNKS + condition, (of.collection, *values)):
        yield number, decoded_row(*row)


def _matches(
    connection: sqlite3.Connection, of: Head, snapshot: CollectionSnapshot, query: ChunkQuery
) -> list[ChunkMatch]:
    among = snapshot.passing(folded_filters(query.filters))
    lexical = snapshot.lexical(_weights(connection, of, query.terms), among, query.depth)
    semantic: dict[int, float] = {}
    if query.vector is not None:
        if query.vector.shape != (of.dim,):
            raise other_model()
        semantic = snapshot.semantic(np.asarray(query.vector, np.float32), among, query.depth)
    rows = {int(snapshot.ids[row]): row for row in {**lexical, **semantic}}
    found = _chunks(connection, of, "c.id IN (SELECT value FROM json_each(?))", json.dumps(list(rows)))
    return [ChunkMatch(chunk, lexical.get(rows[number]), semantic.get(rows[number])) for number, chunk in found]


def _weights(connection: sqlite3.Connection, of: Head, terms: Sequence[tuple[str, float]]) -> list[tuple[int, float]]:
    """Numbers and weights of the terms that the collection knows; the weights of a repeated term add up."""
    weights: dict[str, float] = {}
    for term, weight in terms:
        weights[term] = weights.get(term, 0.0) + weight
    numbers = term_numbers(connection, of.collection, weights)
    return sorted((number, weights[term]) for term, number in numbers.items())

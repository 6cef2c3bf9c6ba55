"""The indexes of projects: stored in the corpus file, each searched in memory.

A build is a collection's vectors by one model. Another one is written beside that which is searched.
"""

import json
import sqlite3
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from threading import Lock
from typing import TYPE_CHECKING
from zlib import crc32

import numpy as np

from bio_mcp.adapters.embedded.chunk_rows import (
    TERM_NUMBERS,
    ChunkRows,
    conditions_of,
    decoded_row,
)
from bio_mcp.adapters.embedded.database import Connection, Database
from bio_mcp.adapters.embedded.live_index import LiveIndex, Snapshot, search
from bio_mcp.adapters.embedded.vector_search import Sizes
from bio_mcp.adapters.indexes import (
    check_same_model,
    check_vectors,
    other_collection_model,
    rebuild_overtaken,
    unknown_collection,
    vectors_of,
)
from bio_mcp.errors import Conflict, IndexUnavailable
from bio_mcp.retrieval.project_chunks import ChunkMatch, ChunkQuery, ChunkVectors, ProjectChunk

if TYPE_CHECKING:
    from bio_mcp.retrieval.passages import Vectors

PAGE = 256  # chunks embedded at a time

_MISSING = (
    "SELECT c.id, c.chunk_id, c.doc_id, c.position, CAST(t.chunk AS BLOB), t.crc FROM collection_chunks AS c "
    "LEFT JOIN collection_texts AS t ON t.id = c.id LEFT JOIN collection_vectors AS v ON v.build = ? AND v.id = c.id "
    "WHERE c.collection = ? AND v.id IS NULL LIMIT ?"
)


def add_build(connection: sqlite3.Connection, collection: int, model: str, dim: int) -> int:
    """Add an empty build; returns its number."""
    row = (None, collection, model, dim)
    return connection.execute("INSERT INTO collection_builds VALUES (?, ?, ?, ?)", row).lastrowid or 0


def switch(connection: sqlite3.Connection, collection: int, build: int) -> None:
    """Search this build from now on, and delete all others."""
    connection.execute("UPDATE collections SET build = ?, change = change + 1 WHERE id = ?", (build, collection))
    others = "SELECT id FROM collection_builds WHERE collection = ? AND id <> ?"
    connection.execute(f"DELETE FROM collection_vectors WHERE build IN ({others})", (collection, build))  # noqa: S608
    connection.execute("DELETE FROM collection_builds WHERE collection = ? AND id <> ?", (collection, build))


_BEGUN = "SELECT id FROM collection_builds WHERE collection = ? AND model = ? AND dim = ? AND id <> ?"
LOADED = 8  # collections in memory at once
EVERY = Sizes(exact=1 << 62)  # vectors are compared with a question
_CHUNKS = (
    "SELECT c.id, c.chunk_id, c.doc_id, c.position, CAST(t.chunk AS BLOB), t.crc FROM collection_chunks AS c "
    "LEFT JOIN collection_texts AS t ON t.id = c.id WHERE c.collection = ? AND "
)


class SqliteCollections:
    """The port `Collections` over the corpus file.

    A collection is read into memory when it is first searched. `LOADED` of them stay: a search of another drops the one
    that was searched longest ago.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._lock = Lock()
        self._loaded: OrderedDict[tuple[int, int], LiveIndex] = OrderedDict()

    def create(self, collection: str, fingerprint: str, dim: int) -> None:
        if self.model(collection) == (fingerprint, dim):
            return
        with self._database.writing(IndexUnavailable) as connection:
            if stored := ChunkRows.of(connection, collection):
                if (stored.model, stored.dim) == (fingerprint, dim):
                    return
                if stored.size()[0]:
                    raise other_collection_model(collection, stored.model, fingerprint)
                number = stored.number
            else:
                new = connection.execute("INSERT INTO collections VALUES (NULL, ?, 0, 0, 0)", (collection,))
                number = new.lastrowid or 0
            switch(connection, number, add_build(connection, number, fingerprint, dim))

    def drop(self, collection: str) -> bool:
        with self._database.writing(IndexUnavailable) as connection:
            stored = ChunkRows.of(connection, collection)
            if stored is None:
                return False
            stored.delete("TRUE")
            for table in ("terms", "builds"):
                connection.execute(f"DELETE FROM collection_{table} WHERE collection = ?", (stored.number,))  # noqa: S608
            connection.execute("DELETE FROM collections WHERE id = ?", (stored.number,))
            return True

    def model(self, collection: str) -> tuple[str, int] | None:
        with self._reading(collection) as of:
            return (of.model, of.dim) if of else None

    def rebuild(self, collection: str, fingerprint: str, dim: int, embed: "Callable[[Sequence[str]], Vectors]") -> None:
        """Embed every chunk into another build, then search that one. A build that was begun before is continued."""
        build, made = 0, dict[int, bytes]()
        while True:
            with self._database.writing(IndexUnavailable) as connection:
                of = ChunkRows.of(connection, collection)
                if of is None:
                    raise rebuild_overtaken(collection) if build else unknown_collection(collection)
                if not build:
                    begun = connection.execute(_BEGUN, (of.number, fingerprint, dim, of.build)).fetchone()
                    build = begun[0] if begun else add_build(connection, of.number, fingerprint, dim)
                if not connection.execute("SELECT 1 FROM collection_builds WHERE id = ?", (build,)).fetchone():
                    raise rebuild_overtaken(collection)
                connection.executemany(  # but of a chunk that was replaced meanwhile
                    "INSERT OR REPLACE INTO collection_vectors SELECT ?, id, ?, ? FROM collection_chunks WHERE id = ?",
                    [(build, vector, crc32(vector), number) for number, vector in made.items()],
                )
                done = of.build == build  # by another process
                page = [] if done else connection.execute(_MISSING, (build, of.number, PAGE)).fetchall()
                if not page:
                    if not done:
                        switch(connection, of.number, build)
                    return
            vectors = embed([decoded_row(*row[1:]).embedded_text for row in page])
            check_vectors({row[1]: vector for row, vector in zip(page, vectors, strict=True)}, dim)
            made = {row[0]: vector.astype("<f4").tobytes() for row, vector in zip(page, vectors, strict=True)}

    def upsert(self, collection: str, chunks: Sequence[ProjectChunk], vectors: ChunkVectors, model: str = "") -> None:
        self.replace(collection, None, chunks, vectors, model)

    def replace(
        self,
        collection: str,
        doc_id: str | None,
        chunks: Sequence[ProjectChunk],
        vectors: ChunkVectors,
        model: str = "",
    ) -> None:
        """Write chunks in place of those of their ids, and of all of `doc_id`, whose vectors may be used again."""
        with self._database.writing(IndexUnavailable) as connection:
            stored = ChunkRows.of(connection, collection)
            if stored is None:
                raise unknown_collection(collection)
            if vectors:
                check_same_model(collection, stored.model, model, Conflict)
            check_vectors(vectors, stored.dim)
            by_id = {chunk.chunk_id: chunk for chunk in chunks}
            intact = stored.intact(doc_id) if doc_id is not None else []
            kept = {sha256: np.frombuffer(vector, "<f4") for _, sha256, vector in intact}
            chosen = vectors_of(by_id.values(), vectors, kept)
            replaced = "doc_id = ? OR chunk_id IN (SELECT value FROM json_each(?))"
            stored.delete(replaced, doc_id, json.dumps(list(by_id)))
            stored.write(list(by_id.values()), chosen)
            connection.execute("UPDATE collections SET change = change + 1 WHERE id = ?", (stored.number,))

    def hashes(self, collection: str, doc_id: str) -> dict[str, str]:
        with self._reading(collection) as of:
            chunks = of.intact(doc_id) if of else []
        return {chunk_id: sha256 for chunk_id, sha256, _ in chunks}

    def document(self, collection: str, doc_id: str) -> list[ProjectChunk]:
        return self._chunks(collection, "c.doc_id = ? ORDER BY c.position, c.chunk_id", doc_id)

    def search(self, collection: str, query: ChunkQuery) -> list[ChunkMatch]:
        def answer(connection: Connection) -> list[ChunkMatch] | None:
            stored = ChunkRows.of(connection, collection)
            if stored is None:
                return []
            if query.vector is not None:
                check_same_model(collection, stored.model, query.model, IndexUnavailable)
            snapshot = self._current(stored)
            if not snapshot.documents:
                return []
            if snapshot.change != stored.change:  # chunks are read as of this transaction
                return None
            best = snapshot.best(
                query,
                lambda listed: connection.execute(TERM_NUMBERS, (stored.number, *listed)),
                conditions_of(query.filters, snapshot.names),
            )
            scores = dict(zip(snapshot.keys[list(best)].tolist(), best.values(), strict=True))
            found = _chunks(stored, "c.id IN (SELECT value FROM json_each(?))", json.dumps(list(scores)))
            return [ChunkMatch(chunk, *scores[number][:2]) for number, chunk in found]

        return search(self._database, answer)

    def sample(self, collection: str, count: int) -> list[ProjectChunk]:
        return self._chunks(collection, "1 ORDER BY c.chunk_id LIMIT ?", max(count, 0))

    def count(self, collection: str) -> int:
        with self._reading(collection) as of:
            return of.size()[0] if of else 0

    def _chunks(self, collection: str, condition: str, value: str | int) -> list[ProjectChunk]:
        with self._reading(collection) as of:
            return [chunk for _, chunk in _chunks(of, condition, value)] if of else []

    @contextmanager
    def _reading(self, collection: str) -> Iterator[ChunkRows | None]:
        with self._database.reading(IndexUnavailable) as connection:
            yield ChunkRows.of(connection, collection)

    def _current(self, of: ChunkRows) -> Snapshot:
        """The collection as its transaction sees it, or newer."""
        key = of.number, of.build
        with self._lock:
            index = self._loaded.pop(key, None) or LiveIndex(EVERY)
            self._loaded[key] = index
            while len(self._loaded) > LOADED:
                self._loaded.popitem(last=False)
        return index.current(of.connection.file, of)


def _chunks(of: ChunkRows, condition: str, *values: object) -> Iterator[tuple[int, ProjectChunk]]:
    """Yield number and chunk of those that meet the condition. Raises `IndexUnavailable` for a damaged one."""
    for number, *row in of.connection.execute(_CHUNKS + condition, (of.number, *values)):
        yield number, decoded_row(*row)

"""One collection in memory: exact BM25 and cosine over its chunks, one row per chunk."""

import sqlite3
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bio_mcp.adapters.embedded.checksums import is_intact
from bio_mcp.adapters.embedded.chunk_checks import CHUNK, damaged, is_intact_chunk
from bio_mcp.adapters.embedded.chunk_rows import Head, decoded_facets
from bio_mcp.adapters.embedded.growable import GrowableArray
from bio_mcp.adapters.embedded.lexical import Texts, best_by_bm25
from bio_mcp.adapters.embedded.opening import Connection, Identity
from bio_mcp.adapters.embedded.postings import Postings, Rows, Segments, best, norms
from bio_mcp.adapters.embedded.quantising import Matrix
from bio_mcp.adapters.embedded.windows import products
from bio_mcp.retrieval.chunk_facets import WorkFacets
from bio_mcp.retrieval.project_chunks import ChunkFilters

LOADED = 8  # collections in memory at once; the one that was asked longest ago is dropped for another
BATCH = 256  # chunks read at once
FEW_DEAD = 1_024  # dead rows are dropped when they exceed both this and a quarter of all rows

_SELECT = (
    f"SELECT {CHUNK}, c.crc, v.vector, v.crc, c.id FROM collection_chunks AS c "  # noqa: S608  columns only
    "LEFT JOIN collection_vectors AS v ON v.build = ? AND v.id = c.id WHERE c.collection = ? AND c.id > ? ORDER BY c.id"
)


@dataclass(frozen=True, slots=True)
class CollectionSnapshot:
    """A collection at one moment. `ids` are the chunks' numbers in the corpus file, `order` ranks rows by chunk id.

    `works` and `sections` are what the rows' codes in `work_codes` and `section_codes` stand for.
    """

    ids: NDArray[np.int64]
    order: NDArray[np.int64]
    alive: NDArray[np.bool_]
    norms: NDArray[np.float32]
    terms: Segments
    matrix: Matrix
    work_codes: NDArray[np.int32]
    section_codes: NDArray[np.int32]
    works: list[WorkFacets]
    sections: list[str]

    def passing(self, filters: ChunkFilters) -> Rows:
        """The live rows that pass the filters, which are folded, in ascending order."""
        mask = self.alive
        if filters:
            works = np.array([work.pass_through(filters) for work in self.works], np.bool_)
            mask = mask & works[self.work_codes]
        if filters.section_prefix:
            sections = np.array([each.startswith(filters.section_prefix) for each in self.sections], np.bool_)
            mask = mask & sections[self.section_codes]
        return np.flatnonzero(mask).astype(np.int32)

    def lexical(self, terms: list[tuple[int, float]], among: Rows, depth: int) -> dict[int, float]:
        """Row -> BM25 of the `depth` best rows of `among`; a row with none of the terms is not one of them."""
        texts = Texts(self.terms, self.norms, np.flatnonzero(~self.alive).astype(np.int32))
        rows, scores = best_by_bm25(texts, terms, among, -self.order, depth)
        return dict(zip(rows.tolist(), scores.tolist(), strict=True))

    def semantic(self, vector: Matrix, among: Rows, depth: int) -> dict[int, float]:
        """Row -> cosine of the `depth` best rows of `among`."""
        if len(among) == len(self.ids):
            return self._best(among, np.einsum("ij,j->i", self.matrix, vector), depth)
        return self._best(among, products(self.matrix, among.astype(np.intp), vector), depth)

    def _best(self, rows: Rows, scores: NDArray[np.floating[Any]], depth: int) -> dict[int, float]:
        chosen = best(scores, -self.order[rows], depth)
        return dict(zip(rows[chosen].tolist(), scores[chosen].tolist(), strict=True))


class _Columns:
    """The rows of a collection, in the order in which they were written. A deleted chunk leaves a dead row."""

    def __init__(self, dim: int) -> None:
        self.dim = dim
        self._ids: GrowableArray[np.int64] = GrowableArray(np.int64)
        self._lengths: GrowableArray[np.int32] = GrowableArray(np.int32)
        self._works: GrowableArray[np.int32] = GrowableArray(np.int32)
        self._sections: GrowableArray[np.int32] = GrowableArray(np.int32)
        self._matrix: GrowableArray[np.float32] = GrowableArray(np.float32, dim)
        self._chunk_ids: list[bytes] = []
        self._terms = Segments()
        self._work_codes: dict[bytes, int] = {}
        self._section_codes: dict[bytes, int] = {}
        self._alive = np.zeros(0, np.bool_)

    def patch(self, connection: sqlite3.Connection, head: Head) -> bool:
        """Bring the rows up to date; returns whether so many are dead that reading all anew is cheaper."""
        self._append(connection, head)
        rows = connection.execute("SELECT id FROM collection_chunks WHERE collection = ?", (head.collection,))
        stored = np.fromiter((number for (number,) in rows), np.int64)
        self._alive = np.isin(self._ids.view, stored)
        dead = len(self._alive) - int(np.count_nonzero(self._alive))
        return dead > max(FEW_DEAD, len(self._alive) // 4)

    def snapshot(self, k1: float, b: float) -> CollectionSnapshot:
        """An immutable view of the rows as they are now."""
        order = np.empty(len(self._chunk_ids), np.int64)
        order[sorted(range(len(order)), key=self._chunk_ids.__getitem__)] = np.arange(len(order))
        return CollectionSnapshot(
            ids=self._ids.view,
            order=order,
            alive=self._alive,
            norms=norms(self._lengths.view, self._alive, k1, b),
            terms=self._terms,
            matrix=self._matrix.view,
            work_codes=self._works.view,
            section_codes=self._sections.view,
            works=[decoded_facets(each) for each in self._work_codes],
            sections=[each.decode() for each in self._section_codes],
        )

    def _append(self, connection: sqlite3.Connection, head: Head) -> None:
        last = int(self._ids.view[-1]) if len(self._ids) else 0
        postings: list[tuple[NDArray[np.uint32], Rows, NDArray[np.uint16]]] = []
        for rows in _batches(connection, head, last):
            postings.append(self._add(rows))
        if postings:
            terms, numbers, frequencies = (np.concatenate(column) for column in zip(*postings, strict=True))
            self._terms = self._terms.plus(Postings.of(terms, numbers, frequencies))

    def _add(self, rows: list[tuple[Any, ...]]) -> tuple[NDArray[np.uint32], Rows, NDArray[np.uint16]]:
        """Append rows with the columns of `_SELECT`; returns their postings."""
        chunk_ids, _, _, _, facets, sections, lengths, terms, frequencies, _, vectors, _, ids = zip(*rows, strict=True)
        first = len(self._ids)
        self._ids.append(np.array(ids, np.int64))
        self._lengths.append(np.array(lengths, np.int32))
        self._works.append(_codes(self._work_codes, facets))
        self._sections.append(_codes(self._section_codes, sections))
        self._matrix.append(np.frombuffer(b"".join(vectors), "<f4").reshape(-1, self.dim))
        self._chunk_ids += chunk_ids
        counts = [len(blob) // 4 for blob in terms]
        numbers = np.repeat(np.arange(first, len(self._ids), dtype=np.int32), counts)
        return np.frombuffer(b"".join(terms), "<u4"), numbers, np.frombuffer(b"".join(frequencies), "<u2")


class _Loaded:
    """A build of a collection in memory. Any number of threads may ask for its snapshot."""

    def __init__(self, head: Head) -> None:
        self.lock = Lock()
        self._columns = _Columns(head.dim)
        self._seen: tuple[int, CollectionSnapshot] | None = None

    def current(self, connection: sqlite3.Connection, head: Head, k1: float, b: float) -> CollectionSnapshot | None:
        """The collection as `connection` sees it; None if a later state was read already."""
        with self.lock:
            if self._seen is None or self._seen[0] < head.change:
                columns, self._seen = self._columns, None
                if columns.patch(connection, head):
                    columns = _Columns(head.dim)
                    columns.patch(connection, head)
                self._columns, self._seen = columns, (head.change, columns.snapshot(k1, b))
            change, snapshot = self._seen
            return snapshot if change == head.change else None


class LoadedCollections:
    """The collections that are in memory, each read from the corpus file when it is first searched and brought up to
    date when the file has changed.

    `LOADED` of them stay; a search of another drops the one that was searched longest ago.
    """

    def __init__(self, k1: float, b: float) -> None:
        self._k1 = k1
        self._b = b
        self._lock = Lock()
        self._loaded: OrderedDict[tuple[Identity, int, int], _Loaded] = OrderedDict()

    def __len__(self) -> int:
        return len(self._loaded)

    def current(self, connection: Connection, head: Head) -> CollectionSnapshot | None:
        """The collection as `connection`'s transaction sees it; None if a later one has been read already."""
        key = connection.file, head.collection, head.build
        with self._lock:
            loaded = self._loaded.setdefault(key, _Loaded(head))
            self._loaded.move_to_end(key)
            while len(self._loaded) > LOADED:
                self._loaded.popitem(last=False)
        done = False
        try:
            snapshot = loaded.current(connection, head, self._k1, self._b)
            done = True
            return snapshot
        finally:
            if not done:  # half-read rows are unusable: the next search reads all of them
                with self._lock:
                    self._loaded.pop(key, None)


def _batches(connection: sqlite3.Connection, head: Head, last: int) -> Iterator[list[tuple[Any, ...]]]:
    """Yield the chunks with numbers above `last`. Raises `IndexUnavailable` for a damaged one."""
    cursor = connection.execute(_SELECT, (head.build, head.collection, last))
    while rows := cursor.fetchmany(BATCH):
        for *row, crc, vector, vector_crc, _ in rows:
            if not (is_intact_chunk(row, crc) and is_intact(vector, vector_crc) and len(vector) == 4 * head.dim):
                raise damaged(row[1])
        yield rows


def _codes(codes: dict[bytes, int], values: tuple[bytes, ...]) -> NDArray[np.int32]:
    """The codes of values, which are numbered on first sight."""
    return np.array([codes.setdefault(value, len(codes)) for value in values], np.int32)

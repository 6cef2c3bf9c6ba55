"""The passage index: stored in the corpus file, searched in memory."""

import json
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from functools import partial
from secrets import token_hex
from typing import TYPE_CHECKING

import numpy as np

from bio_mcp.adapters.embedded.database import Database
from bio_mcp.adapters.embedded.entry_rows import write_entries
from bio_mcp.adapters.embedded.failures import DAMAGED
from bio_mcp.adapters.embedded.index import LiveIndex, dimension, last_change
from bio_mcp.adapters.embedded.index_file import NAME as INDEX_FILE
from bio_mcp.adapters.embedded.postings import Rows
from bio_mcp.adapters.embedded.rows import read_vectors
from bio_mcp.adapters.embedded.snapshot import Conditions, Snapshot
from bio_mcp.adapters.embedded.stored_chunks import (
    hashes_by_chunk,
    intact_rows,
    stored_chunks,
    undamaged_rows,
    vectors_by_hash,
)
from bio_mcp.adapters.embedded.window_columns import Sizes
from bio_mcp.adapters.entry_vectors import check_vectors, mean_vector, other_model
from bio_mcp.adapters.pmids import numbers
from bio_mcp.errors import IndexUnavailable, ModelMismatch
from bio_mcp.retrieval.passages import Candidate, Entry, PassageQuery, StoredChunk, YearCount

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bio_mcp.adapters.embedded.opening import Connection
    from bio_mcp.retrieval.passages import Vectors

LISTED, LISTED_AT_ONCE = "SELECT pmid, version FROM entries WHERE pmid > ? ORDER BY pmid LIMIT ?", 5_000
TRIES = 3  # transactions, to find one that is not older than the index in memory
SIZES = Sizes()
PUT = "INSERT OR REPLACE INTO settings VALUES (?, ?)"


class SqlitePassages:
    """The port `Passages` over the corpus file. `k1` and `b` are BM25's parameters, `sizes` says when vectors are
    scored from bytes, `name` is empty for the index that the corpus file has from its beginning."""

    def __init__(self, database: Database, *, k1: float, b: float, sizes: Sizes = SIZES, name: str = "") -> None:
        self._database, self._name = database, name or "corpus"
        self._only: tuple[str, int] | None = None
        self._index = LiveIndex(k1, b, database.directory / INDEX_FILE, sizes)

    def only_of(self, model: tuple[str, int]) -> "SqlitePassages":
        """Return these passages for a caller who has that model: once they are of another one, they are refused."""
        made = copy(self)
        made._only = model
        return made

    def ensure_schema(self, fingerprint: str, dim: int) -> None:
        with self._database.reading(IndexUnavailable) as connection:
            if _indexed_model(connection) == (fingerprint, dim):
                return
        with self._database.writing(IndexUnavailable) as connection:
            _check_model(connection, fingerprint, dim)
            connection.executemany(PUT, [("model", fingerprint), ("dim", dim)])
            _put_change(connection, last_change(connection) + 1)
        self._only = self._only and (fingerprint, dim)

    def check_model(self, fingerprint: str, dim: int) -> None:
        with self._database.reading(IndexUnavailable) as connection:
            _check_model(connection, fingerprint, dim)

    def renew(self, fingerprint: str, dim: int) -> None:
        with self._database.writing(IndexUnavailable) as connection:
            if _indexed_model(connection) == (fingerprint, dim):
                return
            change = last_change(connection) + 1
            connection.execute("INSERT OR REPLACE INTO removed SELECT pmid, ? FROM entries", (change,))
            for table in ("entries", "chunks", "vectors", "checksums"):
                connection.execute(f"DELETE FROM {table}")  # noqa: S608  the names stand above
            connection.executemany(PUT, [("model", fingerprint), ("dim", dim)])
            _put_change(connection, change)

    def name(self) -> str:
        return self._name

    def model(self) -> tuple[str, int] | None:
        """The fingerprint and dimension of the model of the vectors; None if there is no index."""
        with self._database.reading(IndexUnavailable) as connection:
            return _indexed_model(connection)

    def versions(self) -> Iterator[tuple[str, int]]:
        """Give PMID and version of every paper, in the order of PMIDs."""
        after, rows = 0, [(0, 0)]
        while rows:
            with self._database.reading(IndexUnavailable) as connection:
                rows = connection.execute(LISTED, (after, LISTED_AT_ONCE)).fetchall()
            for after, version in rows:
                yield str(after), version

    @staticmethod
    def clear(connection: sqlite3.Connection) -> None:
        """Delete the index of a file that another is searched instead of."""
        for table in ("entries", "chunks", "vectors", "checksums", "removed"):
            connection.execute(f"DELETE FROM {table}")  # noqa: S608  the names stand above
        connection.execute("DELETE FROM settings WHERE name IN ('model', 'dim')")
        _put_change(connection, last_change(connection) + 1)

    def chunk_texts(self, pmids: Sequence[str]) -> dict[str, dict[str, str]]:
        with self._reading() as connection:
            rows = undamaged_rows(connection, pmids)
        return {str(pmid): hashes_by_chunk(chunks) for pmid, chunks, _ in rows}

    def chunk_vectors(self, pmids: Sequence[str]) -> dict[str, dict[str, "NDArray[np.float32]"]]:
        with self._reading() as connection:
            rows = undamaged_rows(connection, pmids)
        return {str(pmid): vectors_by_hash(chunks, vectors) for pmid, chunks, vectors in rows}

    def upsert_chunks(self, entries: Sequence[Entry], *, refresh: bool = True) -> None:  # noqa: ARG002  seen at once
        with self._database.writing(IndexUnavailable) as connection:
            self._check_model(connection)
            dim = dimension(connection)
            if not dim:
                raise IndexUnavailable("There is no index yet: create its schema first.", retryable=False)
            check_vectors(entries, dim)
            change = last_change(connection) + 1
            if write_entries(connection, entries, change):
                _put_change(connection, change)

    def refresh_after(self) -> int:
        return 1

    def refresh(self, fingerprint: str, dim: int) -> None:
        self.check_model(fingerprint, dim)

    def delete(self, pmids: Sequence[str]) -> None:
        with self._database.writing(IndexUnavailable) as connection:
            change = last_change(connection) + 1
            deleted = [
                (pmid,)
                for pmid in numbers(pmids)
                if connection.execute("DELETE FROM entries WHERE pmid = ?", (pmid,)).rowcount
            ]
            if deleted:
                for table in ("chunks", "vectors", "checksums"):
                    connection.executemany(f"DELETE FROM {table} WHERE pmid = ?", deleted)  # noqa: S608  named above
                connection.executemany("INSERT INTO removed VALUES (?, ?)", [(pmid, change) for (pmid,) in deleted])
                _put_change(connection, change)

    def hybrid_search(self, query: PassageQuery) -> list[Candidate]:
        for _ in range(TRIES):
            with self._reading() as connection:
                snapshot = self._index.current(connection)
                if snapshot.change <= last_change(connection):  # vectors are read as of this transaction
                    return _search(connection, snapshot, query)
        raise IndexUnavailable("The index is being written; search again.")

    def document_vectors(self, pmids: Sequence[str]) -> "dict[str, NDArray[np.float32]]":
        with self._reading() as connection:
            dim = dimension(connection)
            rows = intact_rows(connection, pmids)
        return {str(pmid): mean_vector(np.frombuffer(blob, "<f4").reshape(-1, dim)) for pmid, _, blob in rows if blob}

    def chunks(self, pmids: Sequence[str], vector: "Vectors | None" = None) -> dict[str, list[StoredChunk]]:
        with self._reading() as connection:
            rows = intact_rows(connection, pmids)
        return {str(pmid): stored_chunks(str(pmid), chunks, vectors, vector) for pmid, chunks, vectors in rows}

    def count(self) -> tuple[int, int]:
        with self._database.reading(IndexUnavailable) as connection:
            documents, chunks = connection.execute("SELECT count(*), coalesce(sum(windows), 0) FROM entries").fetchone()
        return documents, chunks

    def by_year(self) -> list[YearCount]:
        with self._database.reading(IndexUnavailable) as connection:
            rows = connection.execute("SELECT year, design, count(*) FROM entries GROUP BY year, design").fetchall()
        return [YearCount(*row) for row in rows]

    @contextmanager
    def _reading(self) -> "Iterator[Connection]":
        with self._database.reading(IndexUnavailable) as connection:
            self._check_model(connection)
            yield connection

    def _check_model(self, connection: sqlite3.Connection) -> None:
        if self._only and _indexed_model(connection) != self._only:
            raise IndexUnavailable("The index was changed to another model at this moment; ask again.")


def _indexed_model(connection: sqlite3.Connection) -> tuple[str, int] | None:
    row = connection.execute("SELECT value FROM settings WHERE name = 'model'").fetchone()
    return (row[0], dimension(connection)) if row else None


def _check_model(connection: sqlite3.Connection, fingerprint: str, dim: int) -> None:
    stored = _indexed_model(connection)
    if stored == (fingerprint, dim) or not _count(connection):
        return
    if stored is None:
        raise IndexUnavailable(DAMAGED, retryable=False)
    raise ModelMismatch(
        f"The index holds vectors of the model {stored[0]} ({stored[1]} numbers), and {fingerprint} ({dim}) is "
        "configured. Configure the former, or run bio-mcp reindex to embed every paper again.",
        indexed=stored[0],
        configured=fingerprint,
    )


def _count(connection: sqlite3.Connection) -> int:
    documents: int = connection.execute("SELECT count(*) FROM entries").fetchone()[0]
    return documents


def _put_change(connection: sqlite3.Connection, change: int) -> None:
    connection.execute(PUT, ("change", change))
    connection.execute("INSERT INTO changes VALUES (?, ?)", (change, token_hex(8)))


def _terms(connection: sqlite3.Connection, terms: Sequence[tuple[str, float]]) -> list[tuple[int, float]]:
    """Term ids and weights of the terms that the corpus knows; the weights of a repeated term add up."""
    weights: dict[str, float] = {}
    for term, weight in terms:
        weights[term] = weights.get(term, 0.0) + weight
    rows = connection.execute(
        "SELECT id, term FROM terms WHERE term IN (SELECT value FROM json_each(?))", (json.dumps(list(weights)),)
    )
    return sorted((number, weights[term]) for number, term in rows)


def _conditions(connection: sqlite3.Connection, query: PassageQuery) -> Conditions:
    filters = query.filters

    def facets(kind: str, values: frozenset[str]) -> tuple[int, ...]:
        rows = connection.execute(
            "SELECT id FROM facets WHERE kind = ? AND value IN (SELECT value FROM json_each(?))",
            (kind, json.dumps(sorted(values))),
        )
        return tuple(number for (number,) in rows)

    any_of = [facets("journal", filters.journals)] if filters.journals else []
    any_of += [facets("publication_type", filters.publication_types)] if filters.publication_types else []
    any_of += [facets("tag", frozenset({tag})) for tag in sorted(filters.tags)]
    any_of += [facets("project", frozenset({filters.project}))] if filters.project is not None else []
    within = None if query.within is None else np.array(numbers(query.within), np.int64)
    return Conditions(filters.year_from, filters.year_to, tuple(any_of), within)


def _search(connection: sqlite3.Connection, snapshot: Snapshot, query: PassageQuery) -> list[Candidate]:
    if not snapshot.documents:
        if _count(connection):  # the settings with the number of batches are lost
            raise IndexUnavailable(DAMAGED, retryable=False)
        if last_change(connection) and not dimension(connection):
            raise IndexUnavailable("The index was replaced by another and removed; ask again.")
        return []
    terms = _terms(connection, query.terms)
    among = snapshot.passing(_conditions(connection, query))
    candidates = _by_vector(connection, snapshot, among, query)
    rows, scores = snapshot.lexical(terms, among, query.depth)
    for row, score in zip(rows.tolist(), scores.tolist(), strict=True):
        if row in candidates:
            candidates[row].bm25 = score
        else:
            candidates[row] = snapshot.candidate(row, score, None, None)
    return list(candidates.values())


def _by_vector(
    connection: sqlite3.Connection, snapshot: Snapshot, among: Rows | None, query: PassageQuery
) -> dict[int, Candidate]:
    """The candidates of the query's vector, by their rows."""
    candidates: dict[int, Candidate] = {}
    if query.vector is not None:
        if query.vector.shape != (snapshot.windows.dim,):
            raise other_model()
        vector, read = np.asarray(query.vector, np.float32), partial(read_vectors, connection, snapshot.windows.dim)
        nearest = snapshot.dense(vector, among, query.depth, read, all_exact=query.within is not None)
        for row, place, cosine in zip(
            nearest.rows.tolist(), nearest.places.tolist(), nearest.cosines.tolist(), strict=True
        ):
            candidates[row] = snapshot.candidate(row, None, cosine, snapshot.chunk_id(row, place))
    return candidates

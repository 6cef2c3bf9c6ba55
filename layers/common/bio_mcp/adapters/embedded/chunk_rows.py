"""Chunks of projects as rows of the corpus file. Each has a CRC-32, to find damage that SQLite cannot see."""

import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from typing import TYPE_CHECKING, Any
from zlib import crc32

import numpy as np

from bio_mcp.adapters.embedded.database import Connection
from bio_mcp.adapters.embedded.live_index import NO_YEAR, Conditions, Names, RowBatch, Source
from bio_mcp.adapters.embedded.paper_rows import BATCH, as_bytes, is_intact, is_intact_row
from bio_mcp.adapters.embedded.term_ids import term_counts
from bio_mcp.adapters.indexes import CHUNK_FIELDS, chunk_of, chunk_values
from bio_mcp.errors import IndexUnavailable
from bio_mcp.retrieval.project_chunks import ChunkFilters, ProjectChunk, facets_of, folded_filters, section_of

if TYPE_CHECKING:
    from numpy.typing import NDArray


CHUNK = (
    "CAST(c.chunk_id AS BLOB), CAST(c.doc_id AS BLOB), c.position, CAST(c.sha256 AS BLOB), "
    "CAST(c.facets AS BLOB), CAST(c.section AS BLOB), c.length, c.term_ids, c.frequencies"
)
"""The columns of a chunk that its checksum covers; texts as bytes: damaged text may not decode."""

_WHOLE = (
    f"SELECT {CHUNK}, c.crc, v.vector, v.crc, CAST(t.chunk AS BLOB), t.crc FROM collection_chunks AS c "  # noqa: S608
    "JOIN collections AS o ON o.id = c.collection LEFT JOIN collection_texts AS t ON t.id = c.id "
    "LEFT JOIN collection_vectors AS v ON v.build = o.build AND v.id = c.id"
)


def chunk_checksum(*row: Any) -> int:
    """CRC-32 of a row with the columns in `CHUNK`. Files store the result, so it must never change."""
    chunk_id, doc_id, position, sha256, facets, section, length, *blobs = row
    crc = crc32(f"{position} {length}".encode())
    for blob in (chunk_id, doc_id, sha256, facets, section, *blobs):
        crc = crc32(blob, crc)
    return crc


def damaged_documents(connection: sqlite3.Connection) -> list[str]:
    """The ids of the documents, of all collections, of which a chunk is damaged, or has no text or vector."""
    return sorted({_name(row[1]) for row in connection.execute(_WHOLE) if not _is_intact(row)})


def damaged(doc_id: object) -> IndexUnavailable:
    """The failure that names a document with damaged chunks, and what repairs it."""
    return IndexUnavailable(
        f"Stored chunks of the document {_name(doc_id)} are damaged: ingest it again with force_rebuild, or store what "
        "a client stored once more.",
        retryable=False,
    )


def _is_intact(row: Sequence[Any]) -> bool:
    *columns, crc, vector, vector_crc, text, text_crc = row
    return is_intact_row(columns, crc, chunk_checksum) and is_intact(vector, vector_crc) and is_intact(text, text_crc)


def _name(doc_id: object) -> str:
    return doc_id.decode(errors="replace") if isinstance(doc_id, bytes) else str(doc_id)


_INDEXED = (
    f"SELECT {CHUNK}, c.crc, v.vector, v.crc, c.id FROM collection_chunks AS c "  # noqa: S608  columns only
    "LEFT JOIN collection_vectors AS v ON v.build = ? AND v.id = c.id WHERE c.collection = ? AND c.id > ? ORDER BY c.id"
)
_INSERT = "INSERT INTO collection_chunks VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
TERM_NUMBERS = (
    "SELECT term, number FROM collection_terms WHERE collection = ? AND term IN (SELECT value FROM json_each(?))"
)
_FIELDS = ("work", *(each for each in CHUNK_FIELDS if each not in ("chunk_id", "work", "position")))


def decoded_row(chunk_id: str, doc_id: str, position: int, text: Any, crc: Any) -> ProjectChunk:
    """The chunk of a row, with its text and the checksum of that. Raises `IndexUnavailable` for a damaged text."""
    if not is_intact(text, crc):
        raise damaged(doc_id)
    return _decoded(chunk_id, position, text)


@lru_cache(maxsize=1024)
def _decoded(chunk_id: str, position: int, text: bytes) -> ProjectChunk:
    """The chunk whose row has this text. Cached, by all that it depends on (some 10 MB)."""
    values = dict(zip(_FIELDS, json.loads(text), strict=True))
    return chunk_of({"chunk_id": chunk_id, "position": position, **values})


@dataclass(slots=True)
class ChunkRows(Source):
    """A collection, as the transaction of `connection` sees it: a `Source` of the index. It has its number, the build
    that is searched with its model, and the number of its last change."""

    connection: Connection
    number: int
    build: int
    change: int
    model: str
    dim: int

    @staticmethod
    def of(connection: Connection, name: str) -> "ChunkRows | None":
        row = connection.execute(
            "SELECT c.id, c.build, c.change, b.model, b.dim FROM collections AS c JOIN collection_builds AS b "
            "ON b.id = c.build WHERE c.name = ?",
            (name,),
        ).fetchone()
        return ChunkRows(connection, *row) if row else None

    def intact(self, doc_id: str) -> list[tuple[str, str, bytes]]:
        """Chunk id, SHA-256 of the embedded text, and vector of a document's chunks; a damaged one is not among
        them."""
        rows = self.connection.execute(_WHOLE + " WHERE c.collection = ? AND c.doc_id = ?", (self.number, doc_id))
        return [(row[0].decode(), row[3].decode(), row[10]) for row in rows if _is_intact(row)]

    def write(self, chunks: Sequence[ProjectChunk], vectors: "Sequence[NDArray[np.float32]]") -> None:
        """Add chunks whose ids are free, each with its vector, in the caller's transaction."""
        terms = [chunk.terms for chunk in chunks]
        known = self._term_numbers(set(chain.from_iterable(terms)))
        numbers = np.fromiter(map(known.__getitem__, chain.from_iterable(terms)), np.int64)
        lengths = list(map(len, terms))
        for chunk, vector, length, counts in zip(chunks, vectors, lengths, term_counts(numbers, lengths), strict=True):
            facets, known_by = facets_of(chunk.work), (chunk.chunk_id, chunk.work.doc_id, chunk.position)
            values = [facets.doc_id, facets.citekey, facets.year, sorted(facets.tags), sorted(facets.authors)]
            row = (*known_by, chunk.embedded_sha256, _json(values), section_of(chunk), length, *counts)
            crc = chunk_checksum(*as_bytes(row))
            number = self.connection.execute(_INSERT, (None, self.number, *row, crc)).lastrowid
            text, blob = _json(chunk_values(chunk, _FIELDS)), vector.astype("<f4").tobytes()
            texts, vector_row = (number, text, crc32(text.encode())), (self.build, number, blob, crc32(blob))
            self.connection.execute("INSERT INTO collection_texts VALUES (?, ?, ?)", texts)
            self.connection.execute("INSERT INTO collection_vectors VALUES (?, ?, ?, ?)", vector_row)

    def _term_numbers(self, terms: set[str]) -> dict[str, int]:
        """Term -> number in this collection; new terms are numbered."""
        connection = self.connection
        known = dict(connection.execute(TERM_NUMBERS, (self.number, _json(sorted(terms)))).fetchall())
        (count,) = connection.execute("SELECT terms FROM collections WHERE id = ?", (self.number,)).fetchone()
        new = {term: number for number, term in enumerate(sorted(terms - known.keys()), start=count)}
        rows = [(self.number, term, number) for term, number in new.items()]
        connection.executemany("INSERT INTO collection_terms VALUES (?, ?, ?)", rows)
        connection.execute("UPDATE collections SET terms = terms + ? WHERE id = ?", (len(new), self.number))
        return known | new

    def delete(self, wanted: str, *values: object) -> None:
        """Delete the chunks that meet the condition, with their texts and their vectors in every build."""
        sql = f"DELETE FROM collection_chunks WHERE collection = ? AND ({wanted}) RETURNING id"  # noqa: S608  our own
        ids = [number for (number,) in self.connection.execute(sql, (self.number, *values))]
        self.connection.delete_among("collection_texts", "id", ids)
        self.connection.execute(
            "DELETE FROM collection_vectors WHERE build IN (SELECT id FROM collection_builds WHERE collection = ?) "
            "AND id IN (SELECT value FROM json_each(?))",
            (self.number, json.dumps(ids)),
        )

    def size(self) -> tuple[int, int]:
        sql = "SELECT count(*) FROM collection_chunks WHERE collection = ?"
        (count,) = self.connection.execute(sql, (self.number,)).fetchone()
        return count, count

    def batches(self, names: Names, since: int | None = None, last: int = 0) -> Iterator[RowBatch]:  # noqa: ARG002
        known = dict[bytes, tuple[int, list[int]]]()
        cursor = self.connection.execute(_INDEXED, (self.build, self.number, last))
        while rows := cursor.fetchmany(BATCH):
            for *row, crc, vector, vector_crc, _ in rows:
                if not (
                    is_intact_row(row, crc, chunk_checksum)
                    and is_intact(vector, vector_crc)
                    and len(vector) == 4 * self.dim
                ):
                    raise damaged(row[1])
            yield _row_batch(rows, names, known, self.dim)

    def removed(self, since: int, keys: "NDArray[np.int64]") -> list[int]:  # noqa: ARG002  no number comes again
        rows = self.connection.execute("SELECT id FROM collection_chunks WHERE collection = ?", (self.number,))
        removed: list[int] = np.setdiff1d(keys, np.fromiter((number for (number,) in rows), np.int64)).tolist()
        return removed


def _row_batch(
    rows: list[tuple[Any, ...]], names: Names, known: dict[bytes, tuple[int, list[int]]], dim: int
) -> RowBatch:
    """Rows with the columns of `_INDEXED` as columns. `known` are years and facets that were read before."""
    chunk_ids, _, _, _, facets, sections, lengths, terms, frequencies, _, vectors, _, ids = zip(*rows, strict=True)
    for each in set(facets) - known.keys():
        doc_id, citekey, year, tags, authors = json.loads(each)
        having = [("doc_id", doc_id)] + ([("citekey", citekey)] if citekey is not None else [])
        having += [*(("tag", tag) for tag in tags), *(("author", author) for author in authors)]
        bounded = NO_YEAR if year is None else max(NO_YEAR + 1, min(year, -NO_YEAR - 1))
        known[each] = bounded, [names.facets[facet] for facet in having]
    of_sections = (names.facets["section", section.decode()] for section in sections)
    facet_ids = [
        np.array([*known[work][1], section], "<u4").tobytes() for work, section in zip(facets, of_sections, strict=True)
    ]
    years = [known[each][0] for each in facets]
    return RowBatch.of(ids, years, lengths, terms, frequencies, facet_ids, vectors, dim, labels=chunk_ids)


def conditions_of(filters: ChunkFilters, names: Names) -> Conditions:
    """The filters of a search in the numbers of an index."""
    filters = folded_filters(filters)

    def facets(kind: str, values: Iterable[str]) -> tuple[int, ...]:
        return tuple(names.facets[kind, value] for value in values if (kind, value) in names.facets)

    sets = [("doc_id", filters.doc_ids), ("citekey", filters.citekeys), ("author", filters.authors)]
    sets += [("tag", frozenset({tag})) for tag in sorted(filters.tags)]
    any_of = [facets(kind, values) for kind, values in sets if values]
    if prefix := filters.section_prefix:
        sections = [value for kind, value in list(names.facets) if kind == "section"]  # other threads may add some
        any_of.append(facets("section", [each for each in sections if each.startswith(prefix)]))
    return Conditions(filters.year_from, filters.year_to, tuple(any_of))


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))

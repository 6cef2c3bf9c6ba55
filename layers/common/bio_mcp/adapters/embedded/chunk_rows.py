"""Chunks of a collection as rows of the corpus file."""

import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import lru_cache
from itertools import chain
from operator import attrgetter
from typing import TYPE_CHECKING, Any
from zlib import crc32

import numpy as np

from bio_mcp.adapters.collections import no_vector
from bio_mcp.adapters.embedded.checksums import is_intact
from bio_mcp.adapters.embedded.chunk_checks import chunk_checksum, damaged
from bio_mcp.adapters.embedded.term_counts import term_counts
from bio_mcp.literature.parsed import SectionKind
from bio_mcp.retrieval.chunk_facets import WorkFacets, facets_of, section_of
from bio_mcp.retrieval.project_chunks import ProjectChunk, Work

if TYPE_CHECKING:
    from numpy.typing import NDArray

_INSERT = "INSERT INTO collection_chunks VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
_FIELDS = [each.name for each in fields(ProjectChunk) if each.name not in ("chunk_id", "work", "position")]
_work_row = attrgetter(*[each.name for each in fields(Work)])
_chunk_row = attrgetter(*_FIELDS)


@dataclass(frozen=True, slots=True)
class Head:
    """A collection: its number, the build that is searched with its model, and the number of its last change."""

    collection: int
    build: int
    change: int
    model: str
    dim: int


def head(connection: sqlite3.Connection, name: str) -> Head | None:
    """The collection of this name; None if there is none."""
    row = connection.execute(
        "SELECT c.id, c.build, c.change, b.model, b.dim FROM collections AS c JOIN collection_builds AS b "
        "ON b.id = c.build WHERE c.name = ?",
        (name,),
    ).fetchone()
    return Head(*row) if row else None


def write_chunks(
    connection: sqlite3.Connection, to: Head, chunks: Iterable[ProjectChunk], vectors: Mapping[str, bytes]
) -> None:
    """Add chunks whose ids are free, each with the vector of its id, in the caller's transaction."""
    new = list(chunks)
    terms = [chunk.terms for chunk in new]
    known = _term_numbers(connection, to.collection, set(chain.from_iterable(terms)))
    numbers = np.fromiter(map(known.__getitem__, chain.from_iterable(terms)), np.int64)
    lengths = list(map(len, terms))
    for chunk, length, counts in zip(new, lengths, term_counts(numbers, lengths), strict=True):
        row = _row(chunk, length, *counts)
        crc = chunk_checksum(*(each.encode() if isinstance(each, str) else each for each in row))
        number = connection.execute(_INSERT, (None, to.collection, *row, crc)).lastrowid
        text, vector = _encoded(chunk), vectors[chunk.chunk_id]
        connection.execute("INSERT INTO collection_texts VALUES (?, ?, ?)", (number, text, crc32(text.encode())))
        connection.execute(
            "INSERT INTO collection_vectors VALUES (?, ?, ?, ?)", (to.build, number, vector, crc32(vector))
        )


def delete_chunks(connection: sqlite3.Connection, collection: int, ids: Sequence[int]) -> None:
    """Delete chunks of a collection by their numbers, with their texts and their vectors in every build."""
    listed = json.dumps(ids)
    within = "id IN (SELECT value FROM json_each(?))"
    connection.execute(f"DELETE FROM collection_chunks WHERE collection = ? AND {within}", (collection, listed))  # noqa: S608
    connection.execute(f"DELETE FROM collection_texts WHERE {within}", (listed,))  # noqa: S608
    connection.execute(
        "DELETE FROM collection_vectors WHERE build IN (SELECT id FROM collection_builds WHERE collection = ?) "  # noqa: S608
        f"AND {within}",
        (collection, listed),
    )


def vectors_of(
    chunks: Iterable[ProjectChunk], vectors: "Mapping[str, NDArray[np.float32]]", stored: Mapping[str, bytes]
) -> dict[str, bytes]:
    """Chunk id -> vector as bytes: the given one, or the stored one of the same text. Raises `Conflict` for neither."""
    found = {}
    for chunk in chunks:
        vector = vectors.get(chunk.chunk_id)
        blob = stored.get(chunk.embedded_sha256) if vector is None else vector.astype("<f4").tobytes()
        if blob is None:
            raise no_vector(chunk)
        found[chunk.chunk_id] = blob
    return found


def decoded_row(chunk_id: str, doc_id: str, position: int, text: Any, crc: Any) -> ProjectChunk:
    """The chunk of a row, with its text and the checksum of that. Raises `IndexUnavailable` for a damaged text."""
    if not is_intact(text, crc):
        raise damaged(doc_id)
    return _decoded(chunk_id, position, text)


@lru_cache(maxsize=1024)
def _decoded(chunk_id: str, position: int, text: bytes) -> ProjectChunk:
    """The chunk whose row has this text. Cached, by all that it depends on (some 10 MB)."""
    work, content, context, section, path, span, start, end, kind, metadata = json.loads(text)
    pages = None if span is None else (span[0], span[1])
    return ProjectChunk(
        chunk_id,
        _work(work),
        content,
        position,
        context,
        section,
        tuple(path),
        pages,
        start,
        end,
        SectionKind(kind),
        metadata,
    )


def decoded_facets(text: bytes) -> WorkFacets:
    """The facets that a chunk's row has."""
    doc_id, citekey, year, tags, authors = json.loads(text)
    return WorkFacets(doc_id, citekey, year, frozenset(tags), frozenset(authors))


def _work(row: list[Any]) -> Work:
    doc_id, title, citekey, doi, pmid, url, year, authors, tags, language, source = row
    return Work(doc_id, title, citekey, doi, pmid, url, year, tuple(authors), tuple(tags), language, source)


def _row(chunk: ProjectChunk, length: int, terms: bytes, frequencies: bytes) -> tuple[Any, ...]:
    """A chunk's values for the columns from `chunk_id` to `frequencies`."""
    facets = facets_of(chunk.work)
    return (
        chunk.chunk_id,
        chunk.work.doc_id,
        chunk.position,
        chunk.embedded_sha256,
        _json([facets.doc_id, facets.citekey, facets.year, sorted(facets.tags), sorted(facets.authors)]),
        section_of(chunk),
        length,
        terms,
        frequencies,
    )


def _encoded(chunk: ProjectChunk) -> str:
    return _json([_work_row(chunk.work), *_chunk_row(chunk)])


def _term_numbers(connection: sqlite3.Connection, collection: int, terms: set[str]) -> dict[str, int]:
    """Term -> number in this collection; new terms are numbered."""
    known = term_numbers(connection, collection, terms)
    (count,) = connection.execute("SELECT terms FROM collections WHERE id = ?", (collection,)).fetchone()
    new = {term: number for number, term in enumerate(sorted(terms - known.keys()), start=count)}
    connection.executemany(
        "INSERT INTO collection_terms VALUES (?, ?, ?)", [(collection, term, number) for term, number in new.items()]
    )
    connection.execute("UPDATE collections SET terms = terms + ? WHERE id = ?", (len(new), collection))
    return known | new


def term_numbers(connection: sqlite3.Connection, collection: int, terms: Iterable[str]) -> dict[str, int]:
    """Term -> number, of the terms that the collection knows."""
    return dict(
        connection.execute(
            "SELECT term, number FROM collection_terms WHERE collection = ? AND term IN "
            "(SELECT value FROM json_each(?))",
            (collection, _json(sorted(terms))),
        )
    )


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))

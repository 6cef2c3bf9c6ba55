"""Checksums of the chunks of collections, to detect damage that SQLite cannot see when a row is read."""

import sqlite3
from collections.abc import Iterator, Sequence
from typing import Any
from zlib import crc32

from bio_mcp.adapters.embedded.checksums import is_intact
from bio_mcp.errors import IndexUnavailable

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


def is_intact_chunk(row: Sequence[Any], checksum: Any) -> bool:
    """Whether `row`, with the columns in `CHUNK`, matches its checksum."""
    try:
        return bool(chunk_checksum(*row) == checksum)
    except TypeError:  # a column has another type than it was given
        return False


def intact_hashes(connection: sqlite3.Connection, collection: int, doc_id: str) -> dict[str, str]:
    """Chunk id -> SHA-256 of its embedded text, of a document's chunks; a damaged one is not among them."""
    return {row[0].decode(): row[3].decode() for row in _intact(connection, collection, doc_id)}


def intact_vectors(connection: sqlite3.Connection, collection: int, doc_id: str) -> dict[str, bytes]:
    """SHA-256 of a chunk's embedded text -> its vector, of a document's chunks; a damaged one is not among them."""
    return {row[3].decode(): row[10] for row in _intact(connection, collection, doc_id)}


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


def _intact(connection: sqlite3.Connection, collection: int, doc_id: str) -> Iterator[tuple[Any, ...]]:
    rows = connection.execute(_WHOLE + " WHERE c.collection = ? AND c.doc_id = ?", (collection, doc_id))
    return (row for row in rows if _is_intact(row))


def _is_intact(row: Sequence[Any]) -> bool:
    *columns, crc, vector, vector_crc, text, text_crc = row
    return is_intact_chunk(columns, crc) and is_intact(vector, vector_crc) and is_intact(text, text_crc)


def _name(doc_id: object) -> str:
    return doc_id.decode(errors="replace") if isinstance(doc_id, bytes) else str(doc_id)

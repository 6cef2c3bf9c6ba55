"""The passages and vectors that a corpus file has of single papers."""

import json
import sqlite3
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from bio_mcp.adapters.embedded.checksums import damaged, is_intact
from bio_mcp.adapters.entry_vectors import cosines
from bio_mcp.adapters.pmids import numbers
from bio_mcp.retrieval.passages import StoredChunk

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bio_mcp.retrieval.passages import Vectors


Row = tuple[int, bytes, bytes]
"""PMID, chunks and vectors."""


def intact_rows(connection: sqlite3.Connection, pmids: Sequence[str]) -> list[Row]:
    """Those of `pmids` in the index. Raises `IndexUnavailable` if any of them is damaged."""
    rows, broken = _rows(connection, pmids)
    if broken:
        raise damaged(broken)
    return rows


def undamaged_rows(connection: sqlite3.Connection, pmids: Sequence[str]) -> list[Row]:
    """Those of `pmids` in the index that are not damaged; the others are embedded again."""
    return _rows(connection, pmids)[0]


def vectors_by_hash(chunks: bytes, blob: bytes) -> dict[str, "NDArray[np.float32]"]:
    """The vectors of a paper by the hash of what was embedded."""
    rows = json.loads(chunks)
    return {row[-1]: vector for row, vector in zip(rows, _matrix(blob, len(rows)), strict=True)}


def hashes_by_chunk(chunks: bytes) -> dict[str, str]:
    """The hash of what was embedded by the id of a chunk."""
    return {row[0]: row[-1] for row in json.loads(chunks)}


def stored_chunks(pmid: str, chunks: bytes, blob: bytes, vector: "Vectors | None") -> list[StoredChunk]:
    """The passages of a paper, with their cosines to `vector`, if given."""
    rows = _decoded(chunks)
    sims: list[float | None] = [None] * len(rows)
    if vector is not None and rows:
        sims = cosines(_matrix(blob, len(rows)), vector)
    return [
        StoredChunk(pmid, chunk_id, text, section, start, end, sim)
        for (chunk_id, text, section, start, end, _), sim in zip(rows, sims, strict=True)
    ]


def _rows(connection: sqlite3.Connection, pmids: Sequence[str]) -> tuple[list[Row], list[int]]:
    """The rows of those that are intact, and the PMIDs of the others."""
    found = connection.execute(
        "SELECT pmid, CAST(chunks AS BLOB), vectors, chunks_crc, vectors_crc FROM entries "
        "LEFT JOIN chunks USING (pmid) LEFT JOIN vectors USING (pmid) LEFT JOIN checksums USING (pmid) "
        "WHERE pmid IN (SELECT value FROM json_each(?))",
        (json.dumps(numbers(pmids)),),
    ).fetchall()
    intact, broken = list[Row](), list[int]()
    for pmid, chunks, vectors, *checksums in found:
        if is_intact(chunks, checksums[0]) and is_intact(vectors, checksums[1]):
            intact.append((pmid, chunks, vectors))
        else:
            broken.append(pmid)
    return intact, broken


def _matrix(blob: bytes, count: int) -> "Vectors":
    """The vectors of `count` passages, a row each."""
    return np.frombuffer(blob, "<f4").reshape(count, -1) if count else np.zeros((0, 0), np.float32)


@lru_cache(maxsize=1024)
def _decoded(chunks: bytes) -> list[list[Any]]:
    """Decode a paper's passages. Cached by their bytes, so never those of another version (some 10 MB)."""
    rows: list[list[Any]] = json.loads(chunks)
    return rows

"""Builds of a collection: its vectors by one model. Another build is written beside the one that is searched."""

import sqlite3
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING
from zlib import crc32

from bio_mcp.adapters.collections import check_chunk_vectors, rebuild_overtaken, unknown_collection
from bio_mcp.adapters.embedded.chunk_rows import Head, decoded_row, head
from bio_mcp.adapters.embedded.database import Database
from bio_mcp.errors import IndexUnavailable

if TYPE_CHECKING:
    from bio_mcp.retrieval.passages import Vectors

PAGE = 256  # chunks embedded at a time

_MISSING = (
    "FROM collection_chunks AS c LEFT JOIN collection_vectors AS v ON v.build = ? AND v.id = c.id "
    "WHERE c.collection = ? AND v.id IS NULL"
)


def add_build(connection: sqlite3.Connection, collection: int, model: str, dim: int) -> int:
    """Add an empty build; returns its number."""
    row = (None, collection, model, dim)
    return connection.execute("INSERT INTO collection_builds VALUES (?, ?, ?, ?)", row).lastrowid or 0


def switch(connection: sqlite3.Connection, of: Head, build: int) -> None:
    """Search this build from now on, and delete all others."""
    connection.execute("UPDATE collections SET build = ?, change = change + 1 WHERE id = ?", (build, of.collection))
    others = "SELECT id FROM collection_builds WHERE collection = ? AND id <> ?"
    connection.execute(f"DELETE FROM collection_vectors WHERE build IN ({others})", (of.collection, build))  # noqa: S608
    connection.execute("DELETE FROM collection_builds WHERE collection = ? AND id <> ?", (of.collection, build))


def rebuild(
    database: Database, collection: str, fingerprint: str, dim: int, embed: "Callable[[Sequence[str]], Vectors]"
) -> None:
    """Embed every chunk into another build, then search that one. A build that was begun before is continued."""
    build = _begin(database, collection, fingerprint, dim)
    while not _finished(database, collection, build):
        with database.reading(IndexUnavailable) as connection:
            page = _missing(connection, _current(connection, collection, build), build)
        vectors = embed([text for _, text in page]) if page else ()
        rows = {number: vector for (number, _), vector in zip(page, vectors, strict=True)}
        check_chunk_vectors({str(number): vector for number, vector in rows.items()}, dim)
        with database.writing(IndexUnavailable) as connection:
            _current(connection, collection, build)
            for number, vector in rows.items():
                _write(connection, build, number, vector.astype("<f4").tobytes())


def _begin(database: Database, collection: str, fingerprint: str, dim: int) -> int:
    with database.writing(IndexUnavailable) as connection:
        of = head(connection, collection)
        if of is None:
            raise unknown_collection(collection)
        begun = connection.execute(
            "SELECT id FROM collection_builds WHERE collection = ? AND model = ? AND dim = ? AND id <> ?",
            (of.collection, fingerprint, dim, of.build),
        ).fetchone()
        return int(begun[0]) if begun else add_build(connection, of.collection, fingerprint, dim)


def _finished(database: Database, collection: str, build: int) -> bool:
    """Search the build if it is complete; returns whether it is."""
    with database.writing(IndexUnavailable) as connection:
        of = _current(connection, collection, build)
        if of.build != build:
            if connection.execute(f"SELECT 1 {_MISSING}", (build, of.collection)).fetchone():
                return False
            switch(connection, of, build)
    return True


def _current(connection: sqlite3.Connection, collection: str, build: int) -> Head:
    """The collection. Raises `Conflict` if `build` is no build of it any more."""
    of = head(connection, collection)
    sql = "SELECT 1 FROM collection_builds WHERE id = ? AND collection = ?"
    if of is None or not connection.execute(sql, (build, of.collection)).fetchone():
        raise rebuild_overtaken(collection)
    return of


def _missing(connection: sqlite3.Connection, of: Head, build: int) -> list[tuple[int, str]]:
    """Number and embedded text of `PAGE` chunks that have no vector in the build."""
    rows = connection.execute(
        "SELECT c.id, c.chunk_id, c.doc_id, c.position, "  # noqa: S608
        "(SELECT CAST(chunk AS BLOB) FROM collection_texts AS t WHERE t.id = c.id), "
        f"(SELECT crc FROM collection_texts AS t WHERE t.id = c.id) {_MISSING} LIMIT ?",
        (build, of.collection, PAGE),
    )
    return [(row[0], decoded_row(*row[1:]).embedded_text) for row in rows]


def _write(connection: sqlite3.Connection, build: int, number: int, vector: bytes) -> None:
    """Store the vector of a chunk, unless the chunk was replaced meanwhile."""
    connection.execute(
        "INSERT OR REPLACE INTO collection_vectors SELECT ?, id, ?, ? FROM collection_chunks WHERE id = ?",
        (build, vector, crc32(vector), number),
    )

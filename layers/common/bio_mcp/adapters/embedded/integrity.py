"""Checks that the corpus file is undamaged and consistent."""

import sqlite3
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial

from bio_mcp.adapters.embedded.checksums import ENTRY, abbreviated, is_intact, is_intact_entry
from bio_mcp.adapters.embedded.chunk_checks import damaged_documents
from bio_mcp.adapters.embedded.database import Database
from bio_mcp.adapters.embedded.index import dimension
from bio_mcp.adapters.papers import Codec
from bio_mcp.errors import Failure

FLOAT_BYTES = 4

ORPHANS = {
    "heads without an article": "SELECT count(*) FROM heads WHERE pmid NOT IN (SELECT pmid FROM articles)",
    "articles without a head": "SELECT count(*) FROM articles WHERE pmid NOT IN (SELECT pmid FROM heads)",
    "index entries without passages": "SELECT count(*) FROM entries WHERE pmid NOT IN (SELECT pmid FROM chunks)",
    "passages without an index entry": "SELECT count(*) FROM chunks WHERE pmid NOT IN (SELECT pmid FROM entries)",
    "index entries without vectors": "SELECT count(*) FROM entries WHERE pmid NOT IN (SELECT pmid FROM vectors)",
    "vectors without an index entry": "SELECT count(*) FROM vectors WHERE pmid NOT IN (SELECT pmid FROM entries)",
    "index entries without checksums": "SELECT count(*) FROM entries WHERE pmid NOT IN (SELECT pmid FROM checksums)",
    "checksums without an index entry": "SELECT count(*) FROM checksums WHERE pmid NOT IN (SELECT pmid FROM entries)",
    "index entries marked as removed": "SELECT count(*) FROM entries WHERE pmid IN (SELECT pmid FROM removed)",
    "index entries of an unknown batch": (
        "SELECT count(*) FROM entries WHERE change > (SELECT coalesce(max(value), 0) FROM settings "
        "WHERE name = 'change')"
    ),
    "settings of the index that are missing": (
        "SELECT (3 - count(*)) * EXISTS (SELECT 1 FROM entries) FROM settings WHERE name IN ('model', 'dim', 'change')"
    ),
    "old versions without an article": (
        "SELECT count(*) FROM old_articles WHERE pmid NOT IN (SELECT pmid FROM articles)"
    ),
    "identifiers without an article": (
        "SELECT count(*) FROM paper_identifiers WHERE pmid NOT IN (SELECT pmid FROM articles)"
    ),
    "chunks without a collection": (
        "SELECT count(*) FROM collection_chunks WHERE collection NOT IN (SELECT id FROM collections)"
    ),
    "texts without a chunk": (
        "SELECT count(*) FROM collection_texts WHERE id NOT IN (SELECT id FROM collection_chunks)"
    ),
    "vectors without a chunk": (
        "SELECT count(*) FROM collection_vectors WHERE id NOT IN (SELECT id FROM collection_chunks) "
        "OR build NOT IN (SELECT id FROM collection_builds)"
    ),
    "collections without a build": (
        "SELECT count(*) FROM collections WHERE build NOT IN (SELECT id FROM collection_builds)"
    ),
    "documents of projects that cannot be read": (
        "SELECT count(*) FROM project_documents WHERE NOT json_valid(document)"
    ),
    "libraries of projects that cannot be read": "SELECT count(*) FROM project_cursors WHERE NOT json_valid(cursor)",
    "identifiers without a document": (
        "SELECT count(*) FROM project_identifiers WHERE (project_id, doc_id) NOT IN "
        "(SELECT project_id, doc_id FROM project_documents)"
    ),
    "jobs that cannot be read": (
        "SELECT count(*) FROM jobs WHERE NOT (json_valid(request) AND json_valid(cursor) AND json_valid(progress))"
    ),
    "checkpoints that cannot be read": "SELECT count(*) FROM checkpoints WHERE NOT json_valid(windows)",
    "queued calls that cannot be read": "SELECT count(*) FROM continuations WHERE NOT json_valid(event)",
    "audit records that cannot be read": (
        "SELECT count(*) FROM audit WHERE NOT (json_valid(before) AND json_valid(after))"
    ),
    "documents whose vectors do not fit their passages": (
        "SELECT count(*) FROM entries JOIN vectors USING (pmid) WHERE length(vectors) <> windows * :row"
    ),
    "documents whose words and their counts differ in number": (
        "SELECT count(*) FROM entries WHERE length(term_ids) <> 2 * length(frequencies)"
    ),
}
COUNTS = (
    "SELECT count(*), coalesce(sum(version > indexed_version OR pmid NOT IN (SELECT pmid FROM entries)), 0) FROM heads"
)
INDEXED = (
    f"SELECT {ENTRY}, entry_crc, vectors, vectors_crc, CAST(chunks AS BLOB), chunks_crc "  # noqa: S608  columns only
    "FROM entries JOIN vectors USING (pmid) JOIN chunks USING (pmid) JOIN checksums USING (pmid)"
)
STORED = "SELECT pmid, article, pmid_version, CAST(date_revised AS BLOB) FROM heads JOIN articles USING (pmid)"
CHECKED_ELSEWHERE = {  # row by row, by their checksums
    "articles",
    "chunks",
    "vectors",
    "collection_chunks",
    "collection_texts",
    "collection_vectors",
}


@dataclass(frozen=True, slots=True)
class Integrity:
    """The result of `check`. `problems` are sentences, empty if the file is sound.

    `waiting` counts articles whose passages the next sync makes. Counts are 0 if they cannot be read.
    """

    articles: int
    indexed: int
    chunks: int
    waiting: int
    problems: tuple[str, ...]


def check(database: Database, codec: Codec) -> Integrity:
    """Read every page and row of the corpus file. Raises `StoreFailed` if it cannot be opened at all."""
    with database.reading() as connection:
        problems = [
            *_run(_malformed_pages, connection),
            *_run(lambda file: _missing_objects(file, database.objects()), connection),
        ]
        for look in (
            _orphans,
            _damaged_passages,
            _damaged_chunks,
            partial(_damaged_papers, codec=codec),
            _unreadable_rows,
        ):
            problems += _run(look, connection)
        try:
            articles, waiting = connection.execute(COUNTS).fetchone()
            indexed, chunks = connection.execute("SELECT count(*), coalesce(sum(windows), 0) FROM entries").fetchone()
        except sqlite3.Error:
            articles = waiting = indexed = chunks = 0
    return Integrity(articles, indexed, chunks, waiting, tuple(dict.fromkeys(problems)))


def _run(look: Callable[[sqlite3.Connection], Iterable[str]], connection: sqlite3.Connection) -> list[str]:
    """The problems that `look` finds; if SQLite fails during the check, its error is one of them."""
    problems: list[str] = []
    try:
        problems.extend(look(connection))
    except sqlite3.Error as error:
        problems.append(str(error))
    return problems


def _malformed_pages(connection: sqlite3.Connection) -> Iterator[str]:
    """Malformed pages, and indexes that do not match their tables."""
    return (str(row[0]) for row in connection.execute("PRAGMA integrity_check(5)") if row[0] != "ok")


def _missing_objects(connection: sqlite3.Connection, wanted: Iterable[str]) -> Iterator[str]:
    existing = {name for (name,) in connection.execute("SELECT type || ' ' || name FROM sqlite_schema")}
    return (f"the {missing} is missing" for missing in sorted(set(wanted) - existing))


def _orphans(connection: sqlite3.Connection) -> Iterator[str]:
    row = {"row": dimension(connection) * FLOAT_BYTES}
    for name, sql in ORPHANS.items():
        count = connection.execute(sql, row if ":row" in sql else {}).fetchone()[0]
        if count:
            yield f"{count} {name}"


def _damaged_passages(connection: sqlite3.Connection) -> Iterator[str]:
    pmids = [
        row[0]
        for *row, entry_crc, vectors, vectors_crc, chunks, chunks_crc in connection.execute(INDEXED)
        if not (is_intact_entry(row, entry_crc) and is_intact(vectors, vectors_crc) and is_intact(chunks, chunks_crc))
    ]
    if pmids:
        yield f"damaged passages of PMID {abbreviated(pmids)}: `bio-mcp reindex` rebuilds them from the stored papers"


def _damaged_chunks(connection: sqlite3.Connection) -> Iterator[str]:
    doc_ids = damaged_documents(connection)
    if doc_ids:
        yield f"damaged chunks of the documents {abbreviated(doc_ids)}: ingest them again"


def _damaged_papers(connection: sqlite3.Connection, codec: Codec) -> Iterator[str]:
    pmids = [pmid for pmid, *row in connection.execute(STORED) if not _is_paper(codec, pmid, *row)]
    if pmids:
        yield f"damaged papers, PMID {abbreviated(pmids)}"


def _is_paper(codec: Codec, pmid: int, blob: bytes, version: int, revised: bytes | None) -> bool:
    try:
        article = codec.loads(blob)
    except Failure:
        return False
    day = article.date_revised.isoformat().encode() if article.date_revised else None
    return (article.pmid, article.pmid_version, day) == (str(pmid), version, revised)


def _unreadable_rows(connection: sqlite3.Connection) -> Iterator[str]:
    """Rows with values that cannot be decoded; reading every row finds them."""
    tables = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall()
    for (table,) in tables:
        if table not in CHECKED_ELSEWHERE:
            try:
                for _ in connection.execute(f"SELECT * FROM {table}"):  # noqa: S608  a name out of the schema
                    pass
            except sqlite3.Error as error:
                yield f"{table}: {error}"

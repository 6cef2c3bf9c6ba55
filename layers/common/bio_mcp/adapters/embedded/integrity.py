"""Is the corpus file whole and of one mind?"""

import sqlite3
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from bio_mcp.adapters.embedded.checksums import ENTRY, is_entry, is_whole, some
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
    "index entries of a batch that never was": (
        "SELECT count(*) FROM entries WHERE change > (SELECT coalesce(max(value), 0) FROM settings "
        "WHERE name = 'change')"
    ),
    "settings of the index that are missing": (
        "SELECT (3 - count(*)) * EXISTS (SELECT 1 FROM entries) FROM settings WHERE name IN ('model', 'dim', 'change')"
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
CHECKED_ELSEWHERE = {"articles", "chunks", "vectors"}  # row by row, by their checksums


@dataclass(frozen=True, slots=True)
class Integrity:
    """`problems` are sentences, none when the file is whole. `waiting`: articles whose passages the next sync makes.

    The numbers are 0 where they cannot be read.
    """

    articles: int
    indexed: int
    chunks: int
    waiting: int
    problems: tuple[str, ...]


def check(database: Database, codec: Codec) -> Integrity:
    """Look at every page and row of the corpus file. Raises `StoreFailed` where it cannot even be opened."""
    with database.reading() as connection:
        problems = [*_tried(_torn, connection), *_tried(lambda each: _lost(each, database.objects()), connection)]
        for look in (_orphans, _damaged_passages, lambda each: _damaged_papers(each, codec), _unreadable):
            problems += _tried(look, connection)
        try:
            articles, waiting = connection.execute(COUNTS).fetchone()
            indexed, chunks = connection.execute("SELECT count(*), coalesce(sum(windows), 0) FROM entries").fetchone()
        except sqlite3.Error:
            articles = waiting = indexed = chunks = 0
    return Integrity(articles, indexed, chunks, waiting, tuple(dict.fromkeys(problems)))


def _tried(look: Callable[[sqlite3.Connection], Iterable[str]], connection: sqlite3.Connection) -> list[str]:
    """What `look` finds; where the file does not even let it look, that."""
    found: list[str] = []
    try:
        found.extend(look(connection))
    except sqlite3.Error as error:
        found.append(str(error))
    return found


def _torn(connection: sqlite3.Connection) -> Iterator[str]:
    """Pages that are no pages, and indexes that do not fit their tables."""
    return (str(row[0]) for row in connection.execute("PRAGMA integrity_check(5)") if row[0] != "ok")


def _lost(connection: sqlite3.Connection, wanted: Iterable[str]) -> Iterator[str]:
    there = {name for (name,) in connection.execute("SELECT type || ' ' || name FROM sqlite_schema")}
    return (f"the {each} is missing" for each in sorted(set(wanted) - there))


def _orphans(connection: sqlite3.Connection) -> Iterator[str]:
    row = {"row": dimension(connection) * FLOAT_BYTES}
    for name, sql in ORPHANS.items():
        count = connection.execute(sql, row if ":row" in sql else {}).fetchone()[0]
        if count:
            yield f"{count} {name}"


def _damaged_passages(connection: sqlite3.Connection) -> Iterator[str]:
    found = [
        row[0]
        for *row, entry_crc, vectors, vectors_crc, chunks, chunks_crc in connection.execute(INDEXED)
        if not (is_entry(row, entry_crc) and is_whole(vectors, vectors_crc) and is_whole(chunks, chunks_crc))
    ]
    if found:
        yield f"damaged passages of PMID {some(found)}: `bio-mcp reindex` makes them again from the stored papers"


def _damaged_papers(connection: sqlite3.Connection, codec: Codec) -> Iterator[str]:
    found = [pmid for pmid, *row in connection.execute(STORED) if not _is_paper(codec, pmid, *row)]
    if found:
        yield f"damaged papers, PMID {some(found)}"


def _is_paper(codec: Codec, pmid: int, blob: bytes, version: int, revised: bytes | None) -> bool:
    try:
        article = codec.loads(blob)
    except Failure:
        return False
    day = article.date_revised.isoformat().encode() if article.date_revised else None
    return (article.pmid, article.pmid_version, day) == (str(pmid), version, revised)


def _unreadable(connection: sqlite3.Connection) -> Iterator[str]:
    """Texts that are none: reading is enough to find them."""
    tables = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall()
    for (table,) in tables:
        if table not in CHECKED_ELSEWHERE:
            try:
                for _ in connection.execute(f"SELECT * FROM {table}"):  # noqa: S608  a name out of the schema
                    pass
            except sqlite3.Error as error:
                yield f"{table}: {error}"

"""Checks of a data directory: whether it can be written, its corpus file and index file are sound, its queue moves."""

import json
import os
import shutil
import sqlite3
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

from bio_mcp.adapters.embedded.chunk_rows import damaged_documents
from bio_mcp.adapters.embedded.database import Database
from bio_mcp.adapters.embedded.field_rows import (
    COLUMNS,
    FIELDS,
    NOT_LOOKED_UP,
    is_intact_fields,
    unpacked,
    without_fields,
)
from bio_mcp.adapters.embedded.index_file import FREE, Reason, Unusable
from bio_mcp.adapters.embedded.live_index import MIN_WINDOWS, NAME, usable
from bio_mcp.adapters.embedded.paper_rows import PaperRows, is_intact, is_intact_row
from bio_mcp.adapters.embedded.schema import ENTRY
from bio_mcp.adapters.embedded.vector_search import IN_MEMORY
from bio_mcp.adapters.stored import abbreviated
from bio_mcp.errors import Failure, IndexUnavailable, NotFound
from bio_mcp.health import FAIL, OK, WARN, Finding
from bio_mcp.literature import serial
from bio_mcp.ports.messages import DeadLetters
from bio_mcp.ports.state import Jobs

WITHOUT = (  # what there may not be without what else: the words for it, its table, the other's, and the column of both
    ("heads without an article", "heads", "articles", "pmid"),
    ("articles without a head", "articles", "heads", "pmid"),
    ("index entries without passages", "entries", "chunks", "pmid"),
    ("passages without an index entry", "chunks", "entries", "pmid"),
    ("index entries without vectors", "entries", "vectors", "pmid"),
    ("vectors without an index entry", "vectors", "entries", "pmid"),
    ("index entries without checksums", "entries", "checksums", "pmid"),
    ("checksums without an index entry", "checksums", "entries", "pmid"),
    ("searched fields without an index entry", "fields", "entries", "pmid"),
    ("searched texts without an index entry", "texts", "fields", "pmid"),
    ("days without an index entry", "published", "fields", "pmid"),
    ("abbreviations without an index entry", "abbreviations", "fields", "pmid"),
    ("old versions without an article", "old_articles", "articles", "pmid"),
    ("identifiers without an article", "paper_identifiers", "articles", "pmid"),
    ("chunks without a collection", "collection_chunks", "collections", "collection"),
    ("collections without a build", "collections", "collection_builds", "build"),
    ("texts without a chunk", "collection_texts", "collection_chunks", "id"),
    ("vectors without a chunk", "collection_vectors", "collection_chunks", "id"),
    ("vectors without a build", "collection_vectors", "collection_builds", "build"),
)
UNREADABLE = (  # what is JSON: the words for it, its table and columns
    ("documents of projects", "project_documents", "document"),
    ("libraries of projects", "project_cursors", "cursor"),
    ("jobs", "jobs", "request", "cursor", "progress"),
    ("checkpoints", "checkpoints", "windows"),
    ("queued calls", "continuations", "event"),
    ("audit records", "audit", "before", "after"),
)
WRONG = {
    **{
        words: f"{table} WHERE {column} NOT IN (SELECT {'pmid' if column == 'pmid' else 'id'} FROM {other})"  # noqa: S608
        for words, table, other, column in WITHOUT
    },
    **{
        f"{words} that cannot be read": f"{table} WHERE NOT ({' AND '.join(f'json_valid({each})' for each in columns)})"
        for words, table, *columns in UNREADABLE
    },
    "index entries marked as removed": "entries WHERE pmid IN (SELECT pmid FROM removed)",
    "index entries without searched fields": (
        "entries WHERE pmid NOT IN (SELECT pmid FROM fields UNION ALL SELECT pmid FROM without_fields)"
    ),
    "index entries of an unknown batch": (
        "entries WHERE change > (SELECT coalesce(max(value), 0) FROM settings WHERE name = 'change')"
    ),
    "identifiers without a document": (
        "project_identifiers WHERE (project_id, doc_id) NOT IN (SELECT project_id, doc_id FROM project_documents)"
    ),
    "documents whose vectors do not fit their passages": (
        "entries JOIN vectors USING (pmid) WHERE length(vectors) <> windows * 4 * "
        "(SELECT coalesce(max(value), 0) FROM settings WHERE name = 'dim')"
    ),
    "documents whose words and their counts differ in number": (
        "entries WHERE length(term_ids) <> 2 * length(frequencies)"
    ),
}
"""What a sound file has none of: the words for it, and the table and condition by which it is counted."""
SETTINGS_LOST = (
    "SELECT (3 - count(*)) * EXISTS (SELECT 1 FROM entries) FROM settings WHERE name IN ('model', 'dim', 'change')"
)
INDEXED = (
    f"SELECT {ENTRY}, entry_crc, vectors, vectors_crc, CAST(chunks AS BLOB), chunks_crc "  # noqa: S608  columns only
    "FROM entries JOIN vectors USING (pmid) JOIN chunks USING (pmid) JOIN checksums USING (pmid)"
)
SEARCHED = f"SELECT {FIELDS} FROM fields LEFT JOIN texts USING (pmid)"  # noqa: S608  columns only
STORED = "SELECT pmid, article, pmid_version, CAST(date_revised AS BLOB) FROM heads JOIN articles USING (pmid)"
CHECKED_ELSEWHERE = {  # row by row, by their checksums
    "articles",
    "chunks",
    "vectors",
    "texts",
    "words",
    "collection_chunks",
    "collection_texts",
    "collection_vectors",
}


def check(database: Database) -> tuple[str, ...]:
    """Read every page and row of the corpus file; returns its problems, as sentences.

    Raises `StoreFailed` if it cannot be opened at all.
    """
    problems: list[str] = []
    with database.reading() as connection:
        looks: tuple[Callable[[sqlite3.Connection], Iterable[str]], ...] = (
            lambda connection: [row[0] for row in connection.execute("PRAGMA integrity_check(5)") if row[0] != "ok"],
            lambda connection: [f"the {name} is missing" for name in database.missing_objects(connection)],
            _wrong_rows,
            _damaged_passages,
            _damaged_fields,
            _damaged_words,
            _damaged_chunks,
            _damaged_papers,
            _unreadable_rows,
        )
        for look in looks:
            try:
                problems.extend(look(connection))
            except sqlite3.Error as error:
                problems.append(str(error))
    return tuple(dict.fromkeys(problems))


def _wrong_rows(connection: sqlite3.Connection) -> Iterator[str]:
    counts = {words: f"SELECT count(*) FROM {rows}" for words, rows in WRONG.items()}  # noqa: S608  our own
    for words, sql in (counts | {"settings of the index that are missing": SETTINGS_LOST}).items():
        if count := connection.execute(sql).fetchone()[0]:
            yield f"{count} {words}"


def _damaged_passages(connection: sqlite3.Connection) -> Iterator[str]:
    pmids = [
        row[0]
        for *row, entry_crc, vectors, vectors_crc, chunks, chunks_crc in connection.execute(INDEXED)
        if not (is_intact_row(row, entry_crc) and is_intact(vectors, vectors_crc) and is_intact(chunks, chunks_crc))
    ]
    if pmids:
        yield f"damaged passages of PMID {abbreviated(pmids)}: `bio-mcp admin reindex` makes them from the papers"


def _damaged_fields(connection: sqlite3.Connection) -> Iterator[str]:
    if pmids := [row[0] for row in connection.execute(SEARCHED) if not is_intact_fields(*row)]:
        yield f"damaged words of PMID {abbreviated(pmids)}: `bio-mcp admin reindex` makes them from the papers"


def _damaged_words(connection: sqlite3.Connection) -> Iterator[str]:
    """Compare the full-text index with the texts. FTS5 does that as a write, so in a copy of the index alone."""
    (made,) = connection.execute("SELECT sql FROM sqlite_schema WHERE name = 'words'").fetchone()
    copied = [f"INSERT INTO temp.words_{each} SELECT * FROM main.words_{each}" for each in ("data", "idx")]  # noqa: S608
    try:
        connection.create_function("text_at", 2, _text_at, deterministic=True)
        places = enumerate(COLUMNS.split(", "))
        texts = ", ".join(f"text_at(CAST(packed AS BLOB), {place}) AS {name}" for place, name in places)
        connection.execute(f"CREATE TEMP VIEW words_of_texts AS SELECT pmid AS rowid, {texts} FROM main.texts")  # noqa: S608
        made = made.replace("TABLE words", "TABLE temp.words", 1)
        connection.execute(made.replace("content = ''", "content = 'words_of_texts'"))
        for statement in ("DELETE FROM temp.words_data", "DELETE FROM temp.words_idx", *copied):
            connection.execute(statement)
        connection.execute("INSERT INTO temp.words (words, rank) VALUES ('integrity-check', 1)")
    except sqlite3.DatabaseError:
        yield "damaged index of words"
    finally:
        connection.execute("DROP VIEW IF EXISTS temp.words_of_texts")
        connection.execute("DROP TABLE IF EXISTS temp.words")


_unpacked = lru_cache(maxsize=1)(unpacked)


def _text_at(packed: bytes, place: int) -> str | None:
    """One of the texts of a paper; None where they are damaged, which is reported apart."""
    with suppress(zlib.error, UnicodeDecodeError, IndexError, TypeError):
        return _unpacked(packed)[place]
    return None


def _damaged_chunks(connection: sqlite3.Connection) -> Iterator[str]:
    doc_ids = damaged_documents(connection)
    if doc_ids:
        yield f"damaged chunks of the documents {abbreviated(doc_ids)}: ingest them again"


def _damaged_papers(connection: sqlite3.Connection) -> Iterator[str]:
    pmids = [pmid for pmid, *row in connection.execute(STORED) if not _is_paper(pmid, *row)]
    if pmids:
        yield f"damaged papers, PMID {abbreviated(pmids)}"


def _is_paper(pmid: int, blob: bytes, version: int, revised: bytes | None) -> bool:
    try:
        article = serial.loads(blob)
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


LOW_DISK, FULL_DISK = 1 << 30, 100 << 20  # bytes of free disk
RESTORE = (
    "Stop every bio-mcp that uses the file and put back a copy of it, with no corpus.sqlite3-wal beside it; or move it "
    "away, and import, sync and ingest again."
)
REPAIRS = {
    "bio-mcp admin reindex": "Run `bio-mcp admin reindex`.",
    "ingest them again": "Ingest these documents again, with force_rebuild.",
}
"""What a problem names that repairs it -> the remedy."""


def data_directory(home: Path) -> Finding:
    """Check that `home` is writable, with room for the next import."""
    existing = next(directory for directory in (home, *home.absolute().parents) if directory.exists())
    if not existing.is_dir() or not os.access(existing, os.W_OK | os.X_OK):
        readable = existing == home and os.access(home, os.R_OK | os.X_OK)
        found = f"{home} cannot be written" + (": its corpus can be searched and not changed" if readable else "")
        remedy = "Make it writable for this user, or set BIO_MCP_HOME."
        return Finding(WARN if readable else FAIL, found, remedy)
    return space(home, shutil.disk_usage(existing).free)


def space(home: Path, free: int) -> Finding:
    """Check that `free` bytes are enough for the next import or sync."""
    found = f"{home}, {free / (1 << 30):.1f} GiB free"
    if free < FULL_DISK:
        return Finding(FAIL, found, "Free some space: the next import or sync may not fit.")
    return Finding(WARN if free < LOW_DISK else OK, found, "Free some space soon." if free < LOW_DISK else "")


def database(problems: Sequence[str]) -> Finding:
    """The result of the integrity check, with what to do about damage."""
    if not problems:
        return Finding(OK, "whole")
    for repair, remedy in REPAIRS.items():
        if all(repair in problem for problem in problems):
            return Finding(FAIL, "; ".join(problems), remedy)
    return Finding(FAIL, "; ".join(problems), RESTORE)


def index_file(database: Database) -> Finding:
    """Whether a start can read the saved index, and whether it can be saved where that cannot be read."""
    path = database.directory / NAME
    with database.reading(IndexUnavailable) as connection:
        papers = PaperRows(connection)
        _, windows = papers.size()
        if windows <= MIN_WINDOWS:
            return Finding(OK, "not needed: a corpus of this size is read as fast")
        try:
            file = usable(path, papers)
        except Unusable as unusable:
            reason = unusable.reason
        else:
            _, since = papers.past(file.about["change"])
            return Finding(OK, f"{NAME}, {path.stat().st_size / (1 << 20):,.0f} MB, {since:,} papers changed since")
    found = f"{NAME} {reason}; a search does not use it, and reads the whole corpus file"
    bytes_a_number = 6 if windows <= IN_MEMORY else 2  # some more than was measured from 10,000 to a million papers
    if obstacle := _obstacle(path, FREE * windows * papers.dim * bytes_a_number):
        return Finding(WARN, found, f"{obstacle}; then the next start of a server makes it.")
    if reason is Reason.DAMAGED:
        return Finding(WARN, found, "The next search makes it again. If it is damaged again, check the disk.")
    return Finding(OK, f"{NAME} {reason}; the next search makes it")


def searched_fields(database: Database) -> Finding:
    """Whether all papers of an index are found by more than questions, or an earlier version wrote some."""
    with database.reading(IndexUnavailable) as connection:
        if not (papers := without_fields(connection)):
            return Finding(OK, "every paper has its words, values and names")
    remedy = "Run `bio-mcp admin reindex`; if the model stays the same, nothing is embedded again."
    return Finding(WARN, f"{papers:,} papers are of an earlier version: {NOT_LOOKED_UP}", remedy)


def _obstacle(path: Path, needed: int) -> str:
    """What to do before the file at `path` can be written, which takes so many bytes of free disk; "" for nothing."""
    if path.is_dir():
        return f"Delete the directory {path.name}"
    if not os.access(path.parent, os.W_OK | os.X_OK):
        return f"Make {path.parent} writable for this user"
    free = shutil.disk_usage(path.parent).free
    return f"Free {(needed - free) / (1 << 30):.1f} GiB of disk" if free < needed else ""


def queue(letters: DeadLetters, jobs: Jobs) -> Finding:
    """Check for dead letters whose job no later sync has continued."""
    events = [(json.loads(each.body), each.reason) for each in letters.all()]
    dead = [
        f"{event['arguments'].get('query_key', event['tool'])}: {reason}"
        for event, reason in events
        if _is_stalled(event["arguments"].get("job_id"), jobs)
    ]
    if not dead:
        return Finding(OK, "nothing was given up")
    return Finding(
        WARN,
        f"given up: {'; '.join(dead)}",
        "Run the sync again, which continues where it stopped, or `bio-mcp admin letters redrive`.",
    )


def _is_stalled(job_id: str | None, jobs: Jobs) -> bool:
    try:
        return job_id is None or jobs.get(job_id).state == "stalled"
    except NotFound:
        return False

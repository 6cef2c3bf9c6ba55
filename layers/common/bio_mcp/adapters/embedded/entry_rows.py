"""Index entries as rows of the corpus file: the writing half."""

import sqlite3
from collections.abc import Mapping, Sequence
from itertools import chain
from operator import attrgetter
from struct import pack
from typing import Any
from zlib import crc32

import orjson

from bio_mcp.adapters.embedded.checksums import ENTRY, entry_checksum, is_intact, is_intact_entry
from bio_mcp.adapters.embedded.numbers import Facet
from bio_mcp.adapters.embedded.opening import Connection
from bio_mcp.adapters.embedded.rows import SEPARATOR
from bio_mcp.adapters.embedded.term_counts import term_counts
from bio_mcp.adapters.entry_vectors import journal_names, newest
from bio_mcp.adapters.pmids import key
from bio_mcp.errors import Conflict
from bio_mcp.retrieval.passages import Entry

_STORED = "SELECT pmid, version FROM entries WHERE pmid IN (SELECT value FROM json_each(?))"
_chunk_row = attrgetter("chunk_id", "text", "section", "char_start", "char_end", "embedded_sha256")


def facets_of(entry: Entry) -> list[Facet]:
    """The (kind, value) pairs by which the entry can be filtered, apart from its year."""
    return [
        *(("journal", name) for name in sorted(journal_names(entry))),
        *(("publication_type", ui) for ui in sorted(set(entry.publication_types))),
        *(("tag", tag) for tag in sorted(set(entry.tags))),
        *(("project", project) for project in sorted(set(entry.projects))),
    ]


def write_entries(connection: Connection, entries: Sequence[Entry], change: int) -> int:
    """Replace the documents of these entries in the caller's transaction. Returns how many were written.

    An entry older than the stored version is skipped. A chunk without a vector takes the stored vector of the same
    text; raises `Conflict` if there is none.
    """
    wanted = {key(entry.pmid): entry for entry in newest(entries)}
    listed = orjson.dumps(list(wanted)).decode()
    stored = dict(connection.execute(_STORED, (listed,)).fetchall())
    later = {
        pmid for pmid, version in stored.items() if version > wanted[pmid].version and _is_intact(connection, pmid)
    }
    current = {pmid: entry for pmid, entry in wanted.items() if pmid not in later}
    if not current:
        return 0
    connection.numbers.begin(connection, change)
    rows = _rows(connection, current, change)
    vectors = {pmid: _vectors(connection, entry) for pmid, entry in current.items()}
    chunks = {pmid: _chunks(entry) for pmid, entry in current.items()}
    checksums = [(pmid, _row_checksum(rows[pmid]), crc32(chunks[pmid]), crc32(vectors[pmid])) for pmid in rows]
    connection.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?)", vectors.items())
    texts = [(pmid, listed.decode()) for pmid, listed in chunks.items()]
    connection.executemany("INSERT OR REPLACE INTO chunks VALUES (?, ?)", texts)
    # to replace a row of an indexed table SQLite copies every page it touches to a file of its own, each time
    connection.executemany("DELETE FROM entries WHERE pmid = ?", zip(stored.keys() & current.keys()))
    connection.executemany("INSERT INTO entries VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", rows.values())
    connection.executemany("INSERT OR REPLACE INTO checksums VALUES (?, ?, ?, ?)", checksums)
    connection.execute("DELETE FROM removed WHERE pmid IN (SELECT value FROM json_each(?))", (listed,))
    return len(current)


def _is_intact(connection: sqlite3.Connection, pmid: int) -> bool:
    """Whether the stored row is intact."""
    row = connection.execute(
        f"SELECT {ENTRY}, entry_crc FROM entries JOIN checksums USING (pmid) WHERE pmid = ?",  # noqa: S608
        (pmid,),
    ).fetchone()
    return row is not None and is_intact_entry(row[:-1], row[-1])


def _vectors(connection: sqlite3.Connection, entry: Entry) -> bytes:
    """One vector per chunk, the entry's own or the stored one of the same text."""
    stored = {} if len(entry.vectors) == len(entry.chunks) else _stored_vectors(connection, entry.pmid)
    rows = []
    for chunk in entry.chunks:
        vector = entry.vectors.get(chunk.chunk_id)
        blob = stored.get(chunk.embedded_sha256) if vector is None else vector.astype("<f4", copy=False).tobytes()
        if blob is None:
            raise Conflict(
                f"The text of chunk {chunk.chunk_id} of PMID {entry.pmid} is not the one whose vector is stored; "
                "embed it again."
            )
        rows.append(blob)
    return b"".join(rows)


def _stored_vectors(connection: sqlite3.Connection, pmid: str) -> dict[str, bytes]:
    """SHA-256 of a chunk's embedded text -> its stored vector as bytes; empty if a row is damaged."""
    row = connection.execute(
        "SELECT CAST(chunks AS BLOB), vectors, chunks_crc, vectors_crc "
        "FROM chunks JOIN vectors USING (pmid) JOIN checksums USING (pmid) WHERE pmid = ?",
        (key(pmid),),
    ).fetchone()
    if row is None or not (is_intact(row[0], row[2]) and is_intact(row[1], row[3])):
        return {}
    hashes = [chunk[-1] for chunk in orjson.loads(row[0])]
    size = len(row[1]) // max(1, len(hashes))
    return {digest: row[1][i * size : (i + 1) * size] for i, digest in enumerate(hashes)}


def _chunks(entry: Entry) -> bytes:
    return orjson.dumps(list(map(_chunk_row, entry.chunks)))


def _row_checksum(row: Sequence[Any]) -> int:
    return entry_checksum(*[value.encode() if isinstance(value, str) else value for value in row])


def _rows(connection: Connection, entries: Mapping[int, Entry], change: int) -> dict[int, tuple[Any, ...]]:
    """The row of each entry in the table `entries`."""
    terms = [entry.terms for entry in entries.values()]
    facets = [facets_of(entry) for entry in entries.values()]
    numbers = connection.numbers.of_terms(connection, terms)
    counts = term_counts(numbers, list(map(len, terms)))
    known = connection.numbers.of_facets(connection, chain.from_iterable(facets))
    return {
        pmid: _row(pmid, entry, change, *counted, sorted([known[facet] for facet in having]))
        for (pmid, entry), counted, having in zip(entries.items(), counts, facets, strict=True)
    }


def _row(
    pmid: int, entry: Entry, change: int, terms: bytes, frequencies: bytes, facets: Sequence[int]
) -> tuple[Any, ...]:
    quality = entry.quality
    return (
        pmid,
        entry.version,
        change,
        entry.year,
        entry.journal,
        quality.design,
        quality.journal,
        quality.human,
        entry.retraction.value,
        len(entry.terms),
        terms,
        frequencies,
        pack(f"<{len(facets)}I", *facets),
        len(entry.chunks),
        SEPARATOR.join([chunk.chunk_id for chunk in entry.chunks]),
    )

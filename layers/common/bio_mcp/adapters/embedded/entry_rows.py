"""Index entries as rows of the corpus file: the writing half."""

import json
import sqlite3
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any
from zlib import crc32

import numpy as np

from bio_mcp.adapters.embedded.checksums import ENTRY, entry_checksum, is_intact, is_intact_entry
from bio_mcp.adapters.embedded.rows import SEPARATOR
from bio_mcp.adapters.entry_vectors import journal_names, newest
from bio_mcp.adapters.pmids import key
from bio_mcp.errors import Conflict
from bio_mcp.retrieval.passages import Entry

MAX_FREQUENCY = 0xFFFF

Facet = tuple[str, str]


def facets_of(entry: Entry) -> list[Facet]:
    """The (kind, value) pairs by which the entry can be filtered, apart from its year."""
    return [
        *(("journal", name) for name in sorted(journal_names(entry))),
        *(("publication_type", ui) for ui in sorted(set(entry.publication_types))),
        *(("tag", tag) for tag in sorted(set(entry.tags))),
        *(("project", project) for project in sorted(set(entry.projects))),
    ]


def write_entries(connection: sqlite3.Connection, entries: Sequence[Entry], change: int) -> int:
    """Replace the documents of these entries in the caller's transaction. Returns how many were written.

    An entry older than the stored version is skipped. A chunk without a vector takes the stored vector of the same
    text; raises `Conflict` if there is none.
    """
    current = [entry for entry in newest(entries) if not _superseded(connection, entry)]
    terms = _term_ids(connection, set(chain.from_iterable(entry.terms for entry in current)))
    facets = _facet_ids(connection, set(chain.from_iterable(map(facets_of, current))))
    for entry in current:
        vectors = _write_vectors(connection, entry)
        chunks = _write_chunks(connection, entry)
        row = _write_entry(connection, entry, change, terms, facets)
        checksums = (key(entry.pmid), row, chunks, vectors)
        connection.execute("INSERT OR REPLACE INTO checksums VALUES (?, ?, ?, ?)", checksums)
        connection.execute("DELETE FROM removed WHERE pmid = ?", (key(entry.pmid),))
    return len(current)


def _superseded(connection: sqlite3.Connection, entry: Entry) -> bool:
    """Whether a later version is stored and intact."""
    row = connection.execute(
        f"SELECT {ENTRY}, entry_crc FROM entries JOIN checksums USING (pmid) WHERE pmid = ? AND version > ?",  # noqa: S608
        (key(entry.pmid), entry.version),
    ).fetchone()
    return row is not None and is_intact_entry(row[:-1], row[-1])


def _term_ids(connection: sqlite3.Connection, terms: set[str]) -> dict[str, int]:
    """Term -> id; new terms are numbered."""
    connection.executemany("INSERT OR IGNORE INTO terms (term) VALUES (?)", [(term,) for term in sorted(terms)])
    return dict(
        connection.execute("SELECT term, id FROM terms WHERE term IN (SELECT value FROM json_each(?))", (_json(terms),))
    )


def _facet_ids(connection: sqlite3.Connection, facets: set[Facet]) -> dict[Facet, int]:
    connection.executemany("INSERT OR IGNORE INTO facets (kind, value) VALUES (?, ?)", sorted(facets))
    find = "SELECT id FROM facets WHERE kind = ? AND value = ?"
    return {facet: connection.execute(find, facet).fetchone()[0] for facet in facets}


def _json(texts: Iterable[str]) -> str:
    return json.dumps(sorted(texts), ensure_ascii=False)


def _write_vectors(connection: sqlite3.Connection, entry: Entry) -> int:
    """Store one vector per chunk, the entry's own or the stored one of the same text. Returns the row's CRC-32."""
    stored = {} if len(entry.vectors) == len(entry.chunks) else _stored_vectors(connection, entry.pmid)
    rows = []
    for chunk in entry.chunks:
        vector = entry.vectors.get(chunk.chunk_id)
        blob = stored.get(chunk.embedded_sha256) if vector is None else vector.astype("<f4").tobytes()
        if blob is None:
            raise Conflict(
                f"The text of chunk {chunk.chunk_id} of PMID {entry.pmid} is not the one whose vector is stored; "
                "embed it again."
            )
        rows.append(blob)
    vectors = b"".join(rows)
    connection.execute("INSERT OR REPLACE INTO vectors VALUES (?, ?)", (key(entry.pmid), vectors))
    return crc32(vectors)


def _stored_vectors(connection: sqlite3.Connection, pmid: str) -> dict[str, bytes]:
    """SHA-256 of a chunk's embedded text -> its stored vector as bytes; empty if a row is damaged."""
    row = connection.execute(
        "SELECT CAST(chunks AS BLOB), vectors, chunks_crc, vectors_crc "
        "FROM chunks JOIN vectors USING (pmid) JOIN checksums USING (pmid) WHERE pmid = ?",
        (key(pmid),),
    ).fetchone()
    if row is None or not (is_intact(row[0], row[2]) and is_intact(row[1], row[3])):
        return {}
    hashes = [chunk[-1] for chunk in json.loads(row[0])]
    size = len(row[1]) // max(1, len(hashes))
    return {digest: row[1][i * size : (i + 1) * size] for i, digest in enumerate(hashes)}


def _write_chunks(connection: sqlite3.Connection, entry: Entry) -> int:
    chunks = [[c.chunk_id, c.text, c.section, c.char_start, c.char_end, c.embedded_sha256] for c in entry.chunks]
    text = json.dumps(chunks, ensure_ascii=False, separators=(",", ":"))
    connection.execute("INSERT OR REPLACE INTO chunks VALUES (?, ?)", (key(entry.pmid), text))
    return crc32(text.encode())


def _write_entry(
    connection: sqlite3.Connection, entry: Entry, change: int, terms: dict[str, int], facets: dict[Facet, int]
) -> int:
    row = _row(entry, change, terms, facets)
    connection.execute("INSERT OR REPLACE INTO entries VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", row)
    return entry_checksum(*(value.encode() if isinstance(value, str) else value for value in row))


def _row(entry: Entry, change: int, terms: dict[str, int], facets: dict[Facet, int]) -> tuple[Any, ...]:
    counts = sorted((terms[term], min(count, MAX_FREQUENCY)) for term, count in Counter(entry.terms).items())
    quality = entry.quality
    return (
        key(entry.pmid),
        entry.version,
        change,
        entry.year,
        entry.journal,
        quality.design,
        quality.journal,
        quality.human,
        entry.retraction.value,
        len(entry.terms),
        np.array([term for term, _ in counts], "<u4").tobytes(),
        np.array([count for _, count in counts], "<u2").tobytes(),
        np.array(sorted(facets[facet] for facet in facets_of(entry)), "<u4").tobytes(),
        len(entry.chunks),
        SEPARATOR.join(chunk.chunk_id for chunk in entry.chunks),
    )

"""Papers as rows of the index. Each has a CRC-32, to find damage that SQLite cannot see."""

import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain, islice
from operator import attrgetter
from struct import pack
from typing import TYPE_CHECKING, Any
from zlib import crc32

import numpy as np
import orjson
from numpy.typing import NDArray

from bio_mcp.adapters.embedded.database import Connection
from bio_mcp.adapters.embedded.field_rows import write_fields
from bio_mcp.adapters.embedded.live_index import NO_DAY, NO_NUMBER, NO_YEAR, SEPARATOR, Names, RowBatch, Source
from bio_mcp.adapters.embedded.schema import ENTRY, entry_checksum
from bio_mcp.adapters.embedded.term_ids import Facet, term_counts
from bio_mcp.adapters.indexes import cosines, journal_names, newest, vectors_of
from bio_mcp.adapters.stored import abbreviated, key, numbers
from bio_mcp.errors import IndexUnavailable
from bio_mcp.retrieval.passages import Entry, StoredChunk

if TYPE_CHECKING:
    from bio_mcp.retrieval.passages import Vectors


def is_intact_row(row: Sequence[Any], checksum: Any, of: Callable[..., int] = entry_checksum) -> bool:
    """Whether `row`, with the columns that `of` takes, matches its checksum."""
    try:
        return bool(of(*row) == checksum)
    except TypeError:  # a column has another type than it was given
        return False


def is_intact(value: Any, checksum: Any) -> bool:
    """Whether `value` is bytes matching their CRC-32."""
    return isinstance(value, bytes) and crc32(value) == checksum


def damaged(pmids: Sequence[object]) -> IndexUnavailable:
    """The failure that names papers with damaged index rows and the command that repairs them."""
    return IndexUnavailable(
        f"The stored passages of PMID {abbreviated(pmids)} are damaged: run `bio-mcp admin reindex`, which makes them "
        "from the stored papers.",
        retryable=False,
    )


BATCH = 256  # documents read at once

VECTORS = (
    "SELECT pmid, vectors, vectors_crc FROM vectors LEFT JOIN checksums USING (pmid) "
    "WHERE pmid IN (SELECT value FROM json_each(?))"
)
SELECT = (
    f"SELECT {ENTRY}, vectors, day, participants, entry_crc, vectors_crc "  # noqa: S608  columns only
    "FROM entries LEFT JOIN vectors USING (pmid) LEFT JOIN fields USING (pmid) LEFT JOIN checksums USING (pmid)"
)


def read_vectors(connection: sqlite3.Connection, dim: int, pmids: Sequence[int]) -> list[NDArray[np.float32]]:
    """The vectors of documents, in the order of `pmids`; no rows for one that is not stored. Raises
    `IndexUnavailable` for a damaged row."""
    rows = connection.execute(VECTORS, (json.dumps(list(pmids)),)).fetchall()
    if broken := [pmid for pmid, vectors, crc in rows if not is_intact(vectors, crc)]:
        raise damaged(broken)
    found = {pmid: vectors for pmid, vectors, _ in rows}
    return [np.frombuffer(found.get(pmid, b""), "<f4").reshape(-1, dim) for pmid in pmids]


class PaperRows(Source):
    """The papers of a corpus file, as the transaction of `connection` sees them: a `Source` of the index."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        sql = "SELECT name, value FROM settings WHERE name IN ('model', 'dim', 'change')"
        settings = dict(connection.execute(sql).fetchall())
        self._connection = connection
        self.change, self.dim = int(settings.get("change", 0)), int(settings.get("dim", 0))
        self.model: tuple[str, int] | None = (settings["model"], self.dim) if "model" in settings else None

    def size(self) -> tuple[int, int]:
        counted = "SELECT count(*), coalesce(sum(windows), 0) FROM entries"
        documents, windows = self._connection.execute(counted).fetchone()
        return documents, windows

    def batches(self, names: Names, since: int | None = None, last: int = 0) -> Iterator[RowBatch]:  # noqa: ARG002
        condition, values = ("", ()) if since is None else (" WHERE change > ?", (since,))
        cursor, dim = self._connection.execute(SELECT + condition, values), self.dim
        while rows := cursor.fetchmany(BATCH):
            broken = [row[0] for row in rows if not (is_intact(row[-5], row[-1]) and is_intact_row(row[:-5], row[-2]))]
            if broken:
                raise damaged(broken)
            yield _row_batch(rows, names, dim)

    def removed(self, since: int, keys: NDArray[np.int64]) -> list[int]:  # noqa: ARG002  the table lists them
        rows = self._connection.execute("SELECT pmid FROM removed WHERE change > ?", (since,))
        return [pmid for (pmid,) in rows]

    def sample(self, windows: int) -> NDArray[np.float32]:
        pmids = [pmid for (pmid,) in self._connection.execute("SELECT pmid FROM entries ORDER BY pmid")]
        step = max(1, self.size()[1] // windows)
        return np.concatenate(read_vectors(self._connection, self.dim, pmids[::step]))

    def past(self, change: int) -> tuple[str | None, int]:
        counted = "SELECT count(*) FROM entries WHERE change > ?1"
        sql = f"SELECT (SELECT token FROM changes WHERE change = ?1), ({counted})"  # noqa: S608  as it stands above
        token, count = self._connection.execute(sql, (change,)).fetchone()
        return token, count


def _row_batch(rows: Sequence[tuple[Any, ...]], names: Names, dim: int) -> RowBatch:
    columns = iter(zip(*rows, strict=True))
    pmids, _, _, years, _, design, journal, human, retraction, lengths = islice(columns, 10)
    terms, frequencies, facets, windows, layouts, vectors, days, participants, *_ = columns
    profiles = zip(design, journal, human, map(bytes.decode, retraction), strict=True)
    return RowBatch.of(
        pmids,
        [NO_YEAR if year is None else year for year in years],
        *(lengths, terms, frequencies, facets, vectors, dim),
        profiles=np.array([names.profiles[profile] for profile in profiles], np.int32),
        layouts=np.array([names.layouts[layout.decode()] for layout in layouts], np.int32),
        windows=np.array(windows, np.int64),
        days=np.array([NO_DAY if day is None else day for day in days], np.int32),
        participants=np.array([NO_NUMBER if number is None else number for number in participants], np.int32),
    )


STORED_VERSIONS = "SELECT pmid, version FROM entries WHERE pmid IN (SELECT value FROM json_each(?))"
_REMOVED = "SELECT pmid, version FROM removed WHERE pmid IN (SELECT value FROM json_each(?))"
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

    An entry older than the stored version, or not newer than what was deleted, is skipped. A chunk without a vector
    takes the stored vector of the same text; raises `Conflict` if there is none.
    """
    wanted = {key(entry.pmid): entry for entry in newest(entries)}
    listed = orjson.dumps(list(wanted)).decode()
    stored = dict(connection.execute(STORED_VERSIONS, (listed,)).fetchall())
    later = {
        pmid for pmid, version in stored.items() if version > wanted[pmid].version and _is_intact(connection, pmid)
    }
    later |= {pmid for pmid, version in connection.execute(_REMOVED, (listed,)) if version >= wanted[pmid].version}
    current = {pmid: entry for pmid, entry in wanted.items() if pmid not in later}
    if not current:
        return 0
    connection.numbers.begin(connection, change)
    rows = _rows(connection, current, change)
    vectors = {pmid: _vectors(connection, entry) for pmid, entry in current.items()}
    chunks = {pmid: orjson.dumps(list(map(_chunk_row, entry.chunks))) for pmid, entry in current.items()}
    checksums = [
        (pmid, entry_checksum(*as_bytes(rows[pmid])), crc32(chunks[pmid]), crc32(vectors[pmid])) for pmid in rows
    ]
    connection.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?)", vectors.items())
    texts = [(pmid, listed.decode()) for pmid, listed in chunks.items()]
    connection.executemany("INSERT OR REPLACE INTO chunks VALUES (?, ?)", texts)
    # to replace a row of an indexed table SQLite copies every page it touches to a file of its own, each time
    connection.executemany("DELETE FROM entries WHERE pmid = ?", zip(stored.keys() & current.keys()))
    connection.executemany("INSERT INTO entries VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", rows.values())
    connection.executemany("INSERT OR REPLACE INTO checksums VALUES (?, ?, ?, ?)", checksums)
    connection.delete_among("removed", "pmid", current)
    write_fields(connection, current)
    return len(current)


def _is_intact(connection: sqlite3.Connection, pmid: int) -> bool:
    row = connection.execute(
        f"SELECT {ENTRY}, entry_crc FROM entries JOIN checksums USING (pmid) WHERE pmid = ?",  # noqa: S608
        (pmid,),
    ).fetchone()
    return row is not None and is_intact_row(row[:-1], row[-1])


def _vectors(connection: sqlite3.Connection, entry: Entry) -> bytes:
    """One vector per chunk, the entry's own or the stored one of the same text."""
    stored: dict[str, NDArray[np.float32]] = {}
    if len(entry.vectors) != len(entry.chunks):
        for _, chunks, vectors in stored_rows(connection, [entry.pmid], pass_damaged=True):
            stored = vectors_by_text(chunks, vectors)
    chosen = vectors_of(entry.chunks, entry.vectors, stored, f"PMID {entry.pmid}")
    return b"".join([vector.astype("<f4", copy=False).tobytes() for vector in chosen])


def vectors_by_text(chunks: bytes, vectors: bytes) -> dict[str, NDArray[np.float32]]:
    """SHA-256 of what was embedded of each chunk of a paper -> its vector."""
    hashes = [chunk[-1] for chunk in orjson.loads(chunks)]
    return dict(zip(hashes, np.frombuffer(vectors, "<f4").reshape(max(1, len(hashes)), -1), strict=False))


def as_bytes(row: Iterable[Any]) -> Iterator[Any]:
    """The values of a row as they are read for its checksum."""
    return (value.encode() if isinstance(value, str) else value for value in row)


def _rows(connection: Connection, entries: Mapping[int, Entry], change: int) -> dict[int, tuple[Any, ...]]:
    """The row of each entry in the table `entries`."""
    terms = [entry.terms for entry in entries.values()]
    facets = [facets_of(entry) for entry in entries.values()]
    numbers = connection.numbers.of_terms(connection, terms)
    counts = term_counts(numbers, list(map(len, terms)))
    known = connection.numbers.of_facets(connection, chain.from_iterable(facets))
    rows = {}
    for (pmid, entry), counted, having in zip(entries.items(), counts, facets, strict=True):
        quality, facet_ids = entry.quality, sorted([known[facet] for facet in having])
        rows[pmid] = (
            *(pmid, entry.version, change, entry.year, entry.journal),
            *(quality.design, quality.journal, quality.human, entry.retraction.value, len(entry.terms)),
            *counted,
            pack(f"<{len(facet_ids)}I", *facet_ids),
            len(entry.chunks),
            SEPARATOR.join([chunk.chunk_id for chunk in entry.chunks]),
        )
    return rows


Row = tuple[int, bytes, bytes]
"""PMID, chunks and vectors."""


def stored_chunks(pmid: str, chunks: bytes, blob: bytes, vector: "Vectors | None") -> list[StoredChunk]:
    """The passages of a paper, with their cosines to `vector`, if given."""
    rows = _decoded(chunks)
    sims: list[float | None] = [None] * len(rows)
    if vector is not None and rows:
        sims = cosines(np.frombuffer(blob, "<f4").reshape(len(rows), -1), vector)
    return [
        StoredChunk(pmid, chunk_id, text, section, start, end, sim)
        for (chunk_id, text, section, start, end, _), sim in zip(rows, sims, strict=True)
    ]


def stored_rows(connection: sqlite3.Connection, pmids: Sequence[str], *, pass_damaged: bool = False) -> list[Row]:
    """Those of `pmids` in the index.

    A damaged one is passed over, to be embedded again, or `IndexUnavailable`.
    """
    found = connection.execute(
        "SELECT pmid, CAST(chunks AS BLOB), vectors, chunks_crc, vectors_crc FROM entries "
        "LEFT JOIN chunks USING (pmid) LEFT JOIN vectors USING (pmid) LEFT JOIN checksums USING (pmid) "
        "WHERE pmid IN (SELECT value FROM json_each(?))",
        (json.dumps(numbers(pmids)),),
    ).fetchall()
    intact = [row for row in found if is_intact(row[1], row[3]) and is_intact(row[2], row[4])]
    if len(intact) < len(found) and not pass_damaged:
        raise damaged([row[0] for row in found if row not in intact])
    return [row[:3] for row in intact]


@lru_cache(maxsize=1024)
def _decoded(chunks: bytes) -> list[list[Any]]:
    """Decode a paper's passages. Cached by their bytes, so never those of another version (some 10 MB)."""
    rows: list[list[Any]] = json.loads(chunks)
    return rows

"""Index entries as rows of the corpus file: the reading half, into arrays."""

import json
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bio_mcp.adapters.embedded.checksums import ENTRY, damaged, is_intact, is_intact_entry
from bio_mcp.literature.records import RetractionStatus
from bio_mcp.retrieval.passages import StaticQuality

NO_YEAR = int(np.iinfo(np.int32).min)
BATCH = 256  # documents read at once
SEPARATOR = "\x1f"  # between the chunk ids of a document

READ_AT_ONCE = 4_096

VECTORS = (
    "SELECT pmid, vectors, vectors_crc FROM vectors LEFT JOIN checksums USING (pmid) "
    "WHERE pmid IN (SELECT value FROM json_each(?))"
)
SELECT = (
    f"SELECT {ENTRY}, vectors, entry_crc, vectors_crc "  # noqa: S608  columns only
    "FROM entries LEFT JOIN vectors USING (pmid) LEFT JOIN checksums USING (pmid)"
)


@dataclass(slots=True)
class Names:
    """What the codes in two columns stand for: a document's quality and retraction status, and the ids of its
    chunks."""

    profiles: list[tuple[StaticQuality, RetractionStatus]] = field(default_factory=list)
    layouts: list[tuple[str, ...]] = field(default_factory=list)
    _codes: dict[Any, int] = field(default_factory=dict)

    def profile(self, stored: tuple[int | None, int | None, int | None, str]) -> int:
        """The code of (design, journal, human, retraction), assigned on first sight."""
        *components, retraction = stored
        return self._code(stored, self.profiles, lambda: (StaticQuality(*components), RetractionStatus(retraction)))

    def layout(self, chunk_ids: str) -> int:
        """The code of a document's chunk ids, joined by `SEPARATOR` as they are stored."""
        return self._code(chunk_ids, self.layouts, lambda: tuple(chunk_ids.split(SEPARATOR)))

    def state(self) -> dict[str, list[Any]]:
        """The state to save: the stored forms in the order of their codes."""
        return {
            "profiles": [stored for stored in self._codes if isinstance(stored, tuple)],
            "layouts": [stored for stored in self._codes if isinstance(stored, str)],
        }

    @staticmethod
    def from_state(state: dict[str, list[Any]]) -> "Names":
        """Rebuild the names from `state`."""
        names = Names()
        for design, journal, human, retraction in state["profiles"]:
            names.profile((design, journal, human, retraction))
        for chunk_ids in state["layouts"]:
            names.layout(chunk_ids)
        return names

    def _code(self, stored: Any, names: list[Any], name: Callable[[], Any]) -> int:
        code = self._codes.get(stored)
        if code is None:
            code = self._codes[stored] = len(names)
            names.append(name())
        return code


@dataclass(frozen=True, slots=True)
class RowBatch:
    """A batch of documents as columns. Terms, facets and vectors of all its documents are concatenated."""

    pmids: NDArray[np.int64]
    years: NDArray[np.int32]
    profiles: NDArray[np.int32]
    lengths: NDArray[np.int32]
    layouts: NDArray[np.int32]
    windows: NDArray[np.int64]
    terms: NDArray[np.uint32]
    frequencies: NDArray[np.uint16]
    term_counts: NDArray[np.int64]
    facets: NDArray[np.uint32]
    facet_counts: NDArray[np.int64]
    vectors: NDArray[np.float32]


def read_batches(
    connection: sqlite3.Connection, names: Names, dim: int, since: int | None = None
) -> Iterator[RowBatch]:
    """Read every document of the index, or those written after batch `since`. Raises `IndexUnavailable` for a
    damaged row."""
    cursor = connection.execute(SELECT) if since is None else connection.execute(f"{SELECT} WHERE change > ?", (since,))
    while rows := cursor.fetchmany(BATCH):
        broken = [row[0] for row in rows if not (is_intact(row[-3], row[-1]) and is_intact_entry(row[:-3], row[-2]))]
        if broken:
            raise damaged(broken)
        yield _row_batch(rows, names, dim)


def read_vectors(connection: sqlite3.Connection, dim: int, pmids: Sequence[int]) -> list[NDArray[np.float32]]:
    """The vectors of documents, in the order of `pmids`; no rows for one that is not stored. Raises
    `IndexUnavailable` for a damaged row."""
    found: dict[int, bytes] = {}
    for start in range(0, len(pmids), READ_AT_ONCE):
        some = json.dumps(list(pmids[start : start + READ_AT_ONCE]))
        rows = connection.execute(VECTORS, (some,)).fetchall()
        broken = [pmid for pmid, vectors, crc in rows if not is_intact(vectors, crc)]
        if broken:
            raise damaged(broken)
        found |= {pmid: vectors for pmid, vectors, _ in rows}
    return [np.frombuffer(found.get(pmid, b""), "<f4").reshape(-1, dim) for pmid in pmids]


def read_sample(connection: sqlite3.Connection, dim: int, windows: int) -> NDArray[np.float32]:
    """The vectors of documents spread evenly over the corpus, some `windows` in all, or those of all documents."""
    pmids = [pmid for (pmid,) in connection.execute("SELECT pmid FROM entries ORDER BY pmid")]
    total: int = connection.execute("SELECT coalesce(sum(windows), 0) FROM entries").fetchone()[0]
    return np.concatenate(read_vectors(connection, dim, pmids[:: max(1, total // windows)]))


def _row_batch(rows: Sequence[tuple[Any, ...]], names: Names, dim: int) -> RowBatch:
    columns = iter(zip(*rows, strict=True))
    pmids, _, _, years, _, design, journal, human, retraction, lengths = islice(columns, 10)
    terms, frequencies, facets, windows, layouts, vectors, *_ = columns
    profiles = zip(design, journal, human, map(bytes.decode, retraction), strict=True)
    return RowBatch(
        pmids=np.array(pmids, np.int64),
        years=np.array([NO_YEAR if year is None else year for year in years], np.int32),
        profiles=np.array([names.profile(profile) for profile in profiles], np.int32),
        lengths=np.array(lengths, np.int32),
        layouts=np.array([names.layout(layout.decode()) for layout in layouts], np.int32),
        windows=np.array(windows, np.int64),
        terms=np.frombuffer(b"".join(terms), "<u4"),
        frequencies=np.frombuffer(b"".join(frequencies), "<u2"),
        term_counts=np.array([len(blob) // 4 for blob in terms], np.int64),
        facets=np.frombuffer(b"".join(facets), "<u4"),
        facet_counts=np.array([len(blob) // 4 for blob in facets], np.int64),
        vectors=np.frombuffer(b"".join(vectors), "<f4").reshape(-1, dim),
    )

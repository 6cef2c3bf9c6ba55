"""A corpus of any size with the lengths, words and vectors of real papers, written straight into the corpus file.

A made-up paper has the title and the first passages of one record of PubMed's daily file of 2021-06-07, and the last
passages of another: lengths, passages a paper, frequencies of words, journals and publication types are real. A word
that is rare in the file gets one of `VARIANTS` spellings, so that the vocabulary grows as it does in PubMed. The
vectors are real windows of SciFact and NFCorpus, moved by differences of other real windows, per paper and, less, per
window: that keeps the spectrum of the model's vectors and gives each paper neighbours.
"""

import json
import lzma
import sqlite3
from collections import Counter
from contextlib import closing
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from benchmarks.retrieval import MODEL, SETS, KeptEmbeddings, articles
from bio_mcp.adapters.embedded.database import FILE, Database
from bio_mcp.adapters.embedded.live_index import SEPARATOR
from bio_mcp.adapters.embedded.passages import SqlitePassages
from bio_mcp.adapters.embedded.schema import entry_checksum
from bio_mcp.adapters.embedders.onnx import OnnxEmbeddings
from bio_mcp.literature.medline import parse
from bio_mcp.literature.records import Article
from bio_mcp.retrieval.analysis import analyse
from bio_mcp.retrieval.chunking import TITLE_WEIGHT, abstract_text, chunks_of
from bio_mcp.retrieval.passages import Chunk

DAILY_FILE = Path(__file__).parents[2] / "shared/data/pubmed/pubmed21n1298.dev.xml.xz"
RECORDS = 6_000  # of the daily file; more only takes longer to read
RARE, VARIANTS = 3, 16  # a word of at most so many records gets so many spellings
MOVED, MOVED_APART = 0.5, 0.25
BATCH = 2_000
FIRST_PMID = 10_000_000
TAGS, PROJECTS = 12, 5

Matrix = NDArray[np.float32]
Counted = dict[int, int]


@dataclass(frozen=True, slots=True)
class Part:
    """Half of a record: the numbers of its words and how often each stands there, and its passages as JSON."""

    words: NDArray[np.int64]
    counts: NDArray[np.int64]
    passages: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Records:
    """Real records in halves, with what a filter may ask of them, and the words by number."""

    heads: list[Part]
    tails: list[Part]
    journals: list[str]
    types: list[tuple[str, ...]]
    words: list[str]
    rare: NDArray[np.bool_]


def read_records(model: OnnxEmbeddings, count: int = RECORDS) -> Records:
    """Parse, analyse and cut records of the daily file as an import does."""
    with lzma.open(DAILY_FILE) as stream:
        found = [each for each in islice(parse(stream), count) if isinstance(each, Article)]
    numbers: dict[str, int] = {}
    heads, tails = [], []
    for article in found:
        chunks = chunks_of(article, model.count_tokens, model.max_tokens)
        half, text = (len(chunks) + 1) // 2, abstract_text(article)
        cut = chunks[half - 1].char_end
        title = analyse(article.title or "") * TITLE_WEIGHT
        heads.append(_part(title + (analyse(text[:cut]) if cut else []), chunks[:half], numbers))
        tails.append(_part(analyse(text[cut:]) if text[cut:].strip() else [], chunks[half:], numbers))
    seen = Counter(word for halves in zip(heads, tails, strict=True) for word in {*halves[0].words, *halves[1].words})
    rare = np.array([seen[number] <= RARE for number in range(len(numbers))])
    journals = [each.journal.title or "" if each.journal else "" for each in found]
    types = [tuple(kind.ui for kind in each.publication_types) for each in found]
    return Records(heads, tails, journals, types, list(numbers), rare)


def _part(terms: list[str], chunks: tuple[Chunk, ...], numbers: dict[str, int]) -> Part:
    counted = Counter(numbers.setdefault(term, len(numbers)) for term in terms)
    passages = tuple(json.dumps([c.text, c.section, c.char_start, c.char_end, c.embedded_sha256])[1:] for c in chunks)
    return Part(np.array(list(counted), np.int64), np.array(list(counted.values()), np.int64), passages)


def real_windows(model: OnnxEmbeddings) -> tuple[Matrix, NDArray[np.int64]]:
    """The vectors of all windows of SciFact and NFCorpus, and where each paper's begin."""
    kept = KeptEmbeddings(model)
    cut = [chunks_of(each, model.count_tokens, model.max_tokens) for name in SETS for each in articles(name)]
    starts = np.concatenate([[0], np.cumsum([len(chunks) for chunks in cut])])
    texts = [chunk.embedded_text for chunks in cut for chunk in chunks]
    return np.concatenate([kept.embed(texts[at : at + 4_096]) for at in range(0, len(texts), 4_096)]), starts


def made_up(windows: Matrix, starts: NDArray[np.int64], counts: NDArray[np.int64], rng: np.random.Generator) -> Matrix:
    """The vectors of papers with `counts` windows each: a real paper's, moved together and then a little apart."""
    papers = rng.integers(0, len(starts) - 1, len(counts))
    first, size = np.repeat(starts[papers], counts), np.repeat(np.diff(starts)[papers], counts)
    own = windows[first + rng.integers(0, 1 << 30, len(first)) % size]
    together = windows[rng.integers(0, len(windows), (2, len(counts)))]
    apart = windows[rng.integers(0, len(windows), (2, len(first)))]
    moved = own + np.repeat(MOVED * (together[0] - together[1]), counts, axis=0) + MOVED_APART * (apart[0] - apart[1])
    return np.asarray(moved / np.linalg.norm(moved, axis=1, keepdims=True), np.float32)


class Filling:
    """Writes made-up papers into a corpus file, two thousand in a transaction."""

    def __init__(self, directory: Path, records: Records, windows: Matrix, starts: NDArray[np.int64]) -> None:
        self._directory = directory
        self._records, self._windows, self._starts = records, windows, starts
        self._rng = np.random.default_rng(3)
        self._facets: dict[tuple[str, str], int] = {}

    def fill(self, documents: int) -> None:
        """Write papers until there are `documents`, with synchronisation off: a corpus to be measured, not kept."""
        database = Database(self._directory)
        SqlitePassages(database).ensure_schema("benchmark", self._windows.shape[1])
        database.close()
        with closing(sqlite3.connect(self._directory / FILE, isolation_level=None)) as connection:
            connection.execute("PRAGMA synchronous = OFF")
            for first in range(0, documents, BATCH):
                connection.execute("BEGIN IMMEDIATE")
                self._write(connection, first, min(BATCH, documents - first))
                connection.execute("COMMIT")
            self._write_names(connection)
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def _write(self, connection: sqlite3.Connection, first: int, count: int) -> None:
        pairs = self._rng.integers(0, len(self._records.heads), (count, 2))
        halves = [(self._records.heads[a], self._records.tails[b]) for a, b in pairs.tolist()]
        counts = np.array([len(head.passages) + len(tail.passages) for head, tail in halves])
        ends = np.cumsum(counts)
        vectors = made_up(self._windows, self._starts, counts, self._rng)
        places = (pairs[:, 0].tolist(), halves, (ends - counts).tolist(), ends.tolist())
        papers = enumerate(zip(*places, strict=True), FIRST_PMID + first)
        rows = [self._rows(pmid, *each, vectors) for pmid, each in papers]
        for table, place in (("entries", "?" + ", ?" * 14), ("chunks", "?, ?"), ("vectors", "?, ?")):
            of_table = [row[("entries", "chunks", "vectors").index(table)] for row in rows]
            connection.executemany(f"INSERT INTO {table} VALUES ({place})", of_table)  # noqa: S608  named above
        connection.executemany("INSERT INTO checksums VALUES (?, ?, ?, ?)", [row[3] for row in rows])
        connection.execute("UPDATE settings SET value = 2 WHERE name = 'change'")
        connection.execute("INSERT OR IGNORE INTO changes VALUES (2, 'made up')")

    def _rows(
        self, pmid: int, record: int, halves: tuple[Part, Part], start: int, end: int, vectors: Matrix
    ) -> tuple[tuple[Any, ...], ...]:
        """The rows of a paper in the tables `entries`, `chunks`, `vectors` and `checksums`."""
        words, counts = self._words(halves)
        ids = [f"w{place}" for place in range(end - start)]
        passages = (passage for half in halves for passage in half.passages)
        chunks = "[" + ",".join(f'["{name}",{passage}' for name, passage in zip(ids, passages, strict=True)) + "]"
        blob = vectors[start:end].astype("<f4").tobytes()
        rng = self._rng
        entry = (
            *(pmid, 1, 2, int(2025 - min(50, rng.exponential(12))), self._records.journals[record]),
            *(int(rng.integers(0, 4)), int(rng.integers(0, 3)), 1, "clear", int(counts.sum())),
            *(words.astype("<u4").tobytes(), counts.astype("<u2").tobytes(), self._facet_ids(record)),
            *(end - start, SEPARATOR.join(ids)),
        )
        crc = entry_checksum(*(value.encode() if isinstance(value, str) else value for value in entry))
        checksums = (pmid, crc, crc32(chunks.encode()), crc32(blob))
        return entry, (pmid, chunks), (pmid, blob), checksums

    def _words(self, halves: tuple[Part, Part]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The ids of a paper's words, ascending, and their frequencies; a rare word has one of its spellings."""
        both = np.concatenate([half.words for half in halves])
        counts = np.concatenate([half.counts for half in halves])
        spelling = np.where(self._records.rare[both], self._rng.integers(0, VARIANTS, len(both)), 0)
        ids, place = np.unique(both * VARIANTS + spelling + 1, return_inverse=True)
        return ids, np.bincount(place, counts).astype(np.int64)

    def _facet_ids(self, record: int) -> bytes:
        rng = self._rng
        facets = [("journal", self._records.journals[record].lower())]
        facets += [("publication_type", each) for each in self._records.types[record]]
        facets += [("tag", f"tag{number}") for number in rng.integers(0, TAGS, 3)]
        facets.append(("project", f"project{rng.integers(0, PROJECTS)}"))
        ids = sorted({self._facets.setdefault(each, len(self._facets) + 1) for each in facets})
        return np.array(ids, "<u4").tobytes()

    def _write_names(self, connection: sqlite3.Connection) -> None:
        """Number the words and the facets as their rows have them."""
        words = self._records.words
        spelt = (
            (number * VARIANTS + each + 1, f"{word}_{each}" if each else word)
            for number, word in enumerate(words)
            for each in range(VARIANTS if self._records.rare[number] else 1)
        )
        connection.execute("BEGIN IMMEDIATE")
        connection.executemany("INSERT INTO terms VALUES (?, ?)", spelt)
        facets = [(number, kind, value) for (kind, value), number in self._facets.items()]
        connection.executemany("INSERT INTO facets VALUES (?, ?, ?)", facets)
        connection.execute("COMMIT")


def fill(directory: Path, documents: int) -> None:
    """Write a corpus of `documents` made-up papers into `directory`."""
    model = OnnxEmbeddings(MODEL)
    Filling(directory, read_records(model), *real_windows(model)).fill(documents)

"""Papers and questions as every engine of benchmarks/rivals.py gets them, and the best answers by all vectors.

Only numpy and the standard library: the rivals read the corpus file in an environment without the product.
"""

import json
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

FILE = "corpus.sqlite3"
DIM = 384
AT = 100  # recall is that of the best so many
BATCH = 2_000  # papers

Matrix = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Paper:
    """What is searched of a paper: each word as often as it stands there, and a row of `vectors` for each window."""

    pmid: int
    year: int
    project: str
    words: list[str]
    vectors: Matrix


@dataclass(frozen=True, slots=True)
class Block:
    """Some papers in columns: `windows` of each, and a row of `vectors` for each window of the one after the other."""

    pmids: NDArray[np.int64]
    years: NDArray[np.int64]
    projects: NDArray[np.str_]
    windows: NDArray[np.int64]
    vectors: Matrix

    def starts(self) -> NDArray[np.int64]:
        """Where the windows of each paper begin."""
        return np.cumsum(self.windows) - self.windows

    def passing(self, filters: tuple[int, int, str]) -> NDArray[np.bool_]:
        """Which papers a question allows."""
        first, last, project = filters
        return np.asarray((self.years >= first) & (self.years <= last) & (self.projects == project))


@dataclass(frozen=True, slots=True)
class Asked:
    """A question: words with weights, its vector, the first year, the last year and the project that it allows."""

    terms: list[tuple[str, float]]
    vector: list[float]
    filters: tuple[int, int, str] | None = None


@dataclass(frozen=True, slots=True)
class Judged:
    """Questions, and for each the PMIDs of its `AT` best papers."""

    asked: list[Asked]
    best: list[list[int]]

    def write(self, path: Path) -> None:
        path.write_text(json.dumps(asdict(self)))

    @classmethod
    def read(cls, path: Path) -> "Judged":
        found = json.loads(path.read_text())
        return cls([Asked(**each) for each in found["asked"]], found["best"])


def papers(work: Path, first: int = 0) -> Iterator[list[Paper]]:
    """All papers but the first so many, by PMID, `BATCH` at a time."""
    with closing(sqlite3.connect(work / FILE, check_same_thread=False)) as connection:
        words = dict(connection.execute("SELECT id, term FROM terms"))
        projects = _projects(connection)
        cursor = connection.execute(
            "SELECT pmid, year, term_ids, frequencies, facet_ids, vectors FROM entries JOIN vectors USING (pmid) "
            "ORDER BY pmid LIMIT -1 OFFSET ?",
            (first,),
        )
        while rows := cursor.fetchmany(BATCH):
            yield [_paper(*row, words, projects) for row in rows]


def _paper(
    pmid: int,
    year: int,
    ids: bytes,
    counts: bytes,
    facets: bytes,
    blob: bytes,
    names: dict[int, str],
    projects: dict[int, str],
) -> Paper:
    pairs = zip(np.frombuffer(ids, "<u4").tolist(), np.frombuffer(counts, "<u2").tolist(), strict=True)
    words = [names[number] for number, times in pairs for _ in range(times)]
    return Paper(pmid, year, _project(facets, projects), words, np.frombuffer(blob, "<f4").reshape(-1, DIM))


def _projects(connection: sqlite3.Connection) -> dict[int, str]:
    return dict(connection.execute("SELECT id, value FROM facets WHERE kind = 'project'"))


def _project(facets: bytes, projects: dict[int, str]) -> str:
    return next(projects[each] for each in np.frombuffer(facets, "<u4").tolist() if each in projects)


def blocks(work: Path, count: int = -1) -> Iterator[Block]:
    """The first `count` papers, by PMID, without their words."""
    with closing(sqlite3.connect(work / FILE, check_same_thread=False)) as connection:
        names = _projects(connection)
        cursor = connection.execute(
            "SELECT pmid, year, facet_ids, vectors FROM entries JOIN vectors USING (pmid) ORDER BY pmid LIMIT ?",
            (count,),
        )
        while rows := cursor.fetchmany(2 * BATCH):
            pmids, years, facets, blobs = zip(*rows, strict=True)
            windows = np.array([len(blob) // (4 * DIM) for blob in blobs])
            matrix = np.frombuffer(b"".join(blobs), "<f4").reshape(-1, DIM)
            projects = np.array([_project(each, names) for each in facets])
            yield Block(np.array(pmids), np.array(years), projects, windows, matrix)


def windows_in(work: Path) -> int:
    """How many windows all papers have."""
    with closing(sqlite3.connect(work / FILE)) as connection:
        return int(connection.execute("SELECT sum(length(vectors)) FROM vectors").fetchone()[0]) // (4 * DIM)


def best(work: Path, asked: Sequence[Asked], count: int = -1) -> list[list[int]]:
    """The PMIDs of the `AT` best papers of each question, by every vector of the first `count` papers."""
    wanted = np.array([each.vector for each in asked], np.float32).T
    scores = np.full((AT, len(asked)), -2, np.float32)
    pmids = np.zeros((AT, len(asked)), np.int64)
    for block in blocks(work, count):
        tops = np.maximum.reduceat(block.vectors @ wanted, block.starts())
        for column, each in enumerate(asked):
            if each.filters:
                tops[~block.passing(each.filters), column] = -2
        scores = np.concatenate([scores, tops])
        pmids = np.concatenate([pmids, np.repeat(block.pmids[:, None], len(asked), axis=1)])
        top = np.argpartition(-scores, AT, axis=0)[:AT]
        scores, pmids = np.take_along_axis(scores, top, 0), np.take_along_axis(pmids, top, 0)
    return [[int(pmid) for pmid in column if pmid] for column in np.where(scores > -2, pmids, 0).T]

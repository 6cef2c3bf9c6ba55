"""How fast the embedded engine answers, beside SQLite FTS5 with a numpy product on the same corpus.

    python -m benchmarks.engine [--documents 50000] [--queries 300] [--work DIR]

Texts are SciFact and NFCorpus abstracts from ../shared/data/qa, spliced two by two until there are enough. Vectors:
some 6,500 real windows embedded by the default model, moved by differences of other real windows (per document and,
less, per window) until there are 4.4 per document; that keeps the spectrum of the model's vectors and gives each
document neighbours. DIR keeps the corpus and the embedded windows for the next run.
"""

import argparse
import json
import lzma
import random
import re
import resource
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bio_mcp.adapters.embedded.database import FILE, Database
from bio_mcp.adapters.embedded.passages import SqlitePassages
from bio_mcp.adapters.embedders.model_files import DEFAULT, PACKAGED
from bio_mcp.adapters.embedders.onnx import OnnxEmbeddings
from bio_mcp.retrieval.analysis import analyse, query_terms
from bio_mcp.retrieval.passages import Candidate, Chunk, Entry, Filters, PassageQuery

ROOT = Path(__file__).resolve().parents[1]
QA = ROOT.parent / "shared/data/qa"
MODEL = PACKAGED / DEFAULT
CORPORA = ("scifact_corpus.jsonl.xz", "nfcorpus_corpus.jsonl.xz")
QUERIES = "scifact_queries_qrels.dev_train.jsonl.xz"
KEPT = "corpus.index"
DEPTH = 100
BATCH = 500

Matrix = NDArray[np.float32]


@dataclass
class Sample:
    """Real windows: their vectors, the first window of each document, and the vectors of questions."""

    windows: Matrix
    starts: NDArray[np.int64]
    questions: Matrix


def lines(name: str) -> list[dict[str, str]]:
    with lzma.open(QA / name, "rt") as stream:
        return [json.loads(line) for line in stream]


def embedded(work: Path, questions: list[str]) -> Sample:
    """Embed real windows of three sentences, or read what an earlier run embedded."""
    remaining = work / "windows.npz"
    if not remaining.exists():
        documents = [document for name in CORPORA for document in lines(name)]
        random.Random(1).shuffle(documents)  # noqa: S311  a benchmark, not a secret
        texts, starts = [], [0]
        for document in documents[:3_000]:
            sentences = re.split(r"(?<=[.!?])\s+(?=[A-Z])", document["text"])
            texts += [f"{document['title']} {' '.join(sentences[i : i + 3])}" for i in range(0, len(sentences), 3)]
            starts.append(len(texts))
        model = OnnxEmbeddings(MODEL)
        np.savez(remaining, windows=model.embed(texts), starts=np.array(starts), questions=model.embed(questions))
    with np.load(remaining) as stored:
        return Sample(stored["windows"], stored["starts"], stored["questions"])


def vectors(sample: Sample, rng: np.random.Generator) -> Matrix:
    """The windows of one made-up document: those of a real one, moved together and then a little apart."""
    document = int(rng.integers(len(sample.starts) - 1))
    count = 1 + int(rng.poisson(3.4))
    own = rng.integers(sample.starts[document], sample.starts[document + 1], count)
    others = sample.windows[rng.integers(0, len(sample.windows), (2, count + 1))]
    moved = sample.windows[own] + 0.5 * (others[0, 0] - others[1, 0]) + 0.25 * (others[0, 1:] - others[1, 1:])
    return (moved / np.linalg.norm(moved, axis=1, keepdims=True)).astype(np.float32)


def texts(count: int) -> Iterator[tuple[str, str]]:
    """Title and abstract of made-up documents: the first half of one abstract and the second half of another."""
    documents = [document for name in CORPORA for document in lines(name)]
    chance = random.Random(2)  # noqa: S311  a benchmark, not a secret
    for _ in range(count):
        one, other = chance.choice(documents), chance.choice(documents)
        head, tail = one["text"], other["text"]
        yield one["title"], f"{head[: len(head) // 2]} {tail[len(tail) // 2 :]}"


def entry(number: int, title: str, abstract: str, sample: Sample, rng: np.random.Generator) -> Entry:
    """A document with windows, in one of 20 projects, of 1975-2025, with tags."""
    matrix = vectors(sample, rng)
    step = len(abstract) // len(matrix) + 1
    spans = [(i * step, min(len(abstract), (i + 1) * step)) for i in range(len(matrix))]
    chunks = tuple(
        Chunk(f"w{i}", abstract[a:z], f"{title} {abstract[a:z]}", None, a, z) for i, (a, z) in enumerate(spans)
    )
    return Entry(
        pmid=str(10_000_000 + number),
        version=1,
        title=title,
        terms=analyse(f"{title} {abstract}"),
        chunks=chunks,
        vectors={f"w{i}": vector for i, vector in enumerate(matrix)},
        year=int(2025 - min(50, rng.exponential(12))),
        journal=f"Journal {int(rng.zipf(1.5)) % 900}",
        publication_types=("D016428", *(("D016449",) if rng.random() < 0.1 else ())),
        tags=tuple(sorted({f"tag{int(t)}" for t in rng.integers(0, 12, 3)})),
        projects=(f"project{int(rng.integers(0, 5))}",),
    )


def build(work: Path, documents: int, sample: Sample) -> None:
    """Fill the corpus file, through the port."""
    passages = SqlitePassages(Database(work))
    if passages.count()[0] == documents:
        return
    passages.ensure_schema("benchmark", sample.windows.shape[1])
    rng = np.random.default_rng(3)
    batch: list[Entry] = []
    stored = 0.0
    for number, (title, abstract) in enumerate(texts(documents), 1):
        batch.append(entry(number, title, abstract, sample, rng))
        if len(batch) == BATCH or number == documents:
            began = time.process_time()
            passages.upsert_chunks(batch)
            stored += time.process_time() - began
            batch = []
    print(f"stored {documents} documents at {documents / stored:,.0f} per CPU-second (analysis and vectors apart)")


def asked(work: Path, count: int) -> tuple[list[PassageQuery], list[PassageQuery]]:
    """The same questions, of about 13 words, with filters and without."""
    questions = sorted((q["query"] for q in lines(QUERIES)), key=lambda text: abs(len(text.split()) - 13))[:count]
    random.Random(4).shuffle(questions)  # noqa: S311  a benchmark, not a secret
    sample = embedded(work, questions)
    chance = random.Random(5)  # noqa: S311  a benchmark, not a secret
    plain = [
        PassageQuery(query_terms(text), vector, Filters(), DEPTH)
        for text, vector in zip(questions, sample.questions, strict=True)
    ]
    filtered = []
    for query in plain:
        first = chance.randint(2004, 2016)
        project = f"project{chance.randrange(5)}"
        filters = Filters(first, first + 9, tags=frozenset({f"tag{chance.randrange(12)}"}), project=project)
        if chance.random() < 0.8:
            filters = Filters(first, first + 9, project=project)
        filtered.append(PassageQuery(query.terms, query.vector, filters, DEPTH))
    return plain, filtered


class BruteForce:
    """The plain way: SQLite FTS5 over the analysed terms, joined with a table of filters, and one full product."""

    def __init__(self, work: Path) -> None:
        corpus = sqlite3.connect(work / FILE)
        names = dict(corpus.execute("SELECT id, term FROM terms"))
        self._db = sqlite3.connect(":memory:")
        self._db.execute("CREATE VIRTUAL TABLE found USING fts5(terms, tokenize='unicode61')")
        self._db.execute("CREATE TABLE works (pmid INTEGER PRIMARY KEY, year INTEGER, facets TEXT)")
        self._facets = dict(corpus.execute("SELECT value, id FROM facets"))
        pmids, blobs = [], []
        select = "SELECT pmid, year, facet_ids, term_ids, frequencies, vectors FROM entries JOIN vectors USING (pmid)"
        for pmid, year, facets, ids, counts, blob in corpus.execute(select):
            pairs = zip(np.frombuffer(ids, "<u4").tolist(), np.frombuffer(counts, "<u2").tolist(), strict=True)
            text = " ".join(" ".join([names[i]] * n) for i, n in pairs)
            self._db.execute("INSERT INTO found (rowid, terms) VALUES (?, ?)", (pmid, text))
            held = f" {' '.join(map(str, np.frombuffer(facets, '<u4')))} "
            self._db.execute("INSERT INTO works VALUES (?, ?, ?)", (pmid, year, held))
            pmids.append(np.full(len(blob) // 1536, pmid))
            blobs.append(np.frombuffer(blob, "<f4").reshape(-1, 384))
        corpus.close()
        self.pmids, self.matrix = np.concatenate(pmids), np.concatenate(blobs)
        self.first = np.flatnonzero(np.diff(self.pmids, prepend=-1))
        self.documents = self.pmids[self.first]

    def _where(self, filters: Filters) -> tuple[str, list[object]]:
        if not filters:
            return "", []
        wanted = [*filters.tags, *([filters.project] if filters.project else [])]
        clauses = ["year BETWEEN ? AND ?", *("instr(facets, ?)" for _ in wanted)]
        return " AND ".join(clauses), [filters.year_from, filters.year_to, *(f" {self._facets[w]} " for w in wanted)]

    def lexical(self, query: PassageQuery) -> list[int]:
        """The best documents by FTS5's bm25."""
        where, values = self._where(query.filters)
        match = " OR ".join(f'"{term}"' for term, _ in query.terms)
        join = f" CROSS JOIN works ON works.pmid = found.rowid AND {where}" if where else ""
        sql = f"SELECT found.rowid FROM found{join} WHERE found MATCH ? ORDER BY bm25(found) LIMIT {query.depth}"  # noqa: S608
        return [pmid for (pmid,) in self._db.execute(sql, [*values, match])]

    def dense(self, query: PassageQuery) -> list[int]:
        """The best documents by the best window, from a product with every vector."""
        assert query.vector is not None
        scores = np.maximum.reduceat(self.matrix @ query.vector, self.first)
        where, values = self._where(query.filters)
        if where:
            passing = [pmid for (pmid,) in self._db.execute(f"SELECT pmid FROM works WHERE {where}", values)]  # noqa: S608
            scores[~np.isin(self.documents, passing)] = -2
        best = np.argpartition(-scores, query.depth)[: query.depth]
        best = best[np.argsort(-scores[best])]
        return self.documents[best[scores[best] > -2]].tolist()

    def __call__(self, query: PassageQuery) -> object:
        return self.lexical(query), self.dense(query)


def report(name: str, search: Callable[[PassageQuery], object], queries: list[PassageQuery]) -> None:
    """Wall and CPU milliseconds of each query."""
    wall, cpu = [], []
    for query in queries:
        began, began_cpu = time.perf_counter(), time.process_time()
        search(query)
        wall.append((time.perf_counter() - began) * 1e3)
        cpu.append((time.process_time() - began_cpu) * 1e3)
    p95 = [statistics.quantiles(values, n=20)[-1] for values in (wall, cpu)]
    print(
        f"{name:32} wall p50 {statistics.median(wall):6.2f} p95 {p95[0]:6.2f} ms   "
        f"CPU p50 {statistics.median(cpu):6.2f} p95 {p95[1]:6.2f} ms"
    )


def recall(engine: SqlitePassages, brute: BruteForce, queries: list[PassageQuery]) -> tuple[float, float]:
    """Share of the true best documents by cosine that the engine returns: mean and worst query."""
    shares = []
    for query in queries:
        truth = brute.dense(query)
        found = {int(candidate.pmid) for candidate in dense(engine, query)}
        shares.append(len(found & set(truth)) / max(1, len(truth)))
    return statistics.mean(shares), min(shares)


def dense(engine: SqlitePassages, query: PassageQuery) -> list[Candidate]:
    return engine.hybrid_search(PassageQuery((), query.vector, query.filters, query.depth))


def start(work: Path, name: str) -> SqlitePassages:
    """A new process's way to its first answer, imports apart."""
    began, began_cpu = time.perf_counter(), time.process_time()
    memory = resident()
    engine = SqlitePassages(Database(work))
    engine.hybrid_search(PassageQuery((("cell", 1.0),), None))
    print(
        f"{name}: {time.perf_counter() - began:.2f} s wall, {time.process_time() - began_cpu:.2f} s CPU, "
        f"{resident() - memory:.0f} MB of memory"
    )
    return engine


def resident() -> float:
    """Most memory this process has had, MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    arguments.add_argument("--documents", type=int, default=50_000)
    arguments.add_argument("--queries", type=int, default=300)
    arguments.add_argument("--work", type=Path)
    chosen = arguments.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        work = chosen.work or Path(scratch)
        work.mkdir(parents=True, exist_ok=True)
        plain, filtered = asked(work, chosen.queries)
        build(work, chosen.documents, embedded(work, []))
        (work / KEPT).unlink(missing_ok=True)
        start(work, "first start, which keeps the index")
        engine = start(work, "every later start")
        documents, windows = engine.count()
        size = (work / FILE).stat().st_size
        print(f"{documents} documents, {windows} windows, {size / documents:,.0f} bytes of disk per document")
        passing = [len(engine.hybrid_search(PassageQuery((), q.vector, q.filters, documents))) for q in filtered[:40]]
        print(f"filters pass {statistics.median(passing):,.0f} documents (median)")
        for _ in range(2):
            report("embedded engine, filtered", engine.hybrid_search, filtered)
            report("embedded engine, unfiltered", engine.hybrid_search, plain)
        brute = BruteForce(work)
        report("FTS5 + full product, filtered", brute, filtered)
        report("FTS5 + full product, unfiltered", brute, plain)
        for name, queries in (("filtered", filtered), ("unfiltered", plain)):
            mean, worst = recall(engine, brute, queries)
            print(f"recall of the vector leg at {DEPTH}, {name}: mean {mean:.4f}, worst {worst:.2f}")


if __name__ == "__main__":
    main()

"""How a million papers are searched on one machine, beside OpenSearch, LanceDB and Tantivy.

    python -m benchmarks.million [--documents 1000000] [--rivals 100000] [--queries 100] [--work DIR]

The corpus is made up of real ones (benchmarks/_synthetic.py), the questions are those of SciFact and NFCorpus, with
synonyms and depth as a search has them. Truth is a product with every vector. Each start is a process of its own; its
memory is that of /proc: what is private, and the mapped pages of the index that were touched. "Cold" is after the
kernel was asked to forget the pages of both files. A corpus of a million papers takes 15 GB of disk: DIR keeps it for
the next run. The others run over the same papers, fewer of them, in this run: OpenSearch through the product's own
adapter, LanceDB and Tantivy in an environment of their own (requirements/rivals.txt, `make .cache/rivals/.installed`).
Figures are of CPU and of wall time, whose load is printed: compare the columns of one run.
"""

import argparse
import json
import os
import random
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks._synthetic import PROJECTS, fill
from benchmarks.retrieval import MODEL, ROOT, SETS, KeptEmbeddings, judged
from bio_mcp.adapters.embedded.database import FILE, Database
from bio_mcp.adapters.embedded.passages import SqlitePassages
from bio_mcp.adapters.embedders.onnx import OnnxEmbeddings
from bio_mcp.answering.retrieving import DEPTH
from bio_mcp.ports.stores import Passages
from bio_mcp.retrieval.analysis import query_terms
from bio_mcp.retrieval.passages import Chunk, Entry, Filters, PassageQuery
from bio_mcp.retrieval.ranking import BM25_B, BM25_K1
from bio_mcp.retrieval.synonyms import expansion
from tests.opensearch_node.jvm import start as start_node
from tests.opensearch_node.passages import passages_at

INDEX = "corpus.index"
RIVALS = ROOT / ".cache/rivals/bin/python"
AT = 100  # recall is that of the best so many

Search = Callable[[PassageQuery], object]


def opened(work: Path) -> SqlitePassages:
    return SqlitePassages(Database(work), k1=BM25_K1, b=BM25_B)


def questions(count: int) -> tuple[list[PassageQuery], list[PassageQuery]]:
    """The same questions without filters and with: ten years of one project, some 7 % of the papers."""
    texts = [question for name in SETS for question in judged(name).questions]
    random.Random(1).shuffle(texts)  # noqa: S311  a benchmark, not a secret
    chance = random.Random(5)  # noqa: S311  a benchmark, not a secret
    vectors = KeptEmbeddings(OnnxEmbeddings(MODEL)).embed(texts[:count])
    pairs = zip(texts[:count], vectors, strict=True)
    plain = [PassageQuery(query_terms(text, expansion), vector, depth=DEPTH) for text, vector in pairs]
    years = [chance.randint(2004, 2016) for _ in plain]
    filters = [Filters(year, year + 9, project=f"project{chance.randrange(PROJECTS)}") for year in years]
    return plain, [replace(query, filters=each) for query, each in zip(plain, filters, strict=True)]


def memory() -> str:
    """What this process has in memory, in GB."""
    lines = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    private, mapped, peak = (int(lines[name].split()[0]) / 1e6 for name in ("RssAnon", "RssFile", "VmHWM"))
    return f"{private + mapped:.2f} GB ({private:.2f} private, {mapped:.2f} of mapped files), at most {peak:.2f}"


def first_answer(work: Path) -> None:
    """What a new process does: open, and answer one question."""
    wall, cpu = time.perf_counter(), time.process_time()
    engine = opened(work)
    engine.hybrid_search(PassageQuery((("cell", 1.0),), None))
    print(f"{time.perf_counter() - wall:.2f} s wall, {time.process_time() - cpu:.2f} s CPU, memory {memory()}")
    del engine


def start(work: Path, name: str) -> None:
    command = [sys.executable, "-m", "benchmarks.million", "--first-answer", "--work", str(work)]
    ran = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    print(f"{name}: {ran.stdout.strip()}", flush=True)


def forget(path: Path) -> None:
    """Ask the kernel to forget the pages of a file."""
    with path.open("rb") as file:
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def report(name: str, search: Search, queries: Sequence[PassageQuery]) -> None:
    """Milliseconds of wall and CPU time, of a second time that each is asked."""
    wall, cpu = [], []
    for query in queries:
        search(query)
    for query in queries:
        began, began_cpu = time.perf_counter(), time.process_time()
        search(query)
        wall.append((time.perf_counter() - began) * 1e3)
        cpu.append((time.process_time() - began_cpu) * 1e3)
    (p50, p95), (c50, c95) = ((statistics.median(v), statistics.quantiles(v, n=20)[-1]) for v in (wall, cpu))
    print(f"| {name} | {p50:.1f} / {p95:.1f} | {c50:.1f} / {c95:.1f} |", flush=True)


def truth(work: Path, queries: Sequence[PassageQuery]) -> NDArray[np.int64]:
    """The PMIDs of the `AT` best papers of each question, by every vector of the corpus."""
    asked = np.array([query.vector for query in queries]).T
    scores = np.full((AT, len(queries)), -2, np.float32)
    pmids = np.zeros((AT, len(queries)), np.int64)
    with closing(sqlite3.connect(work / FILE)) as connection:
        cursor = connection.execute("SELECT pmid, vectors FROM vectors")
        while rows := cursor.fetchmany(4_000):
            counts = np.array([len(blob) // (4 * len(asked)) for _, blob in rows])
            matrix = np.frombuffer(b"".join(blob for _, blob in rows), "<f4").reshape(-1, len(asked))
            tops = np.maximum.reduceat(matrix @ asked, np.cumsum(counts) - counts)
            own = np.repeat(np.array([pmid for pmid, _ in rows])[:, None], len(queries), axis=1)
            scores, pmids = np.concatenate([scores, tops]), np.concatenate([pmids, own])
            best = np.argpartition(-scores, AT, axis=0)[:AT]
            scores, pmids = np.take_along_axis(scores, best, 0), np.take_along_axis(pmids, best, 0)
    return pmids.T


def by_meaning(engine: Passages, query: PassageQuery) -> list[int]:
    found = engine.hybrid_search(replace(query, terms=()))
    return [int(each.pmid) for each in sorted(found, key=lambda each: -(each.sim or 0))]


def recall(engine: Passages, queries: Sequence[PassageQuery], wanted: Sequence[Sequence[int]]) -> str:
    """Share of the best papers by cosine that are among as many that the engine returns."""
    shares = [
        len({*by_meaning(engine, query)[: len(best)]} & {*best}) / len(best)
        for query, best in zip(queries, wanted, strict=True)
        if len(best)
    ]
    return f"mean {statistics.mean(shares):.4f}, worst {min(shares):.2f}"


def exactly(engine: SqlitePassages, query: PassageQuery, documents: int) -> list[int]:
    """The best papers that pass the filters: with such a depth each of them is scored by its vectors."""
    return by_meaning(engine, replace(query, depth=documents))[:AT]


def updates(work: Path, engine: SqlitePassages, vector: NDArray[np.float32]) -> str:
    """Seconds until a paper that another connection writes is found, stored durably and all: median and longest."""
    writer, seconds = opened(work), []
    for number in range(12):
        chunk = Chunk("w0", "a new word", f"a new word {number}", None, 0, 10)
        word, pmid = f"unheard{number}", str(number + 1)
        began = time.perf_counter()
        writer.upsert_chunks([Entry(pmid, 1, "t", [word, "cell"], (chunk,), {"w0": vector})])
        found = engine.hybrid_search(PassageQuery(((word, 1.0),), vector))
        seconds.append(time.perf_counter() - began)
        if pmid not in {each.pmid for each in found}:
            return "NOT SEEN"
    writer.delete([str(number + 1) for number in range(12)])
    return f"{statistics.median(seconds):.2f} s, longest {max(seconds):.2f} s"


def measure(work: Path, documents: int, count: int) -> None:
    """Everything about the embedded engine."""
    if not (work / FILE).exists():
        work.mkdir(parents=True, exist_ok=True)
        fill(work, documents)
    if not (work / INDEX).exists():
        start(work, "first start, which makes the index of the corpus")
    start(work, "start")
    for name in (INDEX, FILE):
        forget(work / name)
    start(work, "start, cold")
    engine, (plain, filtered) = opened(work), questions(count)
    documents, windows = engine.count()
    sizes = [(work / name).stat().st_size / documents for name in (FILE, INDEX)]
    print(f"{documents:,} papers, {windows:,} windows; bytes a paper: corpus {sizes[0]:,.0f}, index {sizes[1]:,.0f}")
    print(f"\nload {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores; milliseconds, p50 / p95\n")
    print("| search | wall | CPU |\n|---|---|---|")
    report("hybrid", engine.hybrid_search, plain)
    report("hybrid, filtered", engine.hybrid_search, filtered)
    report("by words alone", engine.hybrid_search, [replace(query, vector=None) for query in plain])
    report("by meaning alone", engine.hybrid_search, [replace(query, terms=()) for query in plain])
    print(f"\nmemory after them: {memory()}")
    print(f"recall at {AT}: {recall(engine, plain, truth(work, plain).tolist())}")
    some = filtered[:25]
    wanted = [exactly(engine, query, documents) for query in some]
    print(f"recall at {AT}, filtered ({len(some)} questions): {recall(engine, some, wanted)}")
    vector = plain[0].vector
    if vector is not None:
        print(f"an update is found after {updates(work, engine, vector)}", flush=True)


def entries(work: Path) -> list[Entry]:
    """The papers of a corpus as they were written, their texts apart."""
    with closing(sqlite3.connect(work / FILE)) as connection:
        words = dict(connection.execute("SELECT id, term FROM terms"))
        facets = dict(connection.execute("SELECT id, value FROM facets WHERE kind = 'project'"))
        rows = connection.execute(
            "SELECT pmid, year, term_ids, frequencies, facet_ids, vectors FROM entries JOIN vectors USING (pmid)"
        ).fetchall()
    return [_entry(*row, words, facets) for row in rows]


def _entry(
    pmid: int,
    year: int,
    ids: bytes,
    counts: bytes,
    facets: bytes,
    blob: bytes,
    words: dict[int, str],
    of: dict[int, str],
) -> Entry:
    pairs = zip(np.frombuffer(ids, "<u4").tolist(), np.frombuffer(counts, "<u2").tolist(), strict=True)
    matrix = np.frombuffer(blob, "<f4").reshape(-1, 384)
    chunks = tuple(Chunk(f"w{at}", "", f"{pmid} {at}", None, 0, 0) for at in range(len(matrix)))
    projects = tuple(of[each] for each in np.frombuffer(facets, "<u4").tolist() if each in of)
    terms = [words[number] for number, times in pairs for _ in range(times)]
    vectors = {chunk.chunk_id: matrix[at] for at, chunk in enumerate(chunks)}
    return Entry(str(pmid), 1, None, terms, chunks, vectors, year=year, projects=projects)


def beside(work: Path, documents: int, count: int) -> None:
    """The same papers in each engine, one after the other."""
    work.mkdir(parents=True, exist_ok=True)
    if not (work / FILE).exists():
        fill(work, documents)
    plain, filtered = questions(count)
    wanted = truth(work, plain).tolist()
    print(
        f"\n{documents:,} papers, load {os.getloadavg()[0]:.1f}; milliseconds, p50 / p95; CPU of this process alone\n"
    )
    print("| search | wall | CPU |\n|---|---|---|")
    engine = opened(work)
    report("embedded, hybrid", engine.hybrid_search, plain)
    report("embedded, hybrid, filtered", engine.hybrid_search, filtered)
    notes = [f"embedded: recall at {AT} {recall(engine, plain, wanted)}", *in_others(work, plain, filtered, wanted)]
    notes.append(in_opensearch(work, plain, filtered, wanted))
    print("", *notes, sep="\n")


def in_opensearch(work: Path, plain: list[PassageQuery], filtered: list[PassageQuery], wanted: list[list[int]]) -> str:
    """OpenSearch on a real node, through the product's adapter."""
    with tempfile.TemporaryDirectory() as scratch:
        node = start_node(Path(scratch), heap="2g")
        try:
            return _in_opensearch(passages_at(node.url), node.jvm.pid, entries(work), plain, filtered, wanted)
        finally:
            node.stop()


def _in_opensearch(
    passages: Passages,
    node: int,
    papers: list[Entry],
    plain: list[PassageQuery],
    filtered: list[PassageQuery],
    wanted: list[list[int]],
) -> str:
    began = time.perf_counter()
    passages.ensure_schema("benchmark", 384)
    for at in range(0, len(papers), 200):
        passages.upsert_chunks(papers[at : at + 200], refresh=False)
    passages.refresh("benchmark", 384)
    seconds = time.perf_counter() - began
    used = cpu_seconds(node)
    report("OpenSearch, hybrid", passages.hybrid_search, plain)
    report("OpenSearch, hybrid, filtered", passages.hybrid_search, filtered)
    of_node = (cpu_seconds(node) - used) / (2 * len(plain + filtered)) * 1e3
    found = recall(passages, plain, wanted)
    return f"OpenSearch: recall at {AT} {found}; filled in {seconds:.0f} s; CPU of the node {of_node:.1f} ms a search"


def cpu_seconds(process: int) -> float:
    """What CPU time a process has used."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def in_others(
    work: Path, plain: list[PassageQuery], filtered: list[PassageQuery], wanted: list[list[int]]
) -> list[str]:
    """LanceDB, and Tantivy with a numpy product, in their own environment; what they print."""
    papers = entries(work)
    with tempfile.TemporaryDirectory() as scratch:
        directory = Path(scratch)
        counts = np.array([len(each.chunks) for each in papers])
        matrix = np.concatenate([list(each.vectors.values()) for each in papers])
        np.savez(directory / "vectors.npz", matrix=matrix, counts=counts, asked=[query.vector for query in plain])
        told = {
            "papers": [[int(each.pmid), " ".join(each.terms), each.year, each.projects[0]] for each in papers],
            "queries": [[term for term, _ in query.terms] for query in plain],
            "filters": [[q.filters.year_from, q.filters.year_to, q.filters.project] for q in filtered],
            "wanted": wanted,
        }
        (directory / "papers.json").write_text(json.dumps(told))
        command = [RIVALS, "-P", ROOT / "benchmarks/_rivals.py", directory]
        ran = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    lines = ran.stdout.splitlines()
    print("\n".join(line for line in lines if line.startswith("|")))
    return [line for line in lines if not line.startswith("|")]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, default=1_000_000)
    parser.add_argument("--rivals", type=int, default=100_000, help="papers in each of the engines; 0 leaves them out")
    parser.add_argument("--queries", type=int, default=100)
    parser.add_argument("--work", type=Path)
    parser.add_argument("--first-answer", action="store_true")
    chosen = parser.parse_args()
    if chosen.first_answer:
        first_answer(chosen.work)
        return
    with tempfile.TemporaryDirectory() as scratch:
        work = chosen.work or Path(scratch)
        if chosen.documents:
            measure(work / f"{chosen.documents}", chosen.documents, chosen.queries)
        if chosen.rivals:
            beside(work / f"{chosen.rivals}", chosen.rivals, chosen.queries)


if __name__ == "__main__":
    main()

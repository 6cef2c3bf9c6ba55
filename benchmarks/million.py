"""How a million papers are searched on one machine, by the embedded engine.

    python -m benchmarks.million [--documents 1000000] [--queries 100] [--work DIR]

The corpus is made up of real ones (benchmarks/_synthetic.py), the questions are those of SciFact and NFCorpus, with
synonyms and depth as a search has them. Truth is a product with every vector. Each start is a process of its own that
answers a question of one word and a vector; its memory is that of /proc: what is private, and the mapped pages of the
index that were touched. One has to verify all of the index, as after a restore. "Cold" is after the kernel was asked to
forget the pages of both files. Figures are of CPU and of wall time, whose load is printed.

A million papers take 15 GB of disk: DIR keeps them for the next run, which only measures, and for benchmarks/rivals.py.
"""

import argparse
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks._comparing import STORES, Filled, recall
from benchmarks._corpus_file import AT, DIM, Asked, Judged, best
from benchmarks._own_engines import INDEX, by_meaning
from benchmarks._synthetic import PROJECTS, fill
from benchmarks.retrieval import MODEL, ROOT, SETS, KeptEmbeddings, judged
from bio_mcp.adapters.embedded.database import FILE, Database
from bio_mcp.adapters.embedded.passages import SqlitePassages
from bio_mcp.adapters.embedders.onnx import OnnxEmbeddings
from bio_mcp.answering.search import DEPTH
from bio_mcp.retrieval.analysis import query_terms
from bio_mcp.retrieval.passages import Chunk, Entry, Filters, PassageQuery
from bio_mcp.retrieval.question import expansion

RIVALS = ROOT / ".cache/rivals/bin/python"
OWN, THEIRS = [sys.executable, "-m", "benchmarks._own_engines"], [str(RIVALS), "-m", "benchmarks._rivals"]
ENGINES = {"embedded": OWN, "opensearch": OWN, "lancedb": THEIRS, "tantivy": THEIRS}

Search = Callable[[PassageQuery], object]


def opened(work: Path) -> SqlitePassages:
    return SqlitePassages(Database(work))


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
    vector = np.random.default_rng(1).standard_normal(DIM).astype(np.float32)
    engine = opened(work)
    engine.hybrid_search(PassageQuery((("cell", 1.0),), vector / np.linalg.norm(vector)))
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
    filled(work, "embedded", documents, 0)
    (work / f"{INDEX}-verified").unlink(missing_ok=True)
    start(work, "start, verifying")
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
    for name, each in zip(("", ", filtered"), judged_by_all(work, count, documents), strict=True):
        found = [by_meaning(engine, query)[:AT] for query in (filtered if name else plain)]
        print(f"recall at {AT}{name}, mean and worst: {recall(found, each)}")
    vector = plain[0].vector
    if vector is not None:
        print(f"an update is found after {updates(work, engine, vector)}", flush=True)


@cache
def judged_by_all(work: Path, count: int, papers: int) -> tuple[Judged, Judged]:
    """The questions without filters and with, and their best papers among the first so many."""
    both = [[parse_question(query) for query in queries] for queries in questions(count)]
    found = best(work, both[0] + both[1], papers)
    return Judged(both[0], found[:count]), Judged(both[1], found[count:])


def parse_question(query: PassageQuery) -> Asked:
    """A question as engines that have nothing of the product get it."""
    filters = query.filters
    years = (filters.year_from, filters.year_to, filters.project) if filters.project else None
    return Asked(list(query.terms), np.asarray(query.vector).tolist(), years)


def filled(work: Path, name: str, documents: int, minutes: float) -> int:
    """Fill an engine as far as it is not, and the corpus before it; how many papers it then has."""
    if not (work / FILE).exists():
        work.mkdir(parents=True, exist_ok=True)
        fill(work, documents)
    store = work / STORES / name
    if Filled.of(store).papers < documents:
        subprocess.run([*ENGINES[name], "fill", name, work, f"{documents}", f"{minutes}"], check=True, cwd=ROOT)
    return Filled.of(store).papers


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, default=1_000_000)
    parser.add_argument("--queries", type=int, default=100)
    parser.add_argument("--work", type=Path)
    parser.add_argument("--first-answer", action="store_true")
    chosen = parser.parse_args()
    if chosen.first_answer:
        first_answer(chosen.work)
        return
    with tempfile.TemporaryDirectory() as scratch:
        work = chosen.work or Path(scratch)
        measure(work / f"{chosen.documents}", chosen.documents, chosen.queries)


if __name__ == "__main__":
    main()

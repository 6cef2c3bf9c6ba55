"""CPU time of a project's index on a laptop: first search, searches with and without filters, writes, a rebuild.

    python -m benchmarks.projects [--chunks 20000]

Documents have 100 chunks of some 180 words, as a paper's or a book's would be; words are drawn by Zipf's law, vectors
at random, 384 numbers each, as the index compares every one of them whatever they are.
"""

import argparse
import random
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from bio_mcp.adapters.embedded.collections import SqliteCollections
from bio_mcp.adapters.embedded.database import FILE, Database
from bio_mcp.retrieval.analysis import query_terms
from bio_mcp.retrieval.project_chunks import ChunkFilters, ChunkQuery, ProjectChunk, Work

NAME, DIM, CHUNKS, WORDS, QUERIES = "proj-bench", 384, 100, 180, 200
VOCABULARY = [f"word{n}" for n in range(30_000)]
WEIGHTS = [1 / (n + 1) for n in range(len(VOCABULARY))]
FILTERED = ChunkFilters(tags=frozenset({"even"}), year_from=2010)


def document(number: int, draw: random.Random) -> list[ProjectChunk]:
    tags = ("even",) if number % 2 == 0 else ("odd",)
    work = Work(f"d{number}", title=f"Title {number}", year=2000 + number % 20, authors=("Doe J",), tags=tags)
    texts = [" ".join(draw.choices(VOCABULARY, WEIGHTS, k=WORDS)) for _ in range(CHUNKS)]
    return [
        ProjectChunk(f"d{number}-{n:03}", work, text, n, section_path=(f"Part {n // 10}",))
        for n, text in enumerate(texts)
    ]


def seconds(call: Callable[[], object]) -> float:
    """CPU seconds that the call takes."""
    start = time.process_time()
    call()
    return time.process_time() - start


def unit_vectors(count: int, generator: np.random.Generator) -> np.ndarray:
    made = generator.standard_normal((count, DIM)).astype(np.float32)
    return made / np.linalg.norm(made, axis=1, keepdims=True)


def spread(times: list[float]) -> str:
    tenths = statistics.quantiles(times, n=20)
    return f"p50 {1000 * statistics.median(times):6.1f} ms   p95 {1000 * tenths[-1]:6.1f} ms"


def measure(home: Path, chunks: int) -> None:
    draw, generator = random.Random(1), np.random.default_rng(1)  # noqa: S311  the same texts each time
    collections = SqliteCollections(Database(home))
    collections.create(NAME, "bench", DIM)

    def write(number: int) -> float:
        made = document(number, draw)
        vectors = dict(zip((each.chunk_id for each in made), unit_vectors(CHUNKS, generator), strict=True))
        return seconds(lambda: collections.replace(NAME, f"d{number}", made, vectors))

    def search(filters: ChunkFilters = ChunkFilters()) -> float:  # noqa: B008  frozen
        terms = query_terms(" ".join(draw.choices(VOCABULARY, WEIGHTS, k=8)))
        query = ChunkQuery(terms, unit_vectors(1, generator)[0], filters)
        return seconds(lambda: collections.search(NAME, query))

    writes = [write(number) for number in range(chunks // CHUNKS)]
    size = (home / FILE).stat().st_size >> 20
    print(f"{chunks:,} chunks, {size} MB; search returns up to 100 of each leg, with text; CPU time")
    print(f"write a document of {CHUNKS} chunks   {spread(writes)}")
    print(f"first search, which loads all    {1000 * search():6.0f} ms")
    print(f"search                           {spread([search() for _ in range(QUERIES)])}")
    print(f"search with filters              {spread([search(FILTERED) for _ in range(QUERIES)])}")
    write(0)
    print(f"search after a document changed  {1000 * search():6.0f} ms")
    embed = seconds(lambda: collections.rebuild(NAME, "other", DIM, lambda texts: unit_vectors(len(texts), generator)))
    print(f"rebuild, embedding aside         {embed:6.1f} s")
    print(f"delete                           {seconds(lambda: collections.drop(NAME)):6.1f} s")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--chunks", type=int, default=20_000)
    with tempfile.TemporaryDirectory() as home:
        measure(Path(home), parser.parse_args().chunks)


if __name__ == "__main__":
    main()

"""What does an index in S3 weigh, and how long is the first search of a process that has no copy?

    python -m benchmarks.s3_index [PAPERS]

The papers are those of tests/data/pubmed, each many times over under another PMID, with its passages as the built-in
model's tokenizer cuts them and random vectors. S3 is a dictionary, whose bytes cost nothing to move: what they cost at
60 and at 100 MB a second is added. Times are CPU seconds of this process.
"""

import argparse
import gzip
import resource
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import numpy as np

from bio_mcp.adapters.aws.s3_index import PAPERS_A_WRITE
from bio_mcp.adapters.embedded.passages import SqlitePassages
from bio_mcp.literature.medline import parse
from bio_mcp.literature.records import Article, Document
from bio_mcp.retrieval.chunking import chunks_of, entry_of
from bio_mcp.retrieval.passages import Entry, PassageQuery
from bio_mcp.settings import Settings
from bio_mcp.wiring.embedded import Embedded
from tests.support.published import MemoryObjects, database

FILE = Path(__file__).parents[1] / "tests/data/pubmed/quick600.dev.xml.gz"
DIM = 384
QUERY = (("depression", 1.0), ("adult", 1.0), ("treatment", 1.0))


def main() -> None:
    arguments = argparse.ArgumentParser()
    arguments.add_argument("papers", type=int, nargs="?", default=10_000)
    papers = arguments.parse_args().papers
    with tempfile.TemporaryDirectory() as directory:
        objects = MemoryObjects()
        _, writing_s = timed(lambda: write(Path(directory) / "writer", objects, papers))
        size = objects.told.size
        print(f"{papers:,} papers: {size / 1e6:,.0f} MB, {size / papers / 1e3:.1f} kB a paper")
        print(f"{writing_s:.0f} s to write all, {PAPERS_A_WRITE} at a time")
        before = memory_mb()
        reader = database(Path(directory) / "reader", objects)
        passages = SqlitePassages(reader)
        _, copied_s = timed(lambda: passages.count())
        _, loaded_s = timed(lambda: passages.hybrid_search(query()))
        _, warm_s = timed(lambda: [passages.hybrid_search(query()) for _ in range(20)])
        for rate in (60, 100):
            print(f"first search at {rate} MB/s: {size / rate / 1e6 + copied_s + loaded_s:.1f} s", end=", of which ")
            print(f"checking and writing {copied_s:.1f} s of CPU, making the arrays {loaded_s:.1f} s")
        print(f"a search then: {warm_s / 20 * 1e3:.1f} ms; memory {memory_mb() - before:,.0f} MB more than before")
        reader.close()


def write(directory: Path, objects: MemoryObjects, papers: int) -> None:
    """Write the papers as `reindex` does."""
    writer = database(directory, objects, max_bytes=1 << 40)
    passages = SqlitePassages(writer)
    passages.ensure_schema("random", DIM)
    rest = islice(entries(), papers)
    while part := list(islice(rest, PAPERS_A_WRITE)):
        passages.upsert_chunks(part)
    writer.close()


def entries() -> Iterator[Entry]:
    """The entries of the papers again and again, as a sync would make them, each with vectors of its own."""
    model, random = Embedded(Settings()).embeddings, np.random.default_rng(1)
    with gzip.open(FILE) as file:
        articles = [each for each in parse(file) if isinstance(each, Article)]
    made = [
        entry_of(Document(each, "", 1), chunks_of(each, model.count_tokens, model.max_tokens), {}) for each in articles
    ]
    for number, each in enumerate(cycle(made)):
        vectors = random.standard_normal((len(each.chunks), DIM)).astype(np.float32)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        named = {chunk.chunk_id: vector for chunk, vector in zip(each.chunks, vectors, strict=True)}
        yield replace(each, pmid=str(10_000_000 + number), vectors=named)


def query() -> PassageQuery:
    vector = np.random.default_rng(2).standard_normal(DIM).astype(np.float32)
    return PassageQuery(QUERY, vector / np.linalg.norm(vector))


def timed(do: Callable[[], Any]) -> tuple[Any, float]:
    begun = time.process_time()
    return do(), time.process_time() - begun


def memory_mb() -> float:
    """What is resident now: writing took more before."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize() / 1e6


if __name__ == "__main__":
    main()

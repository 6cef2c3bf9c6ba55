"""The product's two engines for benchmarks/rivals.py: the embedded one, and OpenSearch on a node of its own.

    python -m benchmarks._own_engines measure embedded WORK | fill opensearch WORK PAPERS MINUTES | ...

OpenSearch has the product's layout for large corpora: one vector of bytes a paper in the graph, the float32 vectors of
all windows beside it to score what the graph finds, a shard for 500,000 papers. Only this differs from the product: no
copy on a second node, no refresh while it is filled, and no second copy of what was sent (`_recovery_source`), which is
dropped at the first merge. Filling goes on where it ended.
"""

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from benchmarks._comparing import Filled, bytes_in, cpu_seconds, run
from benchmarks._corpus_file import Asked, Paper, papers
from bio_mcp.adapters.embedded.database import FILE, Database
from bio_mcp.adapters.embedded.passages import SqlitePassages
from bio_mcp.adapters.opensearch.client import OpenSearchTransport, client
from bio_mcp.adapters.opensearch.passages import OpenSearchPassages
from bio_mcp.adapters.opensearch.schema import DOMAIN, PAPERS, Layout
from bio_mcp.answering.search import DEPTH
from bio_mcp.ports.stores import Passages
from bio_mcp.retrieval.passages import Chunk, Entry, Filters, PassageQuery
from tests.support.opensearch_node.jvm import FAST_CODE, Node, start

INDEX = "corpus.index"
SHARD = 500_000  # papers; docs/scaling.md
HEAP = "6g"
BUFFERS = {"indices.memory.index_buffer_size": "40%"}
FEW_SEGMENTS = {"refresh_interval": "-1", "translog.flush_threshold_size": "3gb"}
BULK, WRITERS = 500, 2  # papers of a write; writes at a time


class Searched:
    """A port `Passages` as an engine that is compared."""

    settings: ClassVar = ("",)
    most: ClassVar = 1_000
    setting = ""
    server: int | None = None
    passages: Passages

    def hybrid(self, asked: Asked) -> object:
        return self.passages.hybrid_search(query(asked))

    def meaning(self, asked: Asked) -> list[int]:
        return by_meaning(self.passages, query(asked))

    def close(self) -> None:
        """Nothing: it ends with its process."""


class Embedded(Searched):
    def __init__(self, store: Path) -> None:
        self.passages = SqlitePassages(Database(store.parents[1]))

    @classmethod
    def fill(cls, store: Path, documents: int, _minutes: float) -> None:
        """Make the index of the corpus, which is there."""
        began, cpu = time.perf_counter(), time.process_time()
        cls(store).hybrid(Asked([("cell", 1.0)], [0.0] * 384))
        Filled(documents, (time.perf_counter() - began) / 60, (time.process_time() - cpu) / 60).write(store)

    @classmethod
    def disk(cls, store: Path) -> int:
        return sum((store.parents[1] / name).stat().st_size for name in (FILE, INDEX))


class OpenSearch(Searched):
    def __init__(self, store: Path, shards: int = 1) -> None:
        self.node: Node = start(store, settings=BUFFERS, heap=HEAP, options=FAST_CODE)
        contents = PAPERS["paper"]
        contents = replace(contents, settings={**contents.settings, **FEW_SEGMENTS})
        layout = WithoutRecovery(DOMAIN, shards, replicas=0, contents=contents)
        transport = OpenSearchTransport(client(self.node.url), read_s=60, write_s=600)
        self.passages = OpenSearchPassages(transport, "million", layout)
        self.server = self.node.jvm.pid

    @classmethod
    def fill(cls, store: Path, documents: int, minutes: float) -> None:
        before, began = Filled.of(store), time.perf_counter()
        if before.papers >= documents or before.minutes >= minutes:
            return
        engine = cls(store, shards=-(-documents // SHARD))
        try:
            engine.passages.ensure_schema("benchmark", 384)
            engine.passages.refresh("benchmark", 384)
            done = max(0, engine.passages.count()[0] - WRITERS * BULK)  # the last ones may be there in part
            for count in engine.written(store.parents[1], done):
                done += count
                spent = before.minutes + (time.perf_counter() - began) / 60
                Filled(done, spent, before.cpu + cpu_seconds(engine.server) / 60).write(store)
                if spent >= minutes or done >= documents:
                    break
            engine.passages.refresh("benchmark", 384)
        finally:
            engine.close()

    def written(self, work: Path, first: int) -> Iterator[int]:
        """Write the papers of the corpus after the first so many; say how many each time."""
        batches = (batch[at : at + BULK] for batch in papers(work, first) for at in range(0, len(batch), BULK))
        with ThreadPoolExecutor(WRITERS) as pool:
            while several := list(islice(batches, WRITERS)):
                list(pool.map(self.write, several))
                yield sum(map(len, several))

    def write(self, batch: list[Paper]) -> None:
        self.passages.upsert_chunks([entry(each) for each in batch], refresh=False)

    @classmethod
    def disk(cls, store: Path) -> int:
        return bytes_in(store / "node_1/data")

    def close(self) -> None:
        self.node.stop()


@dataclass(frozen=True, slots=True)
class WithoutRecovery(Layout):
    """The layout without a copy of what was sent for a second node."""

    def body(self, fingerprint: str, dim: int, similarity: str) -> dict[str, Any]:
        body = Layout.body(self, fingerprint, dim, similarity)
        body["mappings"]["_source"]["recovery_source_enabled"] = False
        return body


def by_meaning(passages: Passages, asked: PassageQuery) -> list[int]:
    """PMIDs by their nearest windows alone."""
    found = passages.hybrid_search(replace(asked, terms=()))
    return [int(each.pmid) for each in sorted(found, key=lambda each: -(each.sim or 0))]


def query(asked: Asked) -> PassageQuery:
    filters = Filters()
    if asked.filters:
        first, last, project = asked.filters
        filters = Filters(first, last, project=project)
    vector = np.array(asked.vector, np.float32)
    return PassageQuery(tuple((term, weight) for term, weight in asked.terms), vector, filters, DEPTH)


def entry(paper: Paper) -> Entry:
    chunks = tuple(Chunk(f"w{at}", "", f"{paper.pmid} {at}", None, 0, 0) for at in range(len(paper.vectors)))
    vectors = {chunk.chunk_id: row for chunk, row in zip(chunks, paper.vectors, strict=True)}
    projects = (paper.project,)
    return Entry(str(paper.pmid), 1, None, paper.words, chunks, vectors, year=paper.year, projects=projects)


if __name__ == "__main__":
    run({"embedded": Embedded, "opensearch": OpenSearch})

"""What an index in OpenSearch takes and finds, by how it has its vectors: real node, texts and development questions.

    python -m benchmarks.opensearch_layouts [PAPERS] [--questions N]

SciFact's texts are filled through the adapter, 200 papers to a refresh, as an import does, into an index of each
layout, and with a refresh for every 32 papers, as it was before. CPU is that of the whole node, merges included.
Disk is that of one merged copy without what a second copy may still ask for; "as written" is before. Recall is the
share of the 100 papers with the nearest windows, all windows compared exactly, that are the first 100 of the vector
leg; filtered: of those with an odd PMID, a tag. Milliseconds are of one vector leg, depth 200, and of a search with
both legs; one client.
"""

import argparse
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.engines import entries_of
from benchmarks.retrieval import MODEL, Judged, KeptEmbeddings, articles, judged, ndcg
from bio_mcp.adapters.embedders.onnx import OnnxEmbeddings
from bio_mcp.adapters.opensearch.passages import OpenSearchPassages
from bio_mcp.adapters.opensearch.schema import VECTOR_LAYOUTS
from bio_mcp.retrieval.analysis import query_terms
from bio_mcp.retrieval.passages import Entry, Filters, PassageQuery
from tests.support.opensearch_node.jvm import Node, start
from tests.support.opensearch_node.passages import drop_deleted, passages_at

ODD = "odd"
BATCH = 200
HEAD = 100  # papers that recall is counted over
EVERY = {"whole": Filters(), "filtered": Filters(tags=frozenset({ODD}))}


@dataclass(frozen=True)
class Asked:
    """Questions with their vectors, and for each filter the best papers of each, by exact comparison."""

    judged: Judged
    vectors: Any
    best: dict[str, list[list[str]]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("papers", nargs="?", type=int, default=2_500)
    parser.add_argument("--questions", type=int, default=100)
    chosen = parser.parse_args()
    model = KeptEmbeddings(OnnxEmbeddings(MODEL))
    found = [each for batch in entries_of(islice(articles("scifact"), chosen.papers), model) for each in batch]
    entries = [replace(each, tags=[ODD] if int(each.pmid) % 2 else []) for each in found]
    asked = _asked(entries, model, chosen.questions)
    windows = sum(len(each.chunks) for each in entries)
    print(f"{len(entries):,} papers, {windows:,} windows, {len(asked.judged.questions)} questions\n")
    with tempfile.TemporaryDirectory() as scratch:
        node = start(Path(scratch), heap="1g")
        try:
            measure(node, model, entries, asked)
        finally:
            node.stop()


def measure(node: Node, model: KeptEmbeddings, entries: list[Entry], asked: Asked) -> None:
    sizes: dict[str, str] = {}
    print("| layout | node's CPU a paper, ms | kB a paper, as written | merged | recall@100 | filtered | ", end="")
    print("nDCG@10 of the leg | leg, ms p50 / p95 | search, ms |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|---:|")
    for layout, step in [("float", 32), *((each, BATCH) for each in VECTOR_LAYOUTS)]:
        passages = passages_at(node.url, vectors=layout)
        passages.alias.transport.write_s = 600  # merging takes minutes on a busy machine
        passages.ensure_schema(model.fingerprint, model.dim)
        before = _cpu_ms(passages)
        for at in range(0, len(entries), step):
            passages.upsert_chunks(entries[at : at + step], refresh=False)
            passages.refresh(model.fingerprint, model.dim)
        spent = (_cpu_ms(passages) - before) / len(entries)
        index = passages.alias.index()
        assert index is not None
        written = _bytes(passages, index.name) / len(entries)
        drop_deleted(passages.alias.transport, index.name)
        merged = _bytes(passages, index.name) / len(entries)
        row = [f"{spent:.1f}", f"{written / 1e3:.1f}", f"{merged / 1e3:.1f}", *_found(passages, asked)]
        print(f"| {layout}, refreshed for each {step} papers | {' | '.join(row)} |", flush=True)
        sizes[layout] = _files(passages, index.name, len(entries))
    for layout, files in sizes.items():
        print(f"\n{layout}, bytes a paper by file: {files}")


def _asked(entries: list[Entry], model: KeptEmbeddings, most: int) -> Asked:
    every = judged("scifact")
    step = max(1, len(every.questions) // most)
    chosen = Judged(every.questions[::step], every.grades[::step])
    vectors = model.embed_questions(chosen.questions)
    best: dict[str, list[list[str]]] = {name: [] for name in EVERY}
    filled = [each for each in entries if each.chunks]
    rows = np.array([each.vectors[chunk.chunk_id] for each in filled for chunk in each.chunks])
    starts = np.cumsum([0, *(len(each.chunks) for each in filled[:-1])])
    for vector in vectors:
        sims = np.maximum.reduceat(rows @ vector, starts)
        order = [filled[at] for at in np.argsort(-sims, kind="stable")]
        best["whole"].append([each.pmid for each in order[:HEAD]])
        best["filtered"].append([each.pmid for each in order if ODD in each.tags][:HEAD])
    return Asked(chosen, vectors, best)


def _found(passages: OpenSearchPassages, asked: Asked) -> Iterator[str]:
    legs: list[float] = []
    rankings: list[list[str]] = []
    for name, filters in EVERY.items():
        shares = []
        for vector, best in zip(asked.vectors, asked.best[name], strict=True):
            started = time.perf_counter()
            hits = passages.hybrid_search(PassageQuery((), vector, filters, 200))
            legs.append(time.perf_counter() - started)
            ranked = sorted(hits, key=lambda each: (-(each.sim or 0.0), -int(each.pmid)))
            shares.append(len({each.pmid for each in ranked[:HEAD]} & set(best)) / len(best))
            if name == "whole":
                rankings.append([each.pmid for each in ranked])
        yield f"{np.mean(shares):.4f}"
    grades = asked.judged.grades
    yield f"{np.mean([ndcg(each, grade) for each, grade in zip(rankings, grades, strict=True)]):.4f}"
    yield f"{1e3 * np.median(legs):.0f} / {1e3 * np.quantile(legs, 0.95):.0f}"
    whole = []
    for question, vector in zip(asked.judged.questions, asked.vectors, strict=True):
        started = time.perf_counter()
        passages.hybrid_search(PassageQuery(query_terms(question, None), vector, Filters(), 200))
        whole.append(time.perf_counter() - started)
    yield f"{1e3 * np.median(whole):.0f}"


def _cpu_ms(passages: OpenSearchPassages) -> int:
    stats: dict[str, Any] = passages.alias.transport.ask("GET", "/_nodes/stats/process")
    return sum(each["process"]["cpu"]["total_in_millis"] for each in stats["nodes"].values())


def _bytes(passages: OpenSearchPassages, index: str) -> int:
    stats: dict[str, Any] = passages.alias.transport.ask("GET", f"/{index}/_stats/store")
    return int(stats["_all"]["primaries"]["store"]["size_in_bytes"])


def _files(passages: OpenSearchPassages, index: str, papers: int) -> str:
    asked = f"/{index}/_stats/segments?include_segment_file_sizes=true"
    stats: dict[str, Any] = passages.alias.transport.ask("GET", asked)
    sizes = stats["_all"]["primaries"]["segments"]["file_sizes"]
    largest = sorted(sizes.items(), key=lambda each: -each[1]["size_in_bytes"])[:7]
    return ", ".join(f"{name} {each['size_in_bytes'] / papers:,.0f}" for name, each in largest)


if __name__ == "__main__":
    main()

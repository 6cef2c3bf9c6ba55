"""How alike the two engines rank: the embedded one, and OpenSearch on a real node, over the same texts and questions.

    python -m benchmarks.engines [scifact] [nfcorpus]

Everything is as in benchmarks/retrieval.py, whose kept vectors are used, but filled into both engines. Overlap is the
share of the ten best papers that both return, over all questions; "same first" is how often the best one is the same.
"after rewriting": a third of the papers written again, so that OpenSearch counts words of papers that it has replaced.
Wall time is that of a whole search as rag.search does it (four requests to OpenSearch), its question's vector apart;
one client, one node with 1 GB of heap on the same machine.
"""

import argparse
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np

from benchmarks.retrieval import MODEL, SETS, Judged, KeptEmbeddings, articles, judged, ndcg, rankings
from bio_mcp.adapters.embedded.database import Database
from bio_mcp.adapters.embedded.passages import SqlitePassages
from bio_mcp.adapters.embedders.onnx import OnnxEmbeddings
from bio_mcp.literature.records import Article, Document
from bio_mcp.ports.stores import Embeddings, Passages
from bio_mcp.retrieval.chunking import chunks_of, entry_of
from bio_mcp.retrieval.passages import Entry
from tests.support.opensearch_node.jvm import start
from tests.support.opensearch_node.passages import passages_at

BATCH = 128
SHOWN = ("BM25", "dense, best window", "fused, no feedback", "**rag.search**")


@dataclass(frozen=True)
class Alike:
    """How two engines ranked the same questions. nDCG at 10; times are seconds a question, median."""

    overlap: float
    same_first: float
    ndcg: tuple[float, float]
    seconds: tuple[float, float]


def entries_of(found: Iterable[Article], model: Embeddings, version: int = 1) -> Iterator[list[Entry]]:
    """Batches of index entries, as a sync makes them."""
    left = iter(found)
    while batch := list(islice(left, BATCH)):
        chunked = [chunks_of(article, model.count_tokens, model.max_tokens) for article in batch]
        vectors = iter(model.embed([chunk.embedded_text for chunks in chunked for chunk in chunks]))
        by_id = [{chunk.chunk_id: next(vectors) for chunk in chunks} for chunks in chunked]
        yield [
            entry_of(Document(article, "", version=version), chunks, new)
            for article, chunks, new in zip(batch, chunked, by_id, strict=True)
        ]


def fill(engines: Sequence[Passages], model: Embeddings, batches: Iterable[list[Entry]]) -> None:
    """Write the same entries into every engine."""
    for passages in engines:
        passages.ensure_schema(model.fingerprint, model.dim)
    for batch in batches:
        for passages in engines:
            passages.upsert_chunks(batch)


def compare(first: Callable[[str], list[str]], second: Callable[[str], list[str]], asked: Judged) -> Alike:
    """Ask both the same questions."""
    (ours, our_s), (theirs, their_s) = _asked(first, asked), _asked(second, asked)
    pairs = list(zip(ours, theirs, strict=True))
    return Alike(
        overlap=float(np.mean([overlap(one, other) for one, other in pairs])),
        same_first=float(np.mean([one[:1] == other[:1] for one, other in pairs])),
        ndcg=(_mean_ndcg(ours, asked), _mean_ndcg(theirs, asked)),
        seconds=(our_s, their_s),
    )


def overlap(one: Sequence[str], other: Sequence[str], depth: int = 10) -> float:
    """The share of the best `depth` that both have; 1 where neither has any."""
    best = set(one[:depth]), set(other[:depth])
    return len(best[0] & best[1]) / max(len(best[0]), len(best[1])) if best[0] or best[1] else 1.0


def _asked(ranking: Callable[[str], list[str]], asked: Judged) -> tuple[list[list[str]], float]:
    found, seconds = [], []
    for question in asked.questions:
        started = time.perf_counter()
        found.append(ranking(question))
        seconds.append(time.perf_counter() - started)
    return found, float(np.median(seconds))


def _mean_ndcg(found: Sequence[list[str]], asked: Judged) -> float:
    return float(np.mean([ndcg(each, grades) for each, grades in zip(found, asked.grades, strict=True)]))


def measure(name: str, model: KeptEmbeddings, url: str) -> None:
    asked, found = judged(name), list(articles(name))
    with tempfile.TemporaryDirectory() as scratch:
        embedded = SqlitePassages(Database(Path(scratch)))
        opensearch = passages_at(url)
        fill([embedded, opensearch], model, entries_of(found, model))
        model.embed(asked.questions)
        documents, windows = opensearch.count()
        print(f"\n{name}: {len(asked.questions)} questions, {documents:,} papers, {windows:,} windows\n")
        print("| ranking | overlap@10 | same first | nDCG@10 embedded / OpenSearch | ms embedded / OpenSearch |")
        print("|---|---|---|---|---|")
        for how in SHOWN:
            _show(how, compare(rankings(embedded, model)[how], rankings(opensearch, model)[how], asked))
        fill([embedded, opensearch], model, entries_of(found[::3], model, version=2))
        for how in (SHOWN[0], SHOWN[-1]):
            result = compare(rankings(embedded, model)[how], rankings(opensearch, model)[how], asked)
            _show(f"{how}, after rewriting", result)


def _show(how: str, pair: Alike) -> None:
    ours, theirs = pair.ndcg
    fast, slow = (1_000 * each for each in pair.seconds)
    print(
        f"| {how} | {pair.overlap:.4f} | {pair.same_first:.4f} | {ours:.4f} / {theirs:.4f} | {fast:.1f} / {slow:.1f} |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sets", nargs="*", choices=[*SETS, []], help="which sets; default all")
    chosen = parser.parse_args().sets or list(SETS)
    model = KeptEmbeddings(OnnxEmbeddings(MODEL))
    with tempfile.TemporaryDirectory() as scratch:
        node = start(Path(scratch), heap="1g")
        try:
            for name in chosen:
                measure(name, model, node.url)
        finally:
            node.stop()


if __name__ == "__main__":
    main()

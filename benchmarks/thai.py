"""How well hybrid_search finds English papers for questions in Thai: R@100, R@10 and nDCG@10.

    python -m benchmarks.thai

The questions are our own (tests/data/thai, which says how each was checked; no native speaker did). The corpus is the
bundled sample, the papers that answer the questions, and others of the same update file of PubMed, 3,000 in all, chosen
by the hash of their PMID. They go through the product's own import, index and search. Vectors are in .cache/thai by
model and text: the first run embeds each paper (some 5 CPU-minutes). Intervals are of 10,000 bootstrap
samples of the questions.
"""

import json
import tempfile
from collections.abc import Iterator
from contextlib import closing
from functools import cached_property
from hashlib import sha256
from importlib.resources import as_file, files
from math import log2
from pathlib import Path
from typing import Any, cast

import numpy as np

from benchmarks.retrieval import KeptEmbeddings
from bio_mcp.adapters.embedders.model_files import DEFAULT, PACKAGED
from bio_mcp.adapters.embedders.onnx import OnnxEmbeddings
from bio_mcp.answering.hybrid_search import PAPER, HybridQuestion, hybrid_search
from bio_mcp.literature.medline import open_records
from bio_mcp.literature.records import Article
from bio_mcp.ports import Backends
from bio_mcp.ports.stores import Embeddings
from bio_mcp.retrieval.question import parse_question
from bio_mcp.settings import Settings
from bio_mcp.syncing.applying import apply_records
from bio_mcp.wiring.embedded import Embedded

ROOT = Path(__file__).resolve().parents[1]
QUESTIONS = ROOT / "tests/data/thai/questions.jsonl"
UPDATE_FILE = ROOT.parent / "shared/data/pubmed/pubmed21n1298.dev.xml.xz"
CACHE = ROOT / ".cache/thai"
PAPERS, DEPTH, SAMPLES, SEED = 3_000, 100, 10_000, 2026


class Corpus(Embedded):
    """The embedded mode with vectors from the cache."""

    def __init__(self, home: Path) -> None:
        super().__init__(Settings(home=home))

    @cached_property
    def embeddings(self) -> Embeddings:
        return cast(Embeddings, KeptEmbeddings(OnnxEmbeddings(PACKAGED / DEFAULT), CACHE))


def questions() -> list[dict[str, Any]]:
    return [json.loads(line) for line in QUESTIONS.read_text(encoding="utf-8").splitlines()]


def records(wanted: set[str]) -> Iterator[Article]:
    """The sample, the papers `wanted`, and others of the update file in the order of the hash of their PMID."""
    with as_file(files("bio_mcp") / "samples/pubmed.xml.gz") as sample:
        chosen = {each.pmid: each for each in open_records(sample) if isinstance(each, Article)}
    rest = {each.pmid: each for each in open_records(UPDATE_FILE) if isinstance(each, Article) and each.abstract}
    order = sorted(rest, key=lambda pmid: (pmid not in wanted, sha256(pmid.encode()).digest()))
    for pmid in order:
        if len(chosen) < PAPERS:
            chosen.setdefault(pmid, rest[pmid])
    return iter(chosen.values())


def found(text: str, backends: Backends) -> list[str]:
    question = HybridQuestion(parse_question(text), DEPTH, frozenset({PAPER}))
    return [str(hit.pmid) for hit in hybrid_search(question, backends).hits]


def scores(ranked: list[str], right: list[str]) -> tuple[float, float, float]:
    """R@100, R@10 and nDCG@10."""
    gain = sum(1 / log2(place + 2) for place, pmid in enumerate(ranked[:10]) if pmid in right)
    ideal = sum(1 / log2(place + 2) for place in range(min(10, len(right))))
    return (
        len(set(ranked[:100]) & set(right)) / len(right),
        len(set(ranked[:10]) & set(right)) / len(right),
        gain / ideal,
    )


def line(name: str, rows: list[tuple[float, float, float]]) -> str:
    table = np.array(rows)
    draws = np.random.default_rng(SEED).integers(0, len(table), (SAMPLES, len(table)))
    low, high = np.quantile(table[draws, 0].mean(axis=1), [0.025, 0.975])
    wide, narrow, gain = table.mean(axis=0)
    return f"{name:<30} {wide:.3f} [{low:.3f}, {high:.3f}]   {narrow:.3f}   {gain:.3f}"


def measure(corpus: Backends, asked_for: list[dict[str, Any]]) -> Iterator[str]:
    for name, language in (("Thai, by the dictionary", "thai"), ("the same questions in English", "english")):
        yield line(name, [scores(found(each[language], corpus), each["pmids"]) for each in asked_for])


def main() -> None:
    asked_for = questions()
    wanted = {pmid for each in asked_for for pmid in each["pmids"]}
    with tempfile.TemporaryDirectory() as home, closing(Corpus(Path(home))) as corpus:
        apply_records(records(wanted), corpus)
        print(f"{len(asked_for)} questions, {corpus.documents.count():,} papers")
        print(f"{'':<30} R@100 [95 %]           R@10    nDCG@10")
        for each in measure(cast(Backends, corpus), asked_for):
            print(each)


if __name__ == "__main__":
    main()

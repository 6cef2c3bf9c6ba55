"""How well the product ranks: nDCG@10 and R@100 on SciFact and NFCorpus, beside its two legs alone.

    python -m benchmarks.retrieval [scifact] [nfcorpus]

Only development queries are here: SciFact's train claims and NFCorpus's dev questions; everything in the product that
was tuned was tuned on them. Each judged text becomes an article (title and abstract), goes through the product's
analysis, chunking and embedded engine in a scratch directory, and is searched by the function behind rag.search,
without quality bias. Vectors are kept in .cache/retrieval by model and text: the first run embeds some 36,000 windows
(about 15 CPU-minutes). Differences carry a 95 % interval of 10,000 paired bootstrap samples.
"""

import argparse
import json
import lzma
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import sha256
from itertools import islice
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from bio_mcp.adapters.embedded.database import Database
from bio_mcp.adapters.embedded.passages import SqlitePassages
from bio_mcp.adapters.embedders.model_files import DEFAULT, PACKAGED
from bio_mcp.adapters.embedders.onnx import OnnxEmbeddings
from bio_mcp.answering.search import DEPTH, Question, search_papers
from bio_mcp.literature.records import AbstractSection, Article, Document
from bio_mcp.ports import Backends
from bio_mcp.ports.stores import Passages
from bio_mcp.retrieval.analysis import query_terms
from bio_mcp.retrieval.chunking import chunks_of, entry_of
from bio_mcp.retrieval.passages import Candidate, PassageQuery
from bio_mcp.retrieval.question import expansion
from bio_mcp.retrieval.ranking import fuse

ROOT = Path(__file__).resolve().parents[1]
QA = ROOT.parent / "shared/data/qa"
MODEL = PACKAGED / DEFAULT
CACHE = ROOT / ".cache/retrieval"
SETS = {
    "scifact": ("scifact_corpus.jsonl.xz", "scifact_queries_qrels.dev_train.jsonl.xz"),
    "nfcorpus": ("nfcorpus_corpus.jsonl.xz", "nfcorpus_queries_qrels.dev.jsonl.xz"),
}
SAMPLES, SEED = 10_000, 2026

NO_TITLES = SimpleNamespace(get_many=lambda _pmids: {})  # documents: judged questions are no titles
Vectors = NDArray[np.float32]
Scores = NDArray[np.float64]
Ranking = Callable[[str], list[str]]


def lines(name: str) -> list[dict[str, Any]]:
    with lzma.open(QA / name, "rt") as stream:
        return [json.loads(line) for line in stream]


class KeptEmbeddings:
    """A model whose vectors are kept on disk by its fingerprint and the text: `.keys` of 32 bytes, `.f32` of rows."""

    def __init__(self, model: OnnxEmbeddings, cache: Path = CACHE) -> None:
        self.model = model
        self.fingerprint, self.dim, self.max_tokens = model.fingerprint, model.dim, model.max_tokens
        name = sha256(model.fingerprint.encode()).hexdigest()[:16]
        self._keys, self._rows = cache / f"{name}.keys", cache / f"{name}.f32"
        cache.mkdir(parents=True, exist_ok=True)
        keys = self._keys.read_bytes() if self._keys.exists() else b""
        self._kept = {keys[at : at + 32]: at // 32 for at in range(0, len(keys), 32)}
        self._vectors = np.fromfile(self._rows, "<f4").reshape(-1, self.dim) if keys else np.empty((0, self.dim), "f4")

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return self.model.count_tokens(texts)

    def embed(self, texts: Sequence[str]) -> Vectors:
        keys = [sha256(text.encode()).digest() for text in texts]
        new = {key: text for key, text in zip(keys, texts, strict=True) if key not in self._kept}
        if new:
            self._keep(list(new), self.model.embed(list(new.values())))
        return cast(Vectors, self._vectors[[self._kept[key] for key in keys]])

    def embed_questions(self, texts: Sequence[str]) -> Vectors:
        return self.model.embed_questions(texts)

    def _keep(self, keys: list[bytes], vectors: Vectors) -> None:
        with self._rows.open("ab") as rows, self._keys.open("ab") as names:
            rows.write(vectors.astype("<f4").tobytes())
            names.write(b"".join(keys))
        self._kept.update((key, len(self._vectors) + at) for at, key in enumerate(keys))
        self._vectors = np.concatenate([self._vectors, vectors])


@dataclass
class Judged:
    """A set of questions, each with its judged papers and their grades."""

    questions: list[str] = field(default_factory=list)
    grades: list[dict[str, int]] = field(default_factory=list)


def pmid(judged_id: str) -> str:
    """NFCorpus numbers its texts MED-10; the index wants digits."""
    return judged_id.removeprefix("MED-")


def judged(name: str) -> Judged:
    found = Judged()
    for each in lines(SETS[name][1]):
        found.questions.append(each["query"])
        found.grades.append({pmid(key): grade for key, grade in each["rel"].items() if grade > 0})
    return found


def articles(name: str) -> Iterator[Article]:
    for each in lines(SETS[name][0]):
        sections = (AbstractSection(None, None, each["text"]),) if each["text"] else ()
        yield Article(pmid=pmid(each["id"]), title=each["title"] or None, abstract=sections)


def fill(passages: SqlitePassages, papers: Iterable[Article], model: KeptEmbeddings) -> None:
    passages.ensure_schema(model.fingerprint, model.dim)
    left = iter(papers)
    while batch := list(islice(left, 256)):
        chunked = [chunks_of(article, model.count_tokens, model.max_tokens) for article in batch]
        vectors = iter(model.embed([chunk.embedded_text for chunks in chunked for chunk in chunks]))
        by_id = [{chunk.chunk_id: next(vectors) for chunk in chunks} for chunks in chunked]
        pairs = zip(batch, chunked, by_id, strict=True)
        passages.upsert_chunks([entry_of(Document(article, ""), chunks, new) for article, chunks, new in pairs])


def rankings(passages: Passages, model: KeptEmbeddings) -> dict[str, Ranking]:
    """What is compared: a name, and a function from a question to PMIDs in order."""
    backends = cast(
        Backends,
        SimpleNamespace(
            passages=passages, embeddings=model, documents=NO_TITLES, today=lambda: datetime.now(UTC).date()
        ),
    )

    def both(question: str) -> list[Candidate]:
        vector = model.embed([question])[0]
        return passages.hybrid_search(PassageQuery(query_terms(question, expansion), vector, depth=DEPTH))

    def lexical(question: str, *, widened: bool) -> list[str]:
        terms = query_terms(question, expansion if widened else None)
        return ordered({each.pmid: each.bm25 or 0 for each in passages.hybrid_search(PassageQuery(terms, None))})

    def semantic(question: str) -> list[str]:
        query = PassageQuery((), model.embed([question])[0])
        return ordered({each.pmid: each.sim or 0 for each in passages.hybrid_search(query)})

    def fused(question: str) -> list[str]:
        return ordered({key: value.score for key, value in fuse(both(question), DEPTH).items()})

    def product(question: str, *, synonyms: bool) -> list[str]:
        found = search_papers(Question(question, quality_bias=False, synonyms=synonyms), backends)
        return [each.candidate.pmid for each in found.ranked]

    return {
        "BM25": lambda question: lexical(question, widened=False),
        "BM25 with synonyms": lambda question: lexical(question, widened=True),
        "dense, best window": semantic,
        "reciprocal ranks (60)": lambda question: reciprocal(both(question)),
        "fused, no feedback": fused,
        "rag.search, synonyms off": lambda question: product(question, synonyms=False),
        "**rag.search**": lambda question: product(question, synonyms=True),
    }


def ordered(scores: dict[str, float]) -> list[str]:
    return sorted(scores, key=lambda key: (-scores[key], -int(key)))


def reciprocal(candidates: Sequence[Candidate]) -> list[str]:
    total: dict[str, float] = {}
    for leg in ("bm25", "sim"):
        returned = {each.pmid: getattr(each, leg) for each in candidates if getattr(each, leg) is not None}
        for place, key in enumerate(ordered(returned)):
            total[key] = total.get(key, 0.0) + 1 / (61 + place)
    return ordered(total)


def ndcg(ranked: Sequence[str], grades: dict[str, int], depth: int = 10) -> float:
    """nDCG with linear gains, as BEIR and trec_eval report it."""

    def gain(values: Sequence[int]) -> float:
        return sum(value / np.log2(place + 2) for place, value in enumerate(values[:depth]))

    return float(gain([grades.get(key, 0) for key in ranked]) / gain(sorted(grades.values(), reverse=True)))


def recall(ranked: Sequence[str], grades: dict[str, int], depth: int = 100) -> float:
    return len(grades.keys() & set(ranked[:depth])) / len(grades)


def interval(difference: Scores) -> str:
    """Mean difference and the 95 % bootstrap interval of it."""
    picks = np.random.default_rng(SEED).integers(0, len(difference), (SAMPLES, len(difference)))
    low, high = np.quantile(difference[picks].mean(axis=1), [0.025, 0.975])
    return f"{difference.mean():+.4f} [{low:+.4f}, {high:+.4f}]"


def measure(name: str, model: KeptEmbeddings) -> None:
    questions = judged(name)
    with tempfile.TemporaryDirectory() as scratch:
        passages = SqlitePassages(Database(Path(scratch)))
        fill(passages, articles(name), model)
        model.embed(questions.questions)
        found = {
            how: [ranking(question) for question in questions.questions]
            for how, ranking in rankings(passages, model).items()
        }
        documents, windows = passages.count()
    print(f"\n{name}: {len(questions.questions)} questions, {documents:,} papers, {windows:,} windows\n")
    print("| ranking | nDCG@10 | R@100 | rag.search is better by (nDCG@10) |\n|---|---|---|---|")
    scores = {
        how: np.array([ndcg(each, grades) for each, grades in zip(lists, questions.grades, strict=True)])
        for how, lists in found.items()
    }
    best = scores["**rag.search**"]
    for how, lists in found.items():
        stored = np.mean([recall(each, grades) for each, grades in zip(lists, questions.grades, strict=True)])
        gain = "" if scores[how] is best else interval(best - scores[how])
        print(f"| {how} | {scores[how].mean():.4f} | {stored:.4f} | {gain} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sets", nargs="*", choices=[*SETS, []], help="which sets; default all")
    chosen = parser.parse_args().sets or list(SETS)
    model = KeptEmbeddings(OnnxEmbeddings(MODEL))
    for name in chosen:
        measure(name, model)


if __name__ == "__main__":
    main()

"""Do cheaper vectors rank as well? nDCG@10 and R@100 of each way to make them, beside fp32, on development questions.

    python -m benchmarks.vectors [scifact] [nfcorpus] [--late] [--questions N] [--others N]

As benchmarks.retrieval, which see: the same questions, papers, rankings and paired bootstrap, and vectors kept in
.cache/retrieval (in 8 bits some seven CPU-minutes of both sets, the first time). `--late` also measures late chunking,
which takes 0.1 CPU-seconds a paper each time; `--questions` asks a part of the questions, over the papers judged for
them and `--others` more.
"""

import argparse
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks._late import LatePassages
from benchmarks._models import in_8_bits
from benchmarks.retrieval import (
    SEED,
    SETS,
    Judged,
    KeptEmbeddings,
    Scores,
    articles,
    fill,
    interval,
    judged,
    ndcg,
    rankings,
    recall,
)
from bio_mcp.adapters.embedded.database import Database
from bio_mcp.adapters.embedded.passages import SqlitePassages
from bio_mcp.adapters.embedders.installed import default_model_dir
from bio_mcp.adapters.embedders.onnx import OnnxEmbeddings
from bio_mcp.literature.records import Article
from bio_mcp.retrieval.ranking import BM25_B, BM25_K1

COMPARED = {"dense, best window": "vectors alone", "**rag.search**": "rag.search"}


def part_of(questions: Judged, most: int) -> Judged:
    """At most so many of the questions, drawn at random."""
    chosen = np.random.default_rng(SEED).permutation(len(questions.questions))[:most]
    return Judged([questions.questions[at] for at in chosen], [questions.grades[at] for at in chosen])


def papers_for(name: str, questions: Judged, others: int | None) -> list[Article]:
    """All papers, or those that are judged for these questions and so many others."""
    every = list(articles(name))
    if others is None:
        return every
    wanted = {pmid for grades in questions.grades for pmid in grades}
    rest = [paper.pmid for paper in every if paper.pmid not in wanted]
    wanted |= {rest[at] for at in np.random.default_rng(SEED).permutation(len(rest))[:others]}
    return [paper for paper in every if paper.pmid in wanted]


def models(papers: list[Article], *, late: bool) -> Iterator[tuple[str, Any]]:
    """Yield each way to make vectors, fp32 first."""
    plain = KeptEmbeddings(OnnxEmbeddings(default_model_dir()))
    yield "fp32", plain
    yield "int8", KeptEmbeddings(OnnxEmbeddings(in_8_bits()))
    for title in (False, True) if late else ():
        passages = LatePassages(plain, default_model_dir(), title=title)
        passages.read(papers)
        yield f"late chunking, {'title and passage' if title else 'passage'} pooled", passages


def scores_of(model: Any, papers: list[Article], questions: Judged) -> dict[str, list[Scores]]:
    """nDCG@10 and R@100 of each question, by ranking."""
    with tempfile.TemporaryDirectory() as scratch:
        passages = SqlitePassages(Database(Path(scratch)), k1=BM25_K1, b=BM25_B)
        fill(passages, papers, model)
        found = {}
        for how in COMPARED:
            ranking = rankings(passages, model)[how]
            lists = [ranking(question) for question in questions.questions]
            pairs = list(zip(lists, questions.grades, strict=True))
            found[how] = [np.array([figure(*pair) for pair in pairs]) for figure in (ndcg, recall)]
    return found


def measure(name: str, questions: Judged, others: int | None, *, late: bool) -> None:
    papers = papers_for(name, questions, others)
    print(f"\n{name}: {len(questions.questions)} questions, {len(papers):,} papers\n")
    print("| vectors | ranking | nDCG@10 | more than fp32 | R@100 | more than fp32 |\n|---|---|---|---|---|---|")
    base: dict[str, Any] = {}
    for way, model in models(papers, late=late):
        found = scores_of(model, papers, questions)
        base = base or found
        for how, figures in found.items():
            cells = []
            for figure, plain in zip(figures, base[how], strict=True):
                cells += [f"{figure.mean():.4f}", "" if found is base else interval(figure - plain)]
            print(f"| {way} | {COMPARED[how]} | {' | '.join(cells)} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sets", nargs="*", choices=[*SETS, []], help="which sets; default all")
    parser.add_argument("--late", action="store_true", help="late chunking too")
    parser.add_argument("--questions", type=int, help="so many questions of a set; default all")
    parser.add_argument("--others", type=int, help="so many papers that are not judged; default all")
    chosen = parser.parse_args()
    for name in chosen.sets or list(SETS):
        questions = part_of(judged(name), chosen.questions or 10**6)
        measure(name, questions, chosen.others, late=chosen.late)


if __name__ == "__main__":
    main()

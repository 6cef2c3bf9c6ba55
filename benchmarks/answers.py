"""How often rag_answer answers, whether a right paper is among those that it cites, and what it does without them.

    python -m benchmarks.answers

SciFact's train claims are asked of all of SciFact's abstracts, and again with the papers that were judged to fit the
claim taken out of the search. Answers are those of the function behind rag_answer, for several tau; each quote is
compared with the stored text. Vectors are kept as the benchmark `retrieval` keeps them.
"""

import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import numpy as np

from benchmarks.relevance import Without
from benchmarks.retrieval import MODEL, KeptEmbeddings, articles, fill, judged
from bio_mcp.adapters.embedded.database import Database
from bio_mcp.adapters.embedded.passages import SqlitePassages
from bio_mcp.adapters.embedders.onnx import OnnxEmbeddings
from bio_mcp.answering.answers import LEAST_PAPERS, Answer, answer
from bio_mcp.literature.records import CitedSpan, Document
from bio_mcp.ports import Backends
from bio_mcp.retrieval.chunking import abstract_text
from bio_mcp.settings import Settings

SET = "scifact"
TAUS = (0.4, 0.5, 0.55, 0.57, 0.6, 0.65, 0.7, 0.8)


@dataclass(frozen=True)
class Pair:
    """A claim's answers of the whole corpus and of one without its judged papers, both with tau 0."""

    right: frozenset[str]
    whole: Answer
    gone: Answer

    @property
    def cites_right(self) -> bool:
        return any(each.span.pmid in self.right for each in self.whole.cited)


def given(found: Answer, tau: float) -> bool:
    """Whether the answer is given with this tau."""
    return len(found.cited) >= LEAST_PAPERS and found.confidence >= tau


def ask(model: KeptEmbeddings, documents: dict[str, Document]) -> Iterator[Pair]:
    questions = judged(SET)
    with tempfile.TemporaryDirectory() as scratch:
        stored = SqlitePassages(Database(Path(scratch)))
        fill(stored, (each.article for each in documents.values()), model)
        passages = Without(stored, frozenset(documents))
        backends = cast(
            Backends,
            SimpleNamespace(
                passages=passages,
                embeddings=model,
                documents=SimpleNamespace(get_many=lambda pmids: {each: documents[each] for each in pmids}),
                answers=SimpleNamespace(put=lambda _: None),
                language_model=None,
                answer_tau=0.0,
                today=lambda: datetime.now(UTC).date(),
                now=lambda: datetime.now(UTC),
            ),
        )
        for question, grades in zip(questions.questions, questions.grades, strict=True):
            answers = []
            for gone in (frozenset[str](), frozenset(grades)):
                passages.gone = gone
                answers.append(answer(question, backends))
            yield Pair(frozenset(grades), *answers)


def is_verbatim(span: CitedSpan, document: Document) -> bool:
    text = document.article.title if span.field == "title" else abstract_text(document.article)
    return span.version == document.version and (text or "")[span.start : span.end] == span.quote


def share(truths: Sequence[bool]) -> str:
    return f"{np.mean(truths):.3f}" if truths else "-"


def row(pairs: Sequence[Pair], tau: float) -> str:
    answered = [each for each in pairs if given(each.whole, tau)]
    still = [given(each.gone, tau) for each in answered]
    columns = [
        share([given(each.whole, tau) for each in pairs]),
        share([each.cites_right for each in answered]),
        share(still),
        share([given(each.gone, tau) for each in pairs]),
    ]
    mark = "**" if tau == Settings().answer_tau else ""
    return f"| {mark}{tau}{mark} | {' | '.join(columns)} |"


def report(pairs: Sequence[Pair], documents: dict[str, Document]) -> None:
    print(f"{SET}: {len(pairs)} claims, {len(documents):,} papers\n")
    print(
        "| tau | answered | of these: a right paper cited | of these: still without it | of all: answered without it |"
    )
    print("|---|---|---|---|---|")
    for tau in TAUS:
        print(row(pairs, tau))
    cited = [each for pair in pairs for found in (pair.whole, pair.gone) for each in found.cited]
    exact = [is_verbatim(each.span, documents[each.span.pmid]) for each in cited]
    print(f"\nquotes equal to the stored text: {sum(exact):,} of {len(exact):,} ({np.mean(exact):.3f})")
    counts = Counter(len(each.whole.cited) for each in pairs)
    print(f"papers cited: {', '.join(f'{number}: {counts[number]} claims' for number in sorted(counts))}")
    print(f"a right paper among those cited, of all claims: {share([each.cites_right for each in pairs])}")


def main(model: KeptEmbeddings | None = None) -> None:
    documents = {each.pmid: Document(each, "") for each in articles(SET)}
    report(list(ask(model or KeptEmbeddings(OnnxEmbeddings(MODEL)), documents)), documents)


if __name__ == "__main__":
    main()

"""How often rag.search warns that nothing fits: for questions that its corpus answers, and for others.

    python -m benchmarks.off_topic [sample] [pubmedqa] [nfcorpus] [scifact]

A false alarm is a warning on a question one of whose judged papers is among the first ten hits. The other questions are
of no medical topic (off_topic.txt, which constants and probabilities were fitted with, and off_topic_held_out.txt,
written after) or BioASQ's, on biomedicine, of which these corpora hold next to nothing. Only development questions are
here. Vectors are kept as the benchmark `retrieval` keeps them.
"""

import argparse
import json
import lzma
import tempfile
from collections.abc import Iterator, Sequence
from datetime import datetime
from importlib.resources import as_file, files
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

from benchmarks.retrieval import MODEL, QA, SETS, Judged, KeptEmbeddings, articles, fill, judged, lines
from bio_mcp.adapters.embedded.database import Database
from bio_mcp.adapters.embedded.passages import SqlitePassages
from bio_mcp.adapters.embedders.onnx import OnnxEmbeddings
from bio_mcp.call import call
from bio_mcp.literature.clock import EASTERN
from bio_mcp.literature.medline import open_records
from bio_mcp.literature.records import AbstractSection, Article, Document
from bio_mcp.ports import Backends
from bio_mcp.retrieval.passages import NAMESPACE
from bio_mcp.tools.search import rag_search

CORPORA = ("sample", "pubmedqa", *SETS)
HERE = Path(__file__).parent
ASKED_FOR = 20  # hits, as rag.search gives unless asked otherwise
FIRST = 10


def pubmedqa() -> dict[str, dict[str, Any]]:
    with lzma.open(QA / "pubmedqa_pqal.dev500.json.xz") as stream:
        return cast(dict[str, dict[str, Any]], json.load(stream))


def papers(name: str) -> Iterator[Article]:
    """PubMedQA's questions are the titles of its papers, which are therefore left out."""
    if name == "sample":
        with as_file(files("bio_mcp") / "samples/pubmed.xml.gz") as path:
            yield from (each for each in open_records(path) if isinstance(each, Article))
    elif name == "pubmedqa":
        for pmid, each in pubmedqa().items():
            texts = zip(each["LABELS"], each["CONTEXTS"], strict=True)
            yield Article(pmid=pmid, abstract=tuple(AbstractSection(label, None, text) for label, text in texts))
    else:
        yield from articles(name)


def asked(name: str) -> Judged:
    """The questions that the corpus has papers for; none of the sample."""
    if name == "sample":
        return Judged()
    if name == "pubmedqa":
        return Judged([each["QUESTION"] for each in pubmedqa().values()], [{pmid: 1} for pmid in pubmedqa()])
    return judged(name)


def off_topic() -> dict[str, list[str]]:
    """Questions of other fields than medicine, by the list that they are in."""
    return {
        name: (HERE / f"{name}.txt").read_text("utf-8").splitlines() for name in ("off_topic", "off_topic_held_out")
    }


def foreign() -> dict[str, list[str]]:
    """Questions that no corpus here answers, by what they are."""
    return off_topic() | {"bioasq": [each["question"] for each in lines("bioasq_beir_500.dev.jsonl.xz")]}


class Corpus:
    """Papers by name in an index of their own, as rag.search takes them."""

    def __init__(self, name: str, home: Path, model: KeptEmbeddings) -> None:
        held = {each.pmid: Document(each, "") for each in papers(name)}
        self.passages = SqlitePassages(Database(home))
        fill(self.passages, (each.article for each in held.values()), model)
        documents = SimpleNamespace(get_many=lambda pmids: {pmid: held[pmid] for pmid in pmids})
        self.backends = cast(
            Backends,
            SimpleNamespace(
                passages=self.passages,
                embeddings=model,
                documents=documents,
                today=lambda: datetime.now(EASTERN).date(),
                chunk_namespace=NAMESPACE,
                reranker=None,
            ),
        )

    def search(self, question: str) -> dict[str, Any]:
        asked = {"query": question, "top_k": ASKED_FOR, "include_weak": True}
        return cast(dict[str, Any], call(rag_search, asked, self.backends).body)


def warned(answer: dict[str, Any]) -> bool:
    return any("Probably none of the papers" in each for each in answer["warnings"])


def share(answers: Sequence[bool]) -> str:
    return f"{sum(answers)} of {len(answers)} ({sum(answers) / len(answers):.1%})" if answers else "-"


def found(answer: dict[str, Any], grades: dict[str, int]) -> bool:
    return any(hit["doc_id"].removeprefix("pmid:") in grades for hit in answer["results"][:FIRST])


def measure(name: str, model: KeptEmbeddings) -> None:
    questions = asked(name)
    with tempfile.TemporaryDirectory() as scratch:
        corpus = Corpus(name, Path(scratch), model)
        answers = [corpus.search(each) for each in questions.questions]
        others = {kind: [warned(corpus.search(each)) for each in texts] for kind, texts in foreign().items()}
        documents, _ = corpus.passages.count()
    by_kind = [
        [warned(each) for each, grades in zip(answers, questions.grades, strict=True) if found(each, grades) is there]
        for there in (True, False)
    ]
    print(f"| {name}, {documents:,} papers | {' | '.join(map(share, [*by_kind, *others.values()]))} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpora", nargs="*", choices=[*CORPORA, []], help="which; default all")
    chosen = parser.parse_args().corpora or list(CORPORA)
    model = KeptEmbeddings(OnnxEmbeddings(MODEL))
    print("| warned of | judged paper found | judged paper not found | off topic | off topic, held out | BioASQ |")
    print("|---|---|---|---|---|---|")
    for name in chosen:
        measure(name, model)


if __name__ == "__main__":
    main()

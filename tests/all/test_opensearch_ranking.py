"""Both engines rank alike: the bundled sample with questions made from it, and judged development sets where at hand.

BM25 is compared over whole sets. Vectors are the product's own model's; to embed a whole set takes minutes, so the
fused ranking is compared over the papers of some questions (`benchmarks/engines.py` does it over all of them).
"""

from datetime import date
from importlib.resources import as_file, files
from types import SimpleNamespace

import numpy as np
import pytest

from benchmarks.engines import compare, entries_of, fill
from benchmarks.off_topic import off_topic
from benchmarks.retrieval import MODEL, QA, SETS, Judged, articles, judged, rankings
from bio_mcp.adapters.embedded.database import Database
from bio_mcp.adapters.embedded.passages import SqlitePassages
from bio_mcp.adapters.embedders.onnx import OnnxEmbeddings
from bio_mcp.call import call
from bio_mcp.literature.medline import open_records
from bio_mcp.literature.records import Article, Document
from bio_mcp.retrieval.chunking import abstract_text, entry_of, sentence_spans
from bio_mcp.retrieval.passages import NAMESPACE
from bio_mcp.tools.search import rag_search
from tests.support.opensearch_node.passages import passages_at

WHOLE = {"include_weak": True, "explain": True}
BM25, FUSED = "BM25", ("dense, best window", "fused, no feedback", "**rag.search**")
AT_LEAST = {BM25: 0.98} | dict.fromkeys(FUSED, 0.95)
REWRITTEN = dict.fromkeys(AT_LEAST, 0.95)  # OpenSearch's BM25 still counts words of papers that were replaced
DAY = date(2026, 11, 22)
QUESTIONS, PAPERS = 40, 180  # of each set that are embedded
AT_HAND = [name for name, parts in SETS.items() if all((QA / part).exists() for part in parts)]


class Remembering:
    """A model that embeds no text twice."""

    def __init__(self, model):
        self.fingerprint, self.dim, self.max_tokens = model.fingerprint, model.dim, model.max_tokens
        self.count_tokens = model.count_tokens
        self._model, self._known = model, {}

    def embed(self, texts):
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        self._known.update(zip(new, self._model.embed(new), strict=True) if new else ())
        return np.stack([self._known[text] for text in texts])

    def embed_questions(self, texts):
        return self.embed(texts)


@pytest.fixture(scope="module")
def model():
    return Remembering(OnnxEmbeddings(MODEL, threads=2))


@pytest.fixture
def engines(tmp_path, opensearch):
    with_file = Database(tmp_path)
    yield [SqlitePassages(with_file), passages_at(opensearch.url)]
    with_file.close()


def sample():
    with as_file(files("bio_mcp") / "samples/pubmed.xml.gz") as path:
        return [each for each in open_records(path) if isinstance(each, Article)]


def questions_of(found):
    """A question for each paper with an abstract: its last sentence, to which it is the answer."""
    asked = Judged()
    for article in found:
        text = abstract_text(article)
        if spans := sentence_spans(text):
            asked.questions.append(text[slice(*spans[-1])])
            asked.grades.append({article.pmid: 1})
    return asked


def some_of(name):
    """The first questions of a judged set, and papers of it: those judged for them, and others."""
    asked, found = judged(name), list(articles(name))
    asked = Judged(asked.questions[:QUESTIONS], asked.grades[:QUESTIONS])
    wanted = {pmid for grades in asked.grades for pmid in grades}
    found.sort(key=lambda article: article.pmid not in wanted)
    return asked, found[:PAPERS]


def assert_alike(engines, model, asked, at_least):
    ours, theirs = (rankings(passages, model) for passages in engines)
    for how, least in at_least.items():
        message = compare(ours[how], theirs[how], asked)
        assert message.overlap >= least, (how, message)
        assert abs(message.ndcg[0] - message.ndcg[1]) <= 0.01, (how, message)


@pytest.mark.timeout(600)
def test_the_sample_is_ranked_alike_also_after_a_third_was_written_again(engines, model):
    found = sample()[:PAPERS]
    asked = questions_of(found[::3])
    fill(engines, model, entries_of(found, model))
    assert_alike(engines, model, asked, AT_LEAST)
    fill(engines, model, entries_of(found[::3], model, version=2))
    assert_alike(engines, model, asked, REWRITTEN)


@pytest.mark.timeout(600)
def test_both_warn_of_the_same_questions_and_mark_the_same_hits(engines, model):
    found = sample()[:PAPERS]
    fill(engines, model, entries_of(found, model))
    held = {article.pmid: Document(article, "") for article in found}
    documents = SimpleNamespace(get_many=lambda pmids: {pmid: held[pmid] for pmid in pmids})
    common = {"embeddings": model, "documents": documents, "chunk_namespace": NAMESPACE, "today": lambda: DAY}
    common["reranker"] = None
    backends = [SimpleNamespace(passages=passages, **common) for passages in engines]
    for question in [*off_topic()["off_topic"][:20], *questions_of(found[::9]).questions]:
        ours, theirs = (call(rag_search, {"query": question, **WHOLE}, each).body for each in backends)
        assert ours["warnings"] == theirs["warnings"], question
        assert marks(ours) == marks(theirs), question
        assert chances(ours) == pytest.approx(chances(theirs), abs=0.01), question


def marks(body):
    return {hit["doc_id"]: hit.get("match") for hit in body["results"][:10]}


def chances(body):
    return {hit["doc_id"]: hit["relevance"] for hit in body["results"][:10]}


@pytest.mark.parametrize("name", AT_HAND)
@pytest.mark.timeout(600)
def test_words_of_judged_sets_are_ranked_alike(engines, model, name):
    found = list(articles(name))
    worded = [entry_of(Document(article, ""), (), {}) for article in found]
    fill(engines, model, [worded[at : at + 500] for at in range(0, len(worded), 500)])
    assert_alike(engines, model, judged(name), {BM25: AT_LEAST[BM25]})


@pytest.mark.parametrize("name", AT_HAND)
@pytest.mark.timeout(600)
def test_judged_sets_are_ranked_alike(engines, model, name):
    asked, found = some_of(name)
    fill(engines, model, entries_of(found, model))
    assert_alike(engines, model, asked, AT_LEAST)

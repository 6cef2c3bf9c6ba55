"""The corpus as an evaluation asks it."""

import pytest

from bio_mcp.answering.search import Question, search_papers
from bio_mcp.evaluating.asking import asked_by_evaluation
from bio_mcp.retrieval.analysis import query_terms
from bio_mcp.retrieval.passages import PassageQuery
from tests.evaluating.asked import ARTICLES
from tests.support.memory_corpus import Corpus

GONE = {"1", "3"}


def pmids(backends, question="the organ heart and the organ kidney"):
    return [each.candidate.pmid for each in search_papers(Question(question), backends).ranked]


@pytest.fixture
def corpus():
    return Corpus(*ARTICLES)


def test_without_some_papers_it_answers_as_a_corpus_that_never_had_them(corpus):
    less = Corpus(*(each for each in ARTICLES if each.pmid not in GONE))
    without = asked_by_evaluation(corpus, corpus.embeddings, GONE)
    assert pmids(without) == pmids(less)
    assert set(pmids(corpus)[:2]) == GONE


@pytest.mark.parametrize("depth", [1, 2, 5])
def test_each_leg_is_as_deep_as_it_was_asked_to_be(corpus, depth):
    terms, vector = query_terms("organ heart"), corpus.embeddings.embed(["organ heart"])[0]
    query = PassageQuery(terms, vector, depth=depth)
    less = Corpus(*(each for each in ARTICLES if each.pmid not in GONE))
    found = asked_by_evaluation(corpus, corpus.embeddings, GONE).passages.hybrid_search(query)
    expected = less.passages.hybrid_search(query)
    for leg in ("bm25", "sim"):
        by_leg = [{each.pmid for each in those if getattr(each, leg) is not None} for those in (found, expected)]
        assert len(by_leg[0]) == depth
        assert by_leg[0] == by_leg[1]


def test_papers_that_are_gone_are_not_found_within_others_either(corpus):
    query = PassageQuery((), corpus.embeddings.embed(["heart"])[0], depth=9, within=frozenset({"1", "2"}))
    found = asked_by_evaluation(corpus, corpus.embeddings, GONE).passages.hybrid_search(query)
    assert [each.pmid for each in found] == ["2"]


def test_their_documents_are_not_there(corpus):
    assert list(asked_by_evaluation(corpus, corpus.embeddings, GONE).documents.get_many(["1", "2"])) == ["2"]

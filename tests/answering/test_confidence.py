"""How sure an answer is of the papers that it cites."""

import pytest

from bio_mcp.answering.answers import confidence_of
from bio_mcp.answering.search import Question, search_papers
from tests.support.memory_corpus import Corpus, article

QUESTION = "Does curcumin lower uric acid in gout?"
TEXTS = {
    "1": "Curcumin lowers uric acid in gout.",
    "2": "Colchicine eases gout in adults.",
    **{str(each): f"A report of case {each} on the eyes of horses." for each in range(3, 40)},
}


@pytest.fixture(scope="module")
def retrieved():
    corpus = Corpus(*(article(pmid, title=text, text=text) for pmid, text in TEXTS.items()))
    return search_papers(Question(QUESTION), corpus)


def test_an_answer_that_cites_what_fits_is_surer_than_one_that_cites_what_does_not(retrieved):
    assert confidence_of(retrieved, ["1"]) > 0.8 > 0.2 > confidence_of(retrieved, ["3", "4"])


def test_a_further_paper_never_makes_it_less_sure(retrieved):
    assert confidence_of(retrieved, ["1", "2", "3"]) == confidence_of(retrieved, ["1"])


def test_papers_that_the_search_did_not_find_count_for_nothing(retrieved):
    assert confidence_of(retrieved, ["999"]) == 0.0
    assert confidence_of(retrieved, []) == 0.0
    assert confidence_of(retrieved, ["999", "2"]) == confidence_of(retrieved, ["2"])


def test_a_search_says_how_likely_each_paper_is_and_that_any_fits(retrieved):
    assert set(retrieved.relevance) == {each.candidate.pmid for each in retrieved.ranked}
    assert max(retrieved.relevance, key=retrieved.relevance.__getitem__) == "1"
    assert retrieved.answerable > 0.8

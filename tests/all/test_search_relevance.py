"""rag.search with the real model over papers of the sample: it warns of what does not fit, and of nothing else."""

import pytest

from bio_mcp.call import call
from bio_mcp.syncing.applying import apply_records
from bio_mcp.tools.search import rag_search
from tests.doors.command_line import sample
from tests.support.sample_corpus import Corpus

OF_SAMPLE = (
    "acupuncture",
    "calcifediol",
    "orsiro",
    "imprinted",
    "blastobotrys",
    "trimethoprim",
    "severe covid",
    "fatty",
)


def warnings(query, corpus, **filters):
    body = call(rag_search, {"query": query, "filters": filters}, corpus).body
    return [each for each in body["warnings"] if "Probably none of the papers" in each]


@pytest.fixture(scope="module")
def chosen(tmp_path_factory):
    """Papers of the bundled sample that these questions find in it."""
    papers = [each for each in sample() if any(word in (each.title or "").lower() for word in OF_SAMPLE)]
    made = Corpus(tmp_path_factory.mktemp("chosen"), papers)
    apply_records(papers, made)
    yield made
    made.close()


@pytest.mark.parametrize("query", ["quantum chromodynamics lattice", "how do I bake sourdough bread", "asdf qwer zxcv"])
def test_words_that_stray_into_a_corpus_of_medicine_are_warned_of(chosen, query):
    assert warnings(query, chosen)


@pytest.mark.parametrize("query", ["does acupuncture help against migraine?", "vitamin D and COVID-19"])
def test_questions_that_it_answers_are_not(chosen, query):
    assert warnings(query, chosen) == []


def test_stents_are_no_answer_to_a_question_on_vitamins(chosen):
    filters = {"publication_types": ["randomized controlled trial"], "year_from": 2015}
    assert "that pass the filters fits the query" in warnings("vitamin D and COVID-19", chosen, **filters)[0]

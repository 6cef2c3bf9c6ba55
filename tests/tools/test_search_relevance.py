"""rag.search with the real model: it warns of what has nothing to do with the corpus, and of nothing else."""

from pathlib import Path

import pytest

from bio_mcp.call import call
from bio_mcp.syncing.importing import import_records
from bio_mcp.tools.search import rag_search
from tests.doors.command_line import sample
from tests.sample_corpus import Corpus, articles, corpus

LISTS = [Path(__file__).parents[2] / f"benchmarks/{name}.txt" for name in ("off_topic", "off_topic_held_out")]
OFF_TOPIC = [question for path in LISTS for question in path.read_text("utf-8").splitlines()[::3]]
TITLED = {each.pmid: each.title for each in articles() if each.title and each.abstract}
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


def search(query, corpus, **filters):
    body = call(rag_search, {"query": query, **({"filters": filters} if filters else {})}, corpus).body
    assert "results" in body, body
    return body


def warnings(query, corpus, **filters):
    return [each for each in search(query, corpus, **filters)["warnings"] if "Probably none of the papers" in each]


@pytest.fixture(scope="module")
def chosen(tmp_path_factory):
    """Papers of the bundled sample that these questions find in it."""
    papers = [each for each in sample() if any(word in (each.title or "").lower() for word in OF_SAMPLE)]
    made = Corpus(tmp_path_factory.mktemp("chosen"), papers)
    import_records(papers, made)
    yield made
    made.close()


@pytest.mark.parametrize("query", OFF_TOPIC)
def test_a_question_of_another_field_is_warned_of_and_no_hit_is_likely_to_fit(query):
    body = search(query, corpus())
    assert "Probably none of the papers fits the query" in body["warnings"][-1]
    assert body["results"][0]["score"] > 0.5, "a score cannot show it"
    assert max(hit["relevance"] for hit in body["results"]) < 0.4


@pytest.mark.parametrize("pmid", TITLED)
def test_a_question_that_a_paper_answers_is_not(pmid):
    body = call(rag_search, {"query": TITLED[pmid]}, corpus()).body
    assert body["warnings"] == []
    assert [hit["relevance"] > 0.5 for hit in body["results"] if hit["doc_id"] == f"pmid:{pmid}"] == [True]
    assert ["match" in hit for hit in body["results"] if hit["doc_id"] == f"pmid:{pmid}"] == [False]


@pytest.mark.parametrize("query", ["quantum chromodynamics lattice", "how do I bake sourdough bread", "asdf qwer zxcv"])
def test_words_that_stray_into_a_corpus_of_medicine_are_warned_of(chosen, query):
    assert warnings(query, chosen)


@pytest.mark.parametrize("query", ["does acupuncture help against migraine?", "vitamin D and COVID-19"])
def test_questions_that_it_answers_are_not(chosen, query):
    assert warnings(query, chosen) == []


def test_stents_are_no_answer_to_a_question_on_vitamins(chosen):
    filters = {"publication_types": ["randomized controlled trial"], "year_from": 2015}
    assert "that pass the filters fits the query" in warnings("vitamin D and COVID-19", chosen, **filters)[0]

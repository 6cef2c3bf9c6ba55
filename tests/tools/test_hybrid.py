"""hybrid_search, called as every door calls it."""

from dataclasses import replace

import pytest

from bio_mcp.call import call
from bio_mcp.catalog import TOOLS
from bio_mcp.literature.records import RetractionStatus
from bio_mcp.syncing.importing import import_records
from tests.corpus import Corpus
from tests.memory_corpus import article
from tests.sample_project import add_project

OXIMETRY = article("17727691", "Perfusion index of newborns", "The perfusion index was measured in newborns.", 2007)
STATINS = article("2", "Statins lower cholesterol", "Statins and the perfusion of the heart.", 2020)
WITHDRAWN = article(
    "3", "Perfusion index of newborns", "The perfusion index of newborns.", 2019, retraction=RetractionStatus.RETRACTED
)
QUESTION = "perfusion index of newborns"


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    with Corpus(tmp_path_factory.mktemp("hybrid")) as made:
        import_records([OXIMETRY, STATINS, WITHDRAWN], made)
        add_project(made, "lab")
        yield made


def ask(backends, query=QUESTION, **more):
    return call(TOOLS["hybrid_search"], {"query": query, **more}, backends).body


def ids(body):
    return [each["id"] for each in body["hits"]]


def test_papers_and_passages_of_projects_are_in_one_list_by_their_scores(corpus):
    body = ask(corpus)
    assert {each["type"] for each in body["hits"]} == {"paper", "chunk"}
    scores = [each["score"] for each in body["hits"]]
    assert scores == sorted(scores, reverse=True)
    assert all(0 < score <= 1 for score in scores)


def test_a_hit_says_where_it_is_from(corpus):
    by_id = {each["id"]: each for each in ask(corpus)["hits"]}
    paper, passage = by_id["pmid:17727691"], by_id["granelli2007-0"]
    assert paper == {
        "id": "pmid:17727691",
        "type": "paper",
        "title": "Perfusion index of newborns",
        "snippet": "The perfusion index was measured in newborns.",
        "score": paper["score"],
        "source": "PubMed",
        "pmid": "17727691",
        "retraction": "clear",
    }
    assert (passage["source"], passage["project"], passage["pages"]) == ("granelli2007", "lab", [1, 2])
    assert passage["retraction"] == "clear"  # as the corpus knows of it now


def test_what_is_first_by_words_and_by_meaning_has_a_score_of_1_and_a_retracted_paper_half_of_its(corpus):
    by_id = {each["id"]: each for each in ask(corpus, filters={"types": ["paper"]})["hits"]}
    assert by_id["pmid:3"]["score"] == 0.5
    assert by_id["pmid:17727691"]["score"] == round(61 / 62, 6)
    warnings = ask(corpus)["warnings"]
    assert "PMID 3 was retracted: say so where you cite it." in warnings


@pytest.mark.parametrize("kind", ["paper", "chunk"])
def test_one_type_of_hits_can_be_asked_for(corpus, kind):
    assert {each["type"] for each in ask(corpus, filters={"types": [kind]})["hits"]} == {kind}


def test_years_are_of_papers_and_of_the_works_that_passages_are_of(corpus):
    assert set(ids(ask(corpus, filters={"year_to": 2010}))) == {"pmid:17727691", "granelli2007-0", "granelli2007-1"}
    assert "after year_to" in ask(corpus, filters={"year_from": 2020, "year_to": 2010})["error"]["message"]


def test_no_more_hits_come_than_are_asked_for(corpus):
    assert ids(ask(corpus, top_k=2)) == ids(ask(corpus))[:2]
    assert ask(corpus, top_k=101)["error"]["code"] == "INVALID_ARG"


def test_an_unknown_project_is_named_with_those_that_exist(corpus):
    error = ask(corpus, filters={"projects": ["nobody"]})["error"]
    assert error["code"] == "NOT_FOUND"
    assert "lab" in error["message"]


def test_a_project_of_another_model_is_left_out_unless_it_is_named(tmp_path):
    with Corpus(tmp_path) as corpus:
        import_records([OXIMETRY], corpus)
        project = add_project(corpus, "lab")
        corpus.projects.put(replace(project, project_id="theirs", embed_model="another"))
        assert ask(corpus)["warnings"] == [
            "1 of 2 projects were not searched: name those to search in filters.projects."
        ]
        assert {each.get("project") for each in ask(corpus)["hits"]} == {None, "lab"}


def test_a_project_that_lost_its_index_is_an_error_and_no_shorter_list(tmp_path):
    with Corpus(tmp_path) as corpus:
        import_records([OXIMETRY], corpus)
        project = add_project(corpus, "lab")
        corpus.collections.drop(project.collection)
        assert ask(corpus)["error"]["code"] == "INDEX_UNAVAILABLE"


def test_an_empty_corpus_says_so(tmp_path):
    with Corpus(tmp_path) as corpus:
        body = ask(corpus)
    assert body["hits"] == []
    assert "The corpus is empty" in body["warnings"][0]

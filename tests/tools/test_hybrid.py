"""hybrid_search, called as every door calls it."""

from dataclasses import replace

import pytest

from bio_mcp.call import call
from bio_mcp.catalog import TOOLS
from bio_mcp.graph.nodes import Node, NodeType
from bio_mcp.literature.records import RetractionStatus
from bio_mcp.retrieval.analysis import analyse
from bio_mcp.retrieval.project_chunks import ProjectChunk, Work
from bio_mcp.syncing.applying import apply_records
from tests.support.corpus import Corpus
from tests.support.memory_corpus import article
from tests.support.sample_project import add_project, put

OXIMETRY = article("17727691", "Perfusion index of newborns", "The perfusion index was measured in newborns.", 2007)
STATINS = article("2", "Statins lower cholesterol", "Statins and the perfusion of the heart.", 2020)
WITHDRAWN = article(
    "3", "Perfusion index of newborns", "The perfusion index of newborns.", 2019, retraction=RetractionStatus.RETRACTED
)
QUESTION = "perfusion index of newborns"


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    with Corpus(tmp_path_factory.mktemp("hybrid")) as made:
        apply_records([OXIMETRY, STATINS, WITHDRAWN], made)
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
        "journal": "A journal",
        "year": 2007,
        "url": "https://pubmed.ncbi.nlm.nih.gov/17727691/",
        "retraction": "clear",
    }
    assert (passage["source"], passage["project"], passage["pages"]) == ("granelli2007", "lab", [1, 2])
    assert passage["retraction"] == "clear"  # as the corpus knows of it now


def test_a_paper_and_its_passages_say_nothing_twice(tmp_path):
    with Corpus(tmp_path) as own:
        apply_records([OXIMETRY, STATINS], own)
        add_project(own, "lab")
        same = "The perfusion index was  measured in NEWBORNS"
        more = f"{same}. A second group of newborns was examined on the third day."
        works = Work("a", pmid="17727691"), Work("b", pmid="17727691"), Work("c", pmid="2")
        texts = zip(works, (same, more, same), strict=True)
        put(own, "proj-lab", [ProjectChunk(f"c{at}", work, text) for at, (work, text) in enumerate(texts)])
        hits = ask(own)["hits"]
    shown = [each["snippet"].lower() for each in hits if each.get("pmid") == "17727691"]
    assert sum("perfusion index was" in each for each in shown) == 1
    assert sum("a second group" in each for each in shown) == 1
    assert "pmid:17727691" in {each["id"] for each in hits}
    assert same in {each["snippet"] for each in hits if each.get("pmid") == "2"}


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
    assert "after the last year" in ask(corpus, filters={"year_from": 2020, "year_to": 2010})["error"]["message"]


def test_an_unknown_project_is_named_with_those_that_exist(corpus):
    error = ask(corpus, filters={"projects": ["nobody"]})["error"]
    assert error["code"] == "NOT_FOUND"
    assert "lab" in error["message"]


def test_a_project_of_another_model_is_left_out_unless_it_is_named(tmp_path):
    with Corpus(tmp_path) as corpus:
        apply_records([OXIMETRY], corpus)
        project = add_project(corpus, "lab")
        corpus.projects.put(replace(project, project_id="theirs", embed_model="another"))
        [warning] = ask(corpus)["warnings"]
        assert warning == "1 of 2 projects were not searched: name those to search in filters.projects."
        assert {each.get("project") for each in ask(corpus)["hits"]} == {None, "lab"}


def test_a_project_that_lost_its_index_is_an_error_and_no_shorter_list(tmp_path):
    with Corpus(tmp_path) as corpus:
        apply_records([OXIMETRY], corpus)
        project = add_project(corpus, "lab")
        corpus.collections.drop(project.collection)
        assert ask(corpus)["error"]["code"] == "INDEX_UNAVAILABLE"


KIDNEY = ProjectChunk("th-1", Work("th"), "ผู้ป่วยโรคไตวายเรื้อรังควรเลี่ยงยาแก้ปวด ตรวจการทำงานของไตทุกปี")
SKIN = ProjectChunk("th-2", Work("th"), "ใบบัวบกใช้กับแผลที่ผิวหนัง")
NAMES = {"en": "Turmeric", "th": "ขมิ้นชัน", "la": "Curcuma longa"}
TURMERIC = Node("H1", NodeType.HERB, NAMES, ("Indian saffron",), description="A rhizome.", sources=("a book",))
LIVER = article("4", "Turmeric and the liver", "Curcuma longa was given to patients.", 2021)


@pytest.fixture(scope="module")
def thai(tmp_path_factory):
    """A corpus of English papers, a project in Thai and a graph."""
    with Corpus(tmp_path_factory.mktemp("thai")) as made:
        apply_records([OXIMETRY, STATINS, LIVER], made)
        project = add_project(made, "lab")
        put(made, project.collection, [KIDNEY, SKIN])
        made.graph.put([TURMERIC], [])
        yield made


def test_a_thai_question_finds_english_papers_by_a_dictionary_and_says_how_it_was_looked_up(thai):
    body = ask(thai, "ขมิ้นชันกับตับ", filters={"types": ["paper"]})
    assert ids(body)[0] == "pmid:4"
    assert body["english"] == "turmeric Curcuma longa liver"
    assert "Thai is lexical only" in body["warnings"][0]


def test_thai_passages_of_a_project_are_found_by_words_as_short_as_two_letters(thai):
    body = ask(thai, "ไต", filters={"types": ["chunk"]})
    assert ids(body)[0] == "th-1"
    assert ids(ask(thai, "บัวบก", filters={"types": ["chunk"]}))[0] == "th-2"


class WithoutWords(ProjectChunk):
    """A chunk as it was indexed before there were words of Thai."""

    @property
    def terms(self):
        return analyse(self.embedded_text)


def test_thai_passages_that_were_indexed_without_words_are_found_by_their_grams(tmp_path):
    before = [WithoutWords(each.chunk_id, each.work, each.text) for each in (KIDNEY, SKIN)]
    with Corpus(tmp_path) as corpus:
        put(corpus, add_project(corpus, "lab").collection, before)
        assert ids(ask(corpus, "แผลที่ผิวหนัง", filters={"types": ["chunk"]}))[0] == "th-2"


@pytest.mark.parametrize("question", ["ขมิ้นชันรักษาอะไร", "curcuma longa for pain", "Is Indian saffron safe?"])
def test_a_node_of_the_graph_is_found_by_any_of_its_names(thai, question):
    [hit] = ask(thai, question, filters={"types": ["herb"]})["hits"]
    shown = ["H1", "herb", "Turmeric", "ขมิ้นชัน (th), Curcuma longa (la). A rhizome.", 1.0, "a book"]
    assert list(hit.values()) == shown
    assert ask(thai, question, filters={"types": ["drug"]})["hits"] == []


def test_words_that_the_dictionary_does_not_have_are_named(thai):
    body = ask(thai, "รถไฟฟ้า")
    assert body["english"] == ""
    assert any("does not have รถไฟฟ้า" in warning for warning in body["warnings"])
    assert {each["type"] for each in body["hits"]} <= {"chunk"}


def test_a_question_that_is_declared_english_is_not_translated(thai):
    body = ask(thai, "statins กับ cholesterol", lang="en", filters={"types": ["paper"]})
    assert "english" not in body
    assert body["warnings"] == []
    assert ids(body)[0] == "pmid:2"

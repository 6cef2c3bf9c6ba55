"""find_contraindications, called as every door calls it."""

import json

import pytest

from bio_mcp.call import call
from bio_mcp.graph.nodes import Edge, EdgeType, Evidence, Node, NodeType, document_source
from bio_mcp.literature.records import Document
from bio_mcp.tools.kg import find_contraindications
from tests.support.memory_corpus import Corpus, article
from tests.support.reference_graph import ReferenceGraph
from tests.support.sample_graph import DRUG, EDGES, HERB, MIXTURE, NODES, OTHER_HERB, REVIEW, STATE, edge

SYSTEMATIC = ("D000078182", "Systematic Review")


def corpus_of(*more):
    corpus = Corpus(article(REVIEW, "A review.", types=[SYSTEMATIC], year=2019))
    corpus.graph = ReferenceGraph(*NODES, *EDGES, *more)
    return corpus


def check(corpus, herbs=(), formulations=()):
    return call(find_contraindications, {"herb_ids": list(herbs), "formulation_ids": list(formulations)}, corpus).body


def statuses(body):
    return [(each["entity_id"], each["status"]) for each in body["entities"]]


def found(body):
    return [each["contraindication"] for each in body["results"]]


def test_what_is_documented_has_papers_quotes_sources_and_the_derivation_of_its_strength():
    [first, *_] = check(corpus_of(), ["H1"])["results"]
    assert (first["entity_id"], first["type"], first["contraindication"]) == ("H1", "herb", "Pregnancy")
    assert first["evidence"].startswith(f'PMID {REVIEW} (2019, systematic review): "Not in pregnancy."')
    assert first["evidence"].endswith("Source: made up for tests.")
    derivation = [f"high by PMID {REVIEW} (2019, systematic review)"]
    assert (first["strength"], first["derivation"]) == ("high", derivation)


def test_a_quote_that_does_not_stand_in_its_paper_is_marked():
    corpus = corpus_of()
    assert '"Not in pregnancy." (not in its title or abstract)' in check(corpus, ["H1"])["results"][0]["evidence"]
    corpus.add(Document(article(REVIEW, "A review.", "We said: not in Preg-\nnancy. And more."), "hash"))
    assert "(not in" not in check(corpus, ["H1"])["results"][0]["evidence"].split("PMID")[1]


def test_the_three_states_of_knowledge_are_distinguished_and_none_is_a_clearance():
    body = check(corpus_of(), ["H1", "H3", "H9"])
    assert statuses(body) == [("H1", "documented"), ("H3", "nothing_documented"), ("H9", "unknown")]
    nothing, unknown = body["warnings"]
    assert "Plainleaf: nothing is documented in the sources named" in nothing
    assert "'H9' is no herb that the graph knows" in unknown
    assert body["entities"][1]["sources"] == ["made up for tests"]
    assert "safe" not in json.dumps(body).lower()


def test_a_formulation_has_what_stands_against_its_herbs_and_their_constituents_and_among_them():
    assert found(check(corpus_of(), formulations=["F1"])) == [
        "Pregnancy, by Testwort, which it contains",
        "interaction with Mockroot, by Testwort, which it contains; both are in it",
        "interaction with placebin, by testin, a constituent of Testwort",
    ]


def test_an_interaction_with_a_drug_is_found_from_either_end():
    backwards = edge(EdgeType.INTERACTS_WITH, DRUG, OTHER_HERB)
    assert "interaction with placebin" in found(check(corpus_of(backwards), ["H2"]))


def test_what_a_constituent_does_is_one_step_weaker_than_its_papers():
    at_constituent = Edge(EdgeType.CONTRAINDICATED_WITH, "C1", "X1", ("a source",), (Evidence(REVIEW),))
    rows = check(corpus_of(at_constituent), ["H1"])["results"]
    [row] = [each for each in rows if each["by"] == "C1" and each["with_id"] == "X1"]
    assert row["strength"] == "moderate"
    assert "one step lower: it is about testin, a constituent of Testwort" in row["derivation"]


def test_what_was_read_out_of_a_document_by_rule_says_so():
    source = document_source("lab", "doc:1")
    read = Edge(EdgeType.CONTRAINDICATED_WITH, "H3", "X1", (source,), (Evidence(REVIEW, "Never."),))
    [row] = check(corpus_of(read), ["H3"])["results"]
    assert (row["strength"], row["sources"]) == ("moderate", [source])
    assert "read out of a document by rule" in row["derivation"][-1]


def test_formulations_within_formulations_are_followed_and_a_circle_ends():
    outer, circle = Node("F2", NodeType.FORMULATION, {"en": "Outer"}), edge(EdgeType.CONTAINS, MIXTURE, MIXTURE)
    more = [outer, edge(EdgeType.CONTAINS, outer, MIXTURE), edge(EdgeType.CONTAINS, MIXTURE, outer), circle]
    assert "Pregnancy, by Testwort, which it contains" in found(check(corpus_of(*more), formulations=["F2"]))


def test_a_name_in_any_language_stands_for_its_herb_and_one_of_several_is_not_guessed():
    namesake = Node("H7", NodeType.HERB, {"en": "Radix ficta"})
    body = check(corpus_of(namesake), ["หญ้าทดสอบ", "testula VERA", "radix ficta"])
    assert statuses(body) == [("H1", "documented"), ("H1", "documented"), ("radix ficta", "unknown")]
    assert [each["id"] for each in body["entities"][2]["candidates"]] == ["H2", "H7"]
    assert "may be H2 or H7" in body["warnings"][0]


def test_a_formulation_that_is_given_as_a_herb_is_not_looked_up_as_one():
    body = check(corpus_of(), ["F1"])
    assert (body["results"], statuses(body)) == ([], [("F1", "unknown")])
    assert body["entities"][0]["candidates"] == [{"id": "F1", "type": "formulation", "label": "Fictive Five"}]


def test_no_entity_at_all_is_a_mistake_and_no_empty_answer():
    assert check(corpus_of())["error"]["code"] == "INVALID_ARG"


@pytest.mark.parametrize("hostile", ["../../etc/passwd", "H1\0", "' OR 1=1 --", "x" * 200, "", " "])
def test_a_hostile_id_is_unknown(hostile):
    assert statuses(check(corpus_of(), [hostile])) == [(hostile.replace("\0", "\N{REPLACEMENT CHARACTER}"), "unknown")]


def test_edges_that_were_not_looked_at_are_counted():
    drugs = [Node(f"D{n}", NodeType.DRUG, {"en": f"drug {n}"}) for n in range(10, 215)]
    body = check(corpus_of(*drugs, *(edge(EdgeType.INTERACTS_WITH, HERB, each) for each in drugs)), ["H1"])
    assert "Testwort: 6 edges of it or its parts were not looked at" in body["warnings"]
    assert STATE.label in found(body)

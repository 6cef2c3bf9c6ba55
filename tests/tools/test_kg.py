"""query_kg, kg://herb/{id} and find_contraindications, called as every door calls them."""

import json

import pytest

from bio_mcp.call import call, read
from bio_mcp.graph.nodes import Edge, EdgeType, Evidence, Node, NodeType, document_source
from bio_mcp.literature.records import Document, RetractionStatus
from bio_mcp.tools.kg import find_contraindications, herb, query_kg
from tests.support import sample_graph, small_graph
from tests.support.memory_corpus import Corpus, article
from tests.support.reference_graph import ReferenceGraph
from tests.support.sample_graph import DRUG, HERB, MIXTURE, OTHER_HERB, REVIEW, STATE, edge


@pytest.fixture(scope="module")
def backends():
    made = Corpus(article("17727691"), article("1", retraction=RetractionStatus.RETRACTED))
    made.graph = ReferenceGraph(*small_graph.NODES, *small_graph.EDGES)
    return made


def asked(backends, type, id, **more):
    return call(query_kg, {"start": {"type": type, "id": id}, **more}, backends).body


def ids(body):
    return [" ".join(node["id"] for node in path) for path in body["paths"]]


def test_a_path_names_each_node_and_the_edge_that_led_there_with_its_sources_and_papers(backends):
    body = asked(backends, "herb", "Curcuma longa", pattern="herb>constituent>indication")
    [[start, constituent, indication]] = body["paths"]
    assert start == {"id": "H1", "type": "herb", "label": "Turmeric"}
    assert (constituent["id"], constituent["edge"], constituent["sources"]) == ("C9", "has_constituent", ["A flora"])
    led = {"edge": "treats", "sources": ["A review"], "pmids": ["17727691"]}
    assert indication == {"id": "I05", "type": "indication", "label": "Dyspepsia", **led}
    assert body["complete"] is True
    assert "warnings" not in body


def test_a_retracted_paper_is_flagged_where_it_stands_and_in_the_warnings(backends):
    body = asked(backends, "constituent", "6-gingerol", pattern="treats")
    assert body["paths"][0][1]["retracted"] == ["1"]
    assert body["warnings"] == ["PMID 1 was retracted: say so where you cite it."]
    assert body["complete"] is True


@pytest.mark.parametrize(
    ("type", "id", "paths"),
    [
        ("indication", "I05", ["I05 C9 H1", "I05 C9 H2 F1", "I05 H1"]),
        ("constituent", "C10", ["C10 I06"]),
        ("formulation", "F1", ["F1 H2 C10 I06", "F1 H2 C9 I05", "F1 H2 I06"]),
        ("drug", "warfarin", ["D1 H1"]),
    ],
)
def test_a_walk_starts_at_any_type_of_node(backends, type, id, paths):
    assert ids(asked(backends, type, id)) == paths


def test_a_step_backwards_is_marked(backends):
    (path, _) = asked(backends, "indication", "I05", pattern="^treats")["paths"]
    assert [node.get("edge") for node in path] == [None, "^treats"]


def test_the_depth_is_limited_by_the_call_and_a_pattern_may_be_longer_than_the_default(backends):
    assert ids(asked(backends, "herb", "H2", max_depth=1)) == ["H2 C10", "H2 C9", "H2 I06"]
    long = "herb>constituent>herb>constituent>indication"
    assert ids(asked(backends, "herb", "H1", pattern=long)) == ["H1 C9 H2 C10 I06"]
    refused = asked(backends, "herb", "H1", pattern=long, max_depth=3)
    assert refused["error"]["message"] == "pattern: it has 4 steps, and at most 3 are asked for"


@pytest.mark.parametrize(
    ("filters", "paths"),
    [
        ({"edges": ["treats"]}, ["H2 I06"]),
        ({"nodes": ["constituent"]}, ["H2 C10", "H2 C9"]),
        ({"sources": ["flora", "review"]}, ["H2 C10 I06", "H2 C9 I05", "H2 I06"]),
        ({"evidence": True}, []),
        ({"sources": ["?"]}, []),
        ({"to": "C9"}, ["H2 C9"]),
        ({"icd": "K30"}, ["H2 C9 I05"]),
        ({"to": "nausea"}, ["H2 C10 I06", "H2 I06"]),
    ],
)
def test_filters_narrow_the_paths(backends, filters, paths):
    assert ids(asked(backends, "herb", "H2", filters=filters)) == paths


def test_a_cap_says_what_it_left_out(backends):
    body = asked(backends, "herb", "H2", filters={"limit": 1})
    assert (ids(body), body["complete"], body["left_out"]) == (["H2 C10 I06"], False, 2)
    assert body["warnings"][:1] == [
        "2 further paths are left out. Give a pattern, filters, filters.limit or max_characters."
    ]


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ({"start": {"type": "herb", "id": "garlic"}}, "NOT_FOUND", "The graph has no herb 'garlic'"),
        ({"start": {"type": "herb", "id": "C9"}}, "INVALID_ARG", "'C9' is no herb here, but C9 (constituent Curcumin)"),
        ({"start": {"type": "plant", "id": "H1"}}, "INVALID_ARG", "start.type"),
        ({"start": {"type": "herb", "id": "H1"}, "pattern": "plant>x"}, "INVALID_ARG", "neither a node type"),
        ({"start": {"type": "herb", "id": "H1"}, "filters": {"edges": ["x"]}}, "INVALID_ARG", "'x' is no edge"),
        ({"start": {"type": "herb", "id": "H1"}, "filters": {"to": "ginger"}}, "INVALID_ARG", "may be any of D2"),
        ({"start": {"type": "herb", "id": "H1"}, "filters": {"limit": 501}}, "INVALID_ARG", "limit"),
        ({"start": {"type": "herb", "id": "H1"}, "filters": {"wrong": 1}}, "INVALID_ARG", "wrong"),
        ({"start": {"type": "herb", "id": "H1"}, "max_depth": 7}, "INVALID_ARG", "max_depth: at most 6"),
        ({"start": {"type": "herb", "id": "x" * 301}}, "INVALID_ARG", "start.id"),
    ],
)
def test_what_cannot_be_asked_is_refused_with_what_can(backends, arguments, code, message):
    error = call(query_kg, arguments, backends).body["error"]
    assert (error["code"], message in error["message"]) == (code, True), error


def test_a_herb_has_its_relations_with_their_sources(backends):
    body = read(herb, {"id": "H1"}, backends).body
    assert body["names"] == {"th": "ขมิ้นชัน", "en": "Turmeric", "la": "Curcuma longa"}
    assert (body["parts"], body["synonyms"], body["sources"]) == (
        ["rhizome"], ["Curcuma domestica"], ["A flora", "A review"],
    )  # fmt: skip
    assert body["constituents"] == [{"id": "C9", "name": "Curcumin", "sources": ["A flora"]}]
    cited = {"sources": ["A review"], "pmids": []}
    assert body["indications"] == [{"icdCode": "K30", "description": "Functional dyspepsia", "id": "I05", **cited}]
    assert body["relations"] == [{"edge": "interacts_with", "id": "D1", "type": "drug", "label": "Warfarin", **cited}]


def test_a_herb_is_read_by_a_name_too_and_says_what_contains_it(backends):
    body = read(herb, {"id": "Ginger"}, backends).body
    [containing, *_] = body["relations"]
    assert (body["id"], containing["edge"], containing["label"]) == ("H2", "^contains", "Ginger mixture")
    assert body["indications"][0]["description"] == "Nausea"  # its name, as it has no description


def test_a_herb_that_does_not_exist_and_what_is_none_are_distinguished(backends):
    assert read(herb, {"id": "H9"}, backends).body["error"]["code"] == "NOT_FOUND"
    assert read(herb, {"id": "C9"}, backends).body["error"]["code"] == "INVALID_ARG"


SYSTEMATIC = ("D000078182", "Systematic Review")


def corpus_of(*more):
    corpus = Corpus(article(REVIEW, "A review.", types=[SYSTEMATIC], year=2019))
    corpus.graph = ReferenceGraph(*sample_graph.NODES, *sample_graph.EDGES, *more)
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

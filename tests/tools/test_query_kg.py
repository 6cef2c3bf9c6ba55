"""query_kg and kg://herb/{id}, called as every door calls them."""

import pytest

from bio_mcp.call import call, read
from bio_mcp.literature.records import RetractionStatus
from bio_mcp.tools.kg import herb, query_kg
from tests.support.memory_corpus import Corpus, article
from tests.support.reference_graph import ReferenceGraph
from tests.support.small_graph import EDGES, NODES


@pytest.fixture(scope="module")
def backends():
    made = Corpus(article("17727691"), article("1", retraction=RetractionStatus.RETRACTED))
    made.graph = ReferenceGraph(*NODES, *EDGES)
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

from dataclasses import replace
from itertools import product

import pytest

from bio_mcp.errors import InvalidInput
from bio_mcp.graph.nodes import Edge, EdgeType, Evidence, Node, NodeType, merge_edges, merge_nodes

NODE = Node("H1", NodeType.HERB, {"en": "Turmeric"}, ("Curcuma",), ("rhizome",), None, "A herb.", ("A pharmacopoeia",))
OTHER = Node("H1", NodeType.HERB, {"th": "ขมิ้นชัน", "en": "turmeric"}, ("Curcuma domestica",), ("leaf", "rhizome"))
EDGE = Edge(EdgeType.TREATS, "H1", "I1", ("A",), (Evidence("1"),))


def test_what_both_say_of_a_node_is_there():
    synonyms = ("Curcuma", "Curcuma domestica", "Turmeric")
    both = replace(NODE, names={"en": "turmeric", "th": "ขมิ้นชัน"}, synonyms=synonyms, parts=("rhizome", "leaf"))
    assert merge_nodes(NODE, OTHER) == both


def test_a_correction_replaces_code_and_description():
    first = Node("I1", NodeType.INDICATION, {"en": "Dyspepsia"}, icd_code="R14", description="Wrong.")
    second = replace(first, icd_code="K30", description="Right.")
    assert merge_nodes(first, second) == second
    assert merge_nodes(second, Node("I1", NodeType.INDICATION, {"en": "Dyspepsia"})) == second


def test_a_synonym_that_becomes_a_name_is_no_synonym_any_more():
    merged = merge_nodes(NODE, replace(OTHER, names={"la": "Curcuma"}))
    assert merged.names == {"en": "Turmeric", "la": "Curcuma"}
    assert merged.synonyms == ("Curcuma domestica",)


def test_merging_the_same_again_changes_nothing():
    nodes = [NODE, OTHER, replace(NODE, names={"la": "Curcuma"}), replace(OTHER, description="Another.")]
    for stored, given in product(nodes, nodes):
        once = merge_nodes(stored, given)
        assert merge_nodes(once, given) == once
        assert merge_nodes(once, once) == once


def test_an_id_has_one_type():
    with pytest.raises(InvalidInput, match="H1 is a herb, and cannot be a drug too"):
        merge_nodes(NODE, replace(NODE, type=NodeType.DRUG))


def test_an_edge_has_the_sources_and_the_evidence_of_both_once():
    more = replace(EDGE, sources=("B", "A"), evidence=(Evidence("1"), Evidence("2", "It does.")))
    merged = merge_edges(EDGE, more)
    assert merged == replace(EDGE, sources=("A", "B"), evidence=(Evidence("1"), Evidence("2", "It does.")))
    assert merge_edges(merged, more) == merged == merge_edges(merged, EDGE)

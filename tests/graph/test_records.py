import json

import pytest

from bio_mcp.graph.nodes import Edge, EdgeType, Evidence, Node, NodeType, edge_of, node_of, to_record

NODE = Node(
    "H1",
    NodeType.HERB,
    {"en": "Turmeric", "th": "ขมิ้นชัน"},
    ("Curcuma",),
    ("rhizome",),
    "K30",
    "A herb.",
    ("A pharmacopoeia",),
)
EDGE = Edge(EdgeType.TREATS, "H1", "I1", ("A",), (Evidence("1"), Evidence("2", "It does."), Evidence(quote="So.")))


def test_a_node_is_written_as_an_import_file_has_it():
    assert to_record(NODE) == {
        "node": "herb",
        "id": "H1",
        "names": {"en": "Turmeric", "th": "ขมิ้นชัน"},
        "synonyms": ["Curcuma"],
        "parts": ["rhizome"],
        "icdCode": "K30",
        "description": "A herb.",
        "sources": ["A pharmacopoeia"],
    }
    assert to_record(Node("C1", NodeType.CONSTITUENT, {"en": "x"})) == {
        "node": "constituent",
        "id": "C1",
        "names": {"en": "x"},
    }


def test_an_edge_is_written_as_an_import_file_has_it():
    assert to_record(EDGE) == {
        "edge": "treats",
        "from": "H1",
        "to": "I1",
        "sources": ["A"],
        "evidence": [{"pmid": "1"}, {"pmid": "2", "quote": "It does."}, {"quote": "So."}],
    }


@pytest.mark.parametrize("node", [NODE, Node("C1", NodeType.CONSTITUENT, {"en": "x"})])
def test_a_node_comes_back_equal(node):
    assert node_of(json.loads(json.dumps(to_record(node)))) == node


@pytest.mark.parametrize("edge", [EDGE, Edge(EdgeType.CONTAINS, "F1", "H1", ("A",))])
def test_an_edge_comes_back_equal(edge):
    assert edge_of(json.loads(json.dumps(to_record(edge)))) == edge

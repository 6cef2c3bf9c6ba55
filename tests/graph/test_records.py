"""What a node or an edge is written as is read again, from the store and by the import."""

import json

import pytest

from bio_mcp.graph.lines import parse_line
from bio_mcp.graph.nodes import Edge, EdgeType, Evidence, Node, NodeType, edge_of, node_of, to_record

NAMES = {"en": "Turmeric", "th": "ขมิ้นชัน"}
NODE = Node("H1", NodeType.HERB, NAMES, ("Curcuma",), ("rhizome",), "K30", "A herb.", ("A pharmacopoeia",))
EDGE = Edge(EdgeType.TREATS, "H1", "I1", ("A",), (Evidence("1"), Evidence("2", "It does."), Evidence(quote="So.")))


@pytest.mark.parametrize("what", [NODE, Node("C1", NodeType.CONSTITUENT, {"en": "x"}), EDGE])
def test_what_is_written_comes_back_equal(what):
    line = json.dumps(to_record(what)).encode()
    read = node_of if isinstance(what, Node) else edge_of
    assert read(json.loads(line)) == parse_line(line) == what


def test_what_is_empty_is_not_written():
    assert to_record(Node("C1", NodeType.CONSTITUENT, {"en": "x"})) == {
        "node": "constituent", "id": "C1", "names": {"en": "x"},
    }  # fmt: skip

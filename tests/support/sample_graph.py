"""A small graph of things that do not exist, whose edges cite papers of the sample."""

import json
from pathlib import Path
from typing import Any

from bio_mcp.graph.nodes import Edge, EdgeType, Evidence, Node, NodeType, to_record

SOURCE = "made up for tests"
REVIEW, CASE_CONTROL, RETRACTED = "31129916", "17727691", "27602157"  # papers of the sample

HERB = Node("H1", NodeType.HERB, {"en": "Testwort", "th": "หญ้าทดสอบ", "la": "Testula vera"}, sources=(SOURCE,))
OTHER_HERB = Node("H2", NodeType.HERB, {"en": "Mockroot"}, ("Radix ficta",), ("root",), sources=(SOURCE,))
BARE_HERB = Node("H3", NodeType.HERB, {"en": "Plainleaf"}, sources=(SOURCE,))
MIXTURE = Node("F1", NodeType.FORMULATION, {"en": "Fictive Five"}, sources=(SOURCE,))
CONSTITUENT = Node("C1", NodeType.CONSTITUENT, {"en": "testin"}, ("α-testin",), sources=(SOURCE,))
ILLNESS = Node("I1", NodeType.INDICATION, {"en": "Imaginary cough"}, icd_code="R05", sources=(SOURCE,))
DRUG = Node("D1", NodeType.DRUG, {"en": "placebin"}, sources=(SOURCE,))
STATE = Node("X1", NodeType.CONTRAINDICATION, {"en": "Pregnancy", "th": "ตั้งครรภ์"}, sources=(SOURCE,))

NODES = [HERB, OTHER_HERB, BARE_HERB, MIXTURE, CONSTITUENT, ILLNESS, DRUG, STATE]


def edge(kind: EdgeType, first: Node, second: Node, *evidence: Evidence, source: str = SOURCE) -> Edge:
    return Edge(kind, first.node_id, second.node_id, (source,), evidence)


EDGES = [
    edge(EdgeType.HAS_CONSTITUENT, HERB, CONSTITUENT, Evidence(CASE_CONTROL)),
    edge(EdgeType.TREATS, CONSTITUENT, ILLNESS, Evidence(CASE_CONTROL)),
    edge(EdgeType.TREATS, HERB, ILLNESS),
    edge(EdgeType.CONTAINS, MIXTURE, HERB),
    edge(EdgeType.CONTAINS, MIXTURE, OTHER_HERB),
    edge(
        EdgeType.CONTRAINDICATED_WITH,
        HERB,
        STATE,
        Evidence(REVIEW, "Not in pregnancy."),
        Evidence(RETRACTED, "Never in pregnancy."),
    ),
    edge(EdgeType.INTERACTS_WITH, CONSTITUENT, DRUG, Evidence(CASE_CONTROL)),
    edge(EdgeType.INTERACTS_WITH, HERB, OTHER_HERB),
]


def write_graph(path: Path) -> Path:
    """Write the graph to a file for `bio-mcp kg import`."""
    path.write_text("\n".join(json.dumps(to_record(each)) for each in (*NODES, *EDGES)), encoding="utf-8")
    return path


def add_graph(backends: Any) -> None:
    """Put the graph into these backends."""
    backends.graph.put(NODES, EDGES)

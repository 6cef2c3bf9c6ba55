"""Nodes and edges as JSON: the form of an import file, in which they are stored too."""

from collections.abc import Mapping
from typing import Any

from bio_mcp.graph.nodes import Edge, EdgeType, Evidence, Node, NodeType

_NODE_TYPES = {each.value: each for each in NodeType}
_EDGE_TYPES = {each.value: each for each in EdgeType}


def to_record(what: Node | Edge) -> dict[str, Any]:
    """The JSON object of a node or an edge; what is empty is left out."""
    return _node_record(what) if isinstance(what, Node) else _edge_record(what)


def _node_record(node: Node) -> dict[str, Any]:
    fields = {
        "node": node.type.value,
        "id": node.node_id,
        "names": dict(node.names),
        "synonyms": list(node.synonyms),
        "parts": list(node.parts),
        "icdCode": node.icd_code,
        "description": node.description,
        "sources": list(node.sources),
    }
    return {key: value for key, value in fields.items() if value}


def _edge_record(edge: Edge) -> dict[str, Any]:
    fields = {
        "edge": edge.type.value,
        "from": edge.from_id,
        "to": edge.to_id,
        "sources": list(edge.sources),
        "evidence": [
            {key: value for key, value in (("pmid", each.pmid), ("quote", each.quote)) if value}
            for each in edge.evidence
        ],
    }
    return {key: value for key, value in fields.items() if value}


def node_of(record: Mapping[str, Any]) -> Node:
    """The node of its JSON object, which is not checked: `lines.parse` checks one that comes from a file."""
    return Node(
        node_id=record["id"],
        type=_NODE_TYPES[record["node"]],
        names=record["names"],
        synonyms=tuple(record.get("synonyms", ())),
        parts=tuple(record.get("parts", ())),
        icd_code=record.get("icdCode"),
        description=record.get("description"),
        sources=tuple(record.get("sources", ())),
    )


def edge_of(record: Mapping[str, Any]) -> Edge:
    """The edge of its JSON object, unchecked like `node_of`."""
    evidence = record.get("evidence", ())
    return Edge(
        type=_EDGE_TYPES[record["edge"]],
        from_id=record["from"],
        to_id=record["to"],
        sources=tuple(record["sources"]),
        evidence=tuple(Evidence(each.get("pmid"), each.get("quote")) for each in evidence),
    )

"""What was found in a document, as lines of the job's log: JSON objects, one a line."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from bio_mcp.extracting.findings import Findings, Mention, Statement
from bio_mcp.graph.nodes import Edge
from bio_mcp.graph.records import edge_of, to_record

CANDIDATES = 10  # of a name, that are listed


def as_lines(objects: Iterable[Mapping[str, Any]]) -> bytes:
    """The objects as JSON lines, equal for equal objects."""
    rows = (json.dumps(each, ensure_ascii=False, sort_keys=True, separators=(",", ":")) for each in objects)
    return "".join(f"{row}\n" for row in rows).encode("utf-8", "replace")


def read_lines(content: bytes) -> list[dict[str, Any]]:
    """The objects of JSON lines."""
    return [json.loads(row) for row in content.decode().split("\n") if row]


def found_lines(findings: Findings) -> Iterator[dict[str, Any]]:
    """Yield a line for each mention and each statement, what is not written of them too."""
    yield from map(_mention, findings.mentions)
    yield from map(_statement, findings.statements)


def edge_line(edge: Edge) -> dict[str, Any]:
    """The line for an edge that is written."""
    return {"write": "edge", **to_record(edge)}


def edges_of(lines: Iterable[Mapping[str, Any]]) -> Sequence[Edge]:
    """The edges that lines say are written."""
    return [edge_of(each) for each in lines if each.get("write") == "edge"]


def _mention(mention: Mention) -> dict[str, Any]:
    linked = mention.linked
    return {
        "mention": mention.text,
        "chars": [mention.start, mention.end],
        "section": mention.section,
        "denied": mention.denied,
        "candidates": [
            {"id": each.node.node_id, "type": each.node.type.value, "label": each.node.label, "by": each.name}
            for each in linked.candidates[:CANDIDATES]
        ],
        "reason": linked.reason,
        "certain": linked.certain,
    }


def _statement(statement: Statement) -> dict[str, Any]:
    return {
        "statement": statement.edge.value,
        "from": statement.from_id,
        "to": statement.to_id,
        "quote": statement.quote,
        "chars": [statement.start, statement.end],
        "problem": statement.problem,
    }

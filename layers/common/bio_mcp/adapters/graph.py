"""What every adapter of the port `Graph` says alike."""

import json
from collections.abc import Collection

from bio_mcp.errors import InvalidInput
from bio_mcp.graph.nodes import Edge, Node
from bio_mcp.graph.records import to_record

MOST_NAMED = 10  # ids in a message


def text_of(what: Node | Edge) -> str:
    """A node or an edge as it is stored; equal ones are one text."""
    return json.dumps(to_record(what), ensure_ascii=False, separators=(",", ":"))


def missing_nodes(node_ids: Collection[str]) -> InvalidInput:
    """The failure for edges whose nodes are neither given nor stored."""
    named = ", ".join(sorted(node_ids)[:MOST_NAMED])
    more = f" and {len(node_ids) - MOST_NAMED} more" if len(node_ids) > MOST_NAMED else ""
    return InvalidInput(f"These nodes of edges are neither given nor stored: {named}{more}")

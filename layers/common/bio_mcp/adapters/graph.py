"""What every adapter of the port `Graph` says alike."""

from collections.abc import Collection

from bio_mcp.errors import InvalidInput

MOST_NAMED = 10  # ids in a message


def missing_nodes(node_ids: Collection[str]) -> InvalidInput:
    """The failure for edges whose nodes are neither given nor stored."""
    named = ", ".join(sorted(node_ids)[:MOST_NAMED])
    more = f" and {len(node_ids) - MOST_NAMED} more" if len(node_ids) > MOST_NAMED else ""
    return InvalidInput(f"These nodes of edges are neither given nor stored: {named}{more}")

"""Which node of the graph somebody means, and what stands around it."""

from collections.abc import Collection
from dataclasses import dataclass

from bio_mcp.errors import InvalidInput, NotFound
from bio_mcp.graph.nodes import NODE_ID, Edge, EdgeType, Neighbours, Node, NodeType, Step
from bio_mcp.ports.graph import Graph

MOST_CANDIDATES = 20  # named in a message
MOST_RELATIONS = 500  # of a node by one type of edge
EVERY_STEP = tuple(Step(each, backwards) for each in EdgeType for backwards in (False, True))


@dataclass(frozen=True, slots=True)
class Relation:
    """An edge of a node, and the node at its other end."""

    edge: Edge
    node: Node

    @property
    def backwards(self) -> bool:
        """Whether the edge leads from the other node to this one."""
        return self.edge.from_id == self.node.node_id


def resolve(text: str, graph: Graph, type: NodeType | None = None) -> Node:
    """The node with this id, else the only one with this name in any language or spelling; of `type` if one is given.

    Raises `NotFound`, and `InvalidInput` that lists the candidates where a name has several or the type is another.
    """
    if NODE_ID.fullmatch(text) and (known := graph.nodes([text])):
        candidates = [known[text]]
    else:
        candidates = graph.named([text]).get(text, [])
    fitting = [each for each in candidates if type in (None, each.type)]
    if len(fitting) == 1:
        return fitting[0]
    if fitting:
        raise InvalidInput(
            f"{text!r} may be any of {_listed(fitting)}. Give the id of the one that you mean.",
            candidates=[_candidate(each) for each in fitting[:MOST_CANDIDATES]],
        )
    if candidates:
        raise InvalidInput(f"{text!r} is no {type} here, but {_listed(candidates)}.")
    raise NotFound(
        f"The graph has no {type or 'node'} {text[:100]!r}. Give an id, or a name in English, Thai or Latin; "
        "`bio-mcp kg import` brings further ones in."
    )


def _listed(nodes: list[Node]) -> str:
    named = ", ".join(f"{each.node_id} ({each.type} {each.label})" for each in nodes[:MOST_CANDIDATES])
    more = len(nodes) - MOST_CANDIDATES
    return f"{named} and {more} more" if more > 0 else named


def _candidate(node: Node) -> dict[str, str]:
    return {"id": node.node_id, "type": node.type.value, "label": node.label}


def relations(
    node: Node, graph: Graph, steps: Collection[Step] = EVERY_STEP, limit: int = MOST_RELATIONS
) -> tuple[list[Relation], int]:
    """The edges of `node` by `steps`, at most `limit` by each, and how many were left out."""
    at = graph.neighbours([node.node_id], steps, limit).get(node.node_id, Neighbours())
    others = [edge.to_id if edge.from_id == node.node_id else edge.from_id for edge in at.edges]
    nodes = graph.nodes(sorted(set(others)))
    return [Relation(edge, nodes[other]) for edge, other in zip(at.edges, others, strict=True)], at.left_out

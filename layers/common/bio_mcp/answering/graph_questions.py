"""Which node of the graph somebody means, and which paths lead from it."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from bio_mcp.deadline import Deadline
from bio_mcp.errors import InvalidInput, NotFound
from bio_mcp.graph.nodes import (
    BOTH_WAYS,
    MOST_HOPS,
    NODE_ID,
    Edge,
    EdgeType,
    Hop,
    Neighbours,
    Node,
    NodeType,
    Step,
    parse_pattern,
)
from bio_mcp.graph.paths import Filters, Walk, walk
from bio_mcp.ports.stores import Graph

MOST_CANDIDATES = 20  # named in a message
MOST_RELATIONS = 500  # of a node by one type of edge


@dataclass(frozen=True, slots=True)
class Relation:
    """An edge of a node, and the node at its other end. `backwards`: the edge leads from that one."""

    edge: Edge
    node: Node
    backwards: bool


def candidates_of(text: str, graph: Graph) -> list[Node]:
    """The node with this id, else those with this name in any language or spelling."""
    if NODE_ID.fullmatch(text) and (known := graph.nodes([text])):
        return [known[text]]
    return graph.named([text]).get(text, [])


def resolve(text: str, graph: Graph, type: NodeType | None = None) -> Node:
    """The node with this id, else the only one with this name in any language or spelling; of `type` if one is given.

    Raises `NotFound`, and `InvalidInput` that lists the candidates where a name has several or the type is another.
    """
    candidates = candidates_of(text, graph)
    fitting = [each for each in candidates if type in (None, each.type)]
    if len(fitting) == 1:
        return fitting[0]
    if fitting:
        raise InvalidInput(
            f"{text!r} may be any of {_listed(fitting)}. Give the id of the one that you mean.",
            candidates=[
                {"id": each.node_id, "type": each.type.value, "label": each.label} for each in fitting[:MOST_CANDIDATES]
            ],
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


def relations(node: Node, graph: Graph) -> tuple[list[Relation], int]:
    """The edges of `node`, at most `MOST_RELATIONS` of each type, and how many were left out."""
    at = graph.neighbours([node.node_id], BOTH_WAYS, MOST_RELATIONS).get(node.node_id, Neighbours())
    others = [edge.to_id if edge.from_id == node.node_id else edge.from_id for edge in at.edges]
    nodes = graph.nodes(sorted(set(others)))
    pairs = zip(at.edges, others, strict=True)
    return [Relation(edge, nodes[other], edge.from_id == other) for edge, other in pairs], at.left_out


@dataclass(frozen=True, slots=True)
class ByConstituent:
    """A herb that has a constituent, and the statement about that constituent."""

    herb: Relation
    stated: Relation


def by_constituent(stated: Sequence[Relation], graph: Graph) -> tuple[list[ByConstituent], int]:
    """The herbs that have the constituents at the other ends of these edges, by name, at most `MOST_RELATIONS` of each,
    and how many were left out."""
    of = [each for each in stated if each.node.type is NodeType.CONSTITUENT]
    having = [Step(EdgeType.HAS_CONSTITUENT, backwards=True)]
    found = graph.neighbours(sorted({each.node.node_id for each in of}), having, MOST_RELATIONS) if of else {}
    herbs = graph.nodes(sorted({edge.from_id for at in found.values() for edge in at.edges}))
    reached = [
        ByConstituent(Relation(edge, herbs[edge.from_id], True), each)
        for each in of
        for edge in found.get(each.node.node_id, Neighbours()).edges
    ]
    ordered = sorted(reached, key=lambda each: (each.herb.node.label.casefold(), each.herb.node.node_id))
    return ordered, sum(at.left_out for at in found.values())


DEPTH = 3
PATHS, MOST_PATHS = 100, 500
ANYTHING = Filters()
SINKS = frozenset({NodeType.INDICATION, NodeType.DRUG, NodeType.CONTRAINDICATION})


def find_paths(
    start: Node,
    graph: Graph,
    deadline: Deadline,
    *,
    pattern: str | None = None,
    depth: int | None = None,
    filters: Filters = ANYTHING,
    limit: int = PATHS,
) -> Walk:
    """The paths from `start` along `pattern`, of at most `depth` edges.

    Without a pattern they go as far as edges lead, in their direction; from an indication, a drug or a
    contraindication, where edges end, against it. Raises `InvalidInput` for a pattern that does not fit.
    """
    if depth and depth > MOST_HOPS:
        raise InvalidInput(f"at most {MOST_HOPS}", field="max_depth")
    steps = tuple(Step(each, backwards=start.type in SINKS) for each in EdgeType)
    hops = _hops(start, pattern, depth) if pattern else (Hop(steps),) * (depth or DEPTH)

    def neighbours(node_ids: Sequence[str], steps: Collection[Step], most: int) -> Mapping[str, Neighbours]:
        deadline.check("walking the graph")
        return graph.neighbours(node_ids, steps, most)

    return walk(start, hops, neighbours, graph.nodes, filters=filters, limit=limit, whole=bool(pattern))


def _hops(start: Node, text: str, depth: int | None) -> tuple[Hop, ...]:
    pattern = parse_pattern(text)
    if pattern.start not in (None, start.type):
        raise InvalidInput(f"it starts at a {pattern.start}, and {start.node_id} is a {start.type}", field="pattern")
    if depth and len(pattern.hops) > depth:
        raise InvalidInput(f"it has {len(pattern.hops)} steps, and at most {depth} are asked for", field="pattern")
    return pattern.hops

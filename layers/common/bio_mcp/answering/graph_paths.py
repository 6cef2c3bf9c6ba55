"""Questions to the graph: paths from a node."""

from collections.abc import Collection, Mapping, Sequence

from bio_mcp.deadline import Deadline
from bio_mcp.errors import InvalidInput
from bio_mcp.graph.nodes import EdgeType, Neighbours, Node, NodeType, Step
from bio_mcp.graph.paths import Filters, Walk, walk
from bio_mcp.graph.patterns import MOST_HOPS, Hop, parse_pattern
from bio_mcp.ports.graph import Graph

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
        raise InvalidInput(f"max_depth: at most {MOST_HOPS}")
    hops = _hops(start, pattern, depth) if pattern else _everywhere(start, depth or DEPTH)

    def neighbours(node_ids: Sequence[str], steps: Collection[Step], most: int) -> Mapping[str, Neighbours]:
        deadline.check("walking the graph")
        return graph.neighbours(node_ids, steps, most)

    return walk(start, hops, neighbours, graph.nodes, filters=filters, limit=limit, whole=bool(pattern))


def _hops(start: Node, text: str, depth: int | None) -> tuple[Hop, ...]:
    pattern = parse_pattern(text)
    if pattern.start not in (None, start.type):
        raise InvalidInput(f"pattern: it starts at a {pattern.start}, and {start.node_id} is a {start.type}")
    if depth and len(pattern.hops) > depth:
        raise InvalidInput(f"pattern: it has {len(pattern.hops)} steps, and max_depth allows {depth}")
    return pattern.hops


def _everywhere(start: Node, depth: int) -> tuple[Hop, ...]:
    backwards = start.type in SINKS
    return (Hop(tuple(Step(each, backwards) for each in EdgeType)),) * depth

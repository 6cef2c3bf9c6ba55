"""Patterns of paths: node types and edge names joined by `>`, as `herb>constituent>indication` or `^treats`."""

from dataclasses import dataclass

from bio_mcp.errors import InvalidInput
from bio_mcp.graph.nodes import EdgeType, NodeType, Step

MOST_HOPS = 6
LONGEST = 300  # characters

BOTH_WAYS = tuple(Step(each, backwards) for each in EdgeType for backwards in (False, True))
NODE_TYPES = tuple(each.value for each in NodeType)
EDGE_TYPES = tuple(each.value for each in EdgeType)


@dataclass(frozen=True, slots=True)
class Hop:
    """One edge of a path: by any of `steps`, to a node of type `to` where one is named."""

    steps: tuple[Step, ...]
    to: NodeType | None = None


@dataclass(frozen=True, slots=True)
class Pattern:
    """The hops of a path, and the type of the node that it starts at, where one is named."""

    start: NodeType | None
    hops: tuple[Hop, ...]


def parse_pattern(text: str) -> Pattern:
    """Read a pattern.

    A node type after another is reached by any edge, in either direction; after an edge it is what that edge leads to.
    An edge is walked in its direction, with `^` before it against it. Raises `InvalidInput` that names the choices.
    """
    if len(text) > LONGEST:
        raise InvalidInput(f"pattern: at most {LONGEST} characters")
    words = [each.strip().lower() for each in text.split(">")]
    start = NodeType(words.pop(0)) if words[0] in NODE_TYPES else None
    hops: list[Hop] = []
    for before, word in zip([start, *words], words, strict=False):
        hop = _hop(word)
        if hop.to and before not in (*NODE_TYPES, None):
            hop = Hop(hops.pop().steps, hop.to)
        hops.append(hop)
    if not 1 <= len(hops) <= MOST_HOPS:
        raise InvalidInput(f"pattern: it has {len(hops)} steps; give 1 to {MOST_HOPS}, as herb>constituent>indication")
    return Pattern(start, tuple(hops))


def _hop(word: str) -> Hop:
    if word in NODE_TYPES:
        return Hop(BOTH_WAYS, NodeType(word))
    if word.removeprefix("^") in EDGE_TYPES:
        return Hop((Step(EdgeType(word.removeprefix("^")), word.startswith("^")),))
    raise InvalidInput(
        f"pattern: {word[:40]!r} is neither a node type ({', '.join(NODE_TYPES)}) nor an edge "
        f"({', '.join(EDGE_TYPES)}; ^ before it walks it backwards)"
    )


def node_type(name: str) -> NodeType:
    """The node type of this name. Raises `InvalidInput` that names them all."""
    if name not in NODE_TYPES:
        raise InvalidInput(f"{name[:40]!r} is no node type; there are {', '.join(NODE_TYPES)}")
    return NodeType(name)


def edge_type(name: str) -> EdgeType:
    """The edge type of this name. Raises `InvalidInput` that names them all."""
    if name not in EDGE_TYPES:
        raise InvalidInput(f"{name[:40]!r} is no edge; there are {', '.join(EDGE_TYPES)}")
    return EdgeType(name)

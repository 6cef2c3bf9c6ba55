"""What becomes of a node or an edge that is stored already. Merging the same again changes nothing."""

from collections.abc import Iterable
from dataclasses import replace
from typing import TypeVar

from bio_mcp.errors import InvalidInput
from bio_mcp.graph.nodes import Edge, Node

T = TypeVar("T")


def merge_nodes(stored: Node | None, given: Node) -> Node:
    """The node with all that both say. What `given` says of a name, the code or the description replaces what is
    stored; a name that is replaced becomes a synonym.

    Raises `InvalidInput` if the types differ.
    """
    if stored is None:
        return given
    if stored.type != given.type:
        raise InvalidInput(
            f"{given.node_id} is a {stored.type}, and cannot be a {given.type} too: give one of them another id"
        )
    names = {**stored.names, **given.names}
    replaced = [each for each in stored.names.values() if each not in names.values()]
    synonyms = _all(stored.synonyms, given.synonyms, replaced)
    return replace(
        given,
        names=names,
        synonyms=tuple(each for each in synonyms if each not in names.values()),
        parts=_all(stored.parts, given.parts),
        icd_code=given.icd_code or stored.icd_code,
        description=given.description or stored.description,
        sources=_all(stored.sources, given.sources),
    )


def merge_edges(stored: Edge | None, given: Edge) -> Edge:
    """The edge with the sources and the evidence of both."""
    if stored is None:
        return given
    return replace(given, sources=_all(stored.sources, given.sources), evidence=_all(stored.evidence, given.evidence))


def _all(*lists: Iterable[T]) -> tuple[T, ...]:
    """What the lists have, once, in the order in which it comes first."""
    return tuple(dict.fromkeys(each for listed in lists for each in listed))

"""Where the graph of herbs, constituents and indications is stored."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Protocol

from bio_mcp.graph.nodes import Edge, Neighbours, Node, Step


class Graph(Protocol):
    """Nodes by id, and edges from both of their ends. Every method may raise `StoreFailed`.

    A name is compared as `graph.names.fold_name` folds it: without case, accents, marks of length and punctuation.
    """

    def put(self, nodes: Sequence[Node], edges: Sequence[Edge]) -> None:
        """Add nodes and edges; one that is stored is merged with it as `graph.merging` says, so that none is lost.

        Edges are stored after their nodes. Raises `InvalidInput` for an edge whose nodes are neither given nor stored;
        nothing is written then.
        """
        ...

    def nodes(self, node_ids: Sequence[str]) -> dict[str, Node]:
        """Return those nodes that exist, by id; unknown ids are absent."""
        ...

    def neighbours(self, node_ids: Sequence[str], steps: Collection[Step], limit: int) -> dict[str, Neighbours]:
        """Return the edges that may be walked from each node, at most `limit` by each of `steps`.

        They are in the order of their type, direction (forwards first) and the id of the other node. A node without any
        is absent. Never reads more than the nodes asked for.
        """
        ...

    def named(self, names: Sequence[str]) -> dict[str, list[Node]]:
        """Return the nodes that have each name, or a synonym that folds to it, by id; unknown names are absent."""
        ...

    def names(self) -> Iterator[tuple[str, Node]]:
        """Yield every name and synonym as it is written, with its node."""
        ...

    def revision(self) -> str:
        """Return a token that changes whenever a node or an edge does; "" for an empty graph."""
        ...

    def count(self) -> Mapping[str, int]:
        """Return how many nodes and edges there are, by type; a type without any is absent."""
        ...

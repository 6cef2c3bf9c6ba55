"""What is the installation's own, as its tenants may use it: they read its graph, and none of its files."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

from bio_mcp.errors import Forbidden
from bio_mcp.graph.nodes import Edge, Neighbours, Node, Step
from bio_mcp.graph.provenance import without_documents
from bio_mcp.ports.graph import Graph
from bio_mcp.ports.sources import SourceFile, Sources

_WEB = re.compile("https:", re.IGNORECASE)
NO_FILES = "source: tenants read documents from https addresses; files, buckets and Zotero are this installation's own"
NO_EDGES = "the graph is everybody's, and a tenant's documents are not: ingest them by ingest_from_source"


class GraphForTenants:
    """The port `Graph`, read only, without what documents of projects state."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph

    def put(self, nodes: Sequence[Node], edges: Sequence[Edge]) -> None:  # noqa: ARG002  the form of the port
        raise Forbidden(NO_EDGES)

    def nodes(self, node_ids: Sequence[str]) -> dict[str, Node]:
        return self._graph.nodes(node_ids)

    def neighbours(self, node_ids: Sequence[str], steps: Collection[Step], limit: int) -> dict[str, Neighbours]:
        found = self._graph.neighbours(node_ids, steps, limit)
        public = {node_id: replace(each, edges=_vouched(each.edges)) for node_id, each in found.items()}
        return {node_id: each for node_id, each in public.items() if each.edges or each.left_out}

    def named(self, names: Sequence[str]) -> dict[str, list[Node]]:
        return self._graph.named(names)

    def names(self) -> Iterator[tuple[str, Node]]:
        return self._graph.names()

    def revision(self) -> str:
        return self._graph.revision()

    def count(self) -> Mapping[str, int]:
        return self._graph.count()


def _vouched(edges: Sequence[Edge]) -> tuple[Edge, ...]:
    """The edges that something else than documents of projects states. Where these say so too, the evidence is left
    out, as it may be theirs."""
    public = ((each, without_documents(each.sources)) for each in edges)
    return tuple(
        each if sources == each.sources else replace(each, sources=sources, evidence=())
        for each, sources in public
        if sources
    )


class SourcesForTenants:
    """The port `Sources`, with addresses of the web alone, unless the user of this machine asks."""

    def __init__(self, sources: Sources) -> None:
        self._sources = sources

    def locate(self, source: str, *, local: bool) -> str:
        _check(source, local=local)
        return self._sources.locate(source, local=local)

    def files(self, location: str, *, local: bool) -> list[SourceFile]:
        _check(location, local=local)
        return self._sources.files(location, local=local)

    def read(self, address: str, *, local: bool) -> bytes:
        _check(address, local=local)
        return self._sources.read(address, local=local)


def _check(source: str, *, local: bool) -> None:
    if not (local or _WEB.match(source)):
        raise Forbidden(NO_FILES)

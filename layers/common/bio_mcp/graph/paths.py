"""Paths through the graph: along a pattern, or as far as edges lead. Bounded, without cycles, always in one order."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from bio_mcp.graph.nodes import Edge, EdgeType, Hop, Neighbours, Node, NodeType, Step, fold_name

EDGES_READ = 1_200  # of a walk, after which it stops
EDGES_TRIED = 10_000  # of a walk: an edge counts for each path that it could prolong
AT_ONCE = 16  # nodes whose edges are read together
LEAST_READ = 50  # edges of a node by one step, however few a walk may still read

_folded = lru_cache(maxsize=4_096)(fold_name)  # sources, which many edges share

ReadNeighbours = Callable[[Sequence[str], Collection[Step], int], Mapping[str, Neighbours]]
ReadNodes = Callable[[Sequence[str]], Mapping[str, Node]]


@dataclass(frozen=True, slots=True)
class Filters:
    """Which edges and nodes a path may have, and where it may end. Empty: any.

    `sources`: an edge needs a source with one of these words; `evidence`: and a paper or a quotation. `icd_prefix`
    is compared with the code of the last node, `to` with its id.
    """

    edges: frozenset[EdgeType] = frozenset()
    nodes: frozenset[NodeType] = frozenset()
    sources: tuple[str, ...] = ()
    evidence: bool = False
    icd_prefix: str = ""
    to: str | None = None

    def admits(self, edge: Edge, node: Node) -> bool:
        words = [folded for each in self.sources if (folded := _folded(each))]
        return (
            (not self.edges or edge.type in self.edges)
            and (not self.nodes or node.type in self.nodes)
            and (not self.evidence or bool(edge.evidence))
            and (not self.sources or any(each in _folded(source) for source in edge.sources for each in words))
        )


@dataclass(frozen=True, slots=True)
class Visit:
    """A node of a path, and the edge that led to it; none led to the first."""

    node: Node
    edge: Edge | None = None

    @property
    def backwards(self) -> bool:
        """Whether the edge was walked against its direction."""
        return self.edge is not None and self.edge.to_id != self.node.node_id


Path = tuple[Visit, ...]


@dataclass(frozen=True, slots=True)
class Walk:
    """The first paths, and what was left out: how many `further` ones were found, by node how many of its edges were
    not looked at, and whether the walk `stopped` before it had tried everything else."""

    paths: tuple[Path, ...]
    further: int = 0
    unread: Mapping[str, int] = field(default_factory=dict)
    stopped: bool = False

    @property
    def complete(self) -> bool:
        """Whether these are all paths that there are."""
        return not (self.further or self.unread or self.stopped)


class _Exhausted(Exception):
    """The walk may not try further edges."""


class _Walker:
    """A walk in progress. What it reads of a node, it reads once for each hop."""

    def __init__(
        self, neighbours: ReadNeighbours, nodes: ReadNodes, hops: Sequence[Hop], filters: Filters, *, whole: bool
    ) -> None:
        self._read_neighbours, self._read_nodes = neighbours, nodes
        self._hops, self._filters, self._whole = hops, filters, whole
        self._edges: dict[tuple[str, int], tuple[Edge, ...]] = {}
        self._nodes: dict[str, Node] = {}
        self._read = self._tried = 0
        self.unread: dict[str, int] = {}

    def ended(self, paths: Sequence[Path], done: int = 0) -> Iterator[Path]:
        """Yield what the rest of the hops make of `paths`, which have `done` of them, in their order."""
        for first in range(0, len(paths), AT_ONCE):
            batch = paths[first : first + AT_ONCE]
            ends = [path[-1].node.node_id for path in batch]
            self._fetch([each for each in ends if each != self._filters.to], done)
            for path in batch:
                longer = list(self._longer(path, done))
                if longer and done + 1 < len(self._hops):
                    yield from self.ended(longer, done + 1)
                else:
                    yield from longer or ([] if self._whole else [path])

    def _longer(self, path: Path, done: int) -> Iterator[Path]:
        visited = {visit.node.node_id for visit in path}
        here, to = path[-1].node.node_id, self._hops[done].to
        if here == self._filters.to:  # nothing longer ends there
            return
        for edge in self._edges[here, done]:
            self._tried += 1
            if self._tried > EDGES_TRIED:
                raise _Exhausted
            node = self._nodes[edge.from_id if edge.to_id == here else edge.to_id]
            if node.node_id not in visited and to in (None, node.type) and self._filters.admits(edge, node):
                yield (*path, Visit(node, edge))

    def _fetch(self, node_ids: Sequence[str], done: int) -> None:
        wanted = [each for each in dict.fromkeys(node_ids) if (each, done) not in self._edges]
        if not wanted:
            return
        if self._read >= EDGES_READ:
            raise _Exhausted
        rest = (EDGES_READ - self._read) // (len(self._hops) - done)  # further hops have their share
        limit = max(LEAST_READ, rest // len(wanted))
        found = self._read_neighbours(wanted, self._hops[done].steps, limit)
        for each in wanted:
            at = found.get(each, Neighbours())
            self._edges[each, done] = at.edges
            self._read += len(at.edges)
            if at.left_out:
                self.unread[each] = self.unread.get(each, 0) + at.left_out
        ends = {end for at in found.values() for edge in at.edges for end in (edge.from_id, edge.to_id)}
        self._nodes |= self._read_nodes(sorted(ends - self._nodes.keys()))


def walk(
    start: Node,
    hops: Sequence[Hop],
    neighbours: ReadNeighbours,
    nodes: ReadNodes,
    *,
    filters: Filters,
    limit: int,
    whole: bool,
) -> Walk:
    """The first `limit` paths from `start` by `hops`, in the order of their edges; no path visits a node twice.

    `whole`: a path needs all hops; otherwise it goes as far as it can, and ends earlier where `filters.to` is reached.
    """
    walker = _Walker(neighbours, nodes, hops, filters, whole=whole)
    paths: list[Path] = []
    further, stopped, prefix = 0, False, filters.icd_prefix.upper()
    try:
        for path in walker.ended([(Visit(start),)]):
            end = path[-1].node
            ends = filters.to in (None, end.node_id) and (end.icd_code or "").upper().startswith(prefix)
            if len(path) > 1 and ends:
                further += len(paths) == limit
                paths += [path] * (len(paths) < limit)
    except _Exhausted:
        stopped = True
    return Walk(tuple(paths), further, walker.unread, stopped)

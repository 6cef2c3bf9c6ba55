"""Bring nodes and edges of a file into the graph: all of them, or none where one of them is wrong."""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import islice
from tempfile import TemporaryFile
from typing import IO, Any, TypeVar

from bio_mcp.errors import InvalidInput
from bio_mcp.graph.nodes import Edge, Node, NodeType
from bio_mcp.graph.records import edge_of, node_of, to_record
from bio_mcp.ingesting.graph_files import Item
from bio_mcp.ports.graph import Graph
from bio_mcp.progress import Progress, silent

Stored = TypeVar("Stored", Node, Edge)

AT_ONCE = 20_000  # nodes and edges of a write, which the laptop's store does as a whole or not at all
LOOKED_UP = 1_000  # nodes at once
MOST_PROBLEMS = 20  # that are named
MOST_ITEMS = 5_000_000  # of a file


@dataclass(frozen=True, slots=True)
class GraphImport:
    """How many nodes and edges a file had, lines that say the same included, and whether they changed the graph."""

    nodes: int
    edges: int
    changed: bool


@dataclass(slots=True)
class _Checked:
    """What a file says, without what it takes to say it: the types of its nodes, and the nodes that its edges need.

    Lines are numbers; `problems` has the first ones, and `wrong` counts them all.
    """

    types: dict[str, tuple[NodeType, int]] = field(default_factory=dict)
    needed: dict[str, int] = field(default_factory=dict)
    nodes: int = 0
    edges: int = 0
    problems: list[tuple[int, str]] = field(default_factory=list)
    wrong: int = 0

    def problem(self, line: int, why: str) -> None:
        """Count a line that is wrong."""
        self.wrong += 1
        if len(self.problems) < MOST_PROBLEMS:
            self.problems.append((line, why))


def import_graph(
    items: Iterable[Item],
    graph: Graph,
    progress: Progress = silent,
    *,
    at_once: int = AT_ONCE,
    most: int = MOST_ITEMS,
) -> GraphImport:
    """Check every item, then write them all; importing twice changes nothing.

    Nodes come before edges, `at_once` of each in a write: an import that is killed between two leaves whole nodes
    and edges, and is completed by the same import again. `progress` counts what is written. Raises `InvalidInput` with
    the lines that are wrong, and has then written nothing.
    """
    before = graph.revision()
    with ExitStack() as files:
        nodes, edges = (files.enter_context(TemporaryFile("w+", encoding="utf-8")) for _ in range(2))
        checked = _check(items, nodes, edges, most)
        _check_against(graph, checked)
        if checked.wrong:
            raise _refusal(checked)
        done = 0
        for page in _writes(_stored(nodes, node_of), _stored(edges, edge_of), at_once):
            graph.put(*page)
            done += len(page[0]) + len(page[1])
            progress(done, checked.nodes + checked.edges, "")
    return GraphImport(checked.nodes, checked.edges, graph.revision() != before)


def _check(items: Iterable[Item], nodes: IO[str], edges: IO[str], most: int) -> _Checked:
    """Check items by themselves, and set them aside in the files."""
    checked = _Checked()
    for line, item in items:
        if isinstance(item, InvalidInput):
            checked.problem(line, str(item))
        elif isinstance(item, Node):
            _check_node(checked, line, item)
            _set_aside(nodes, item)
        else:
            checked.edges += 1
            checked.needed.setdefault(item.from_id, line)
            checked.needed.setdefault(item.to_id, line)
            _set_aside(edges, item)
        if checked.nodes + checked.edges > most:
            raise InvalidInput(f"The file has more than {most:,} nodes and edges; split it.")
    if not (checked.nodes or checked.edges or checked.wrong):
        raise InvalidInput("The file has no node and no edge.")
    return checked


def _check_node(checked: _Checked, line: int, node: Node) -> None:
    checked.nodes += 1
    type, first = checked.types.setdefault(node.node_id, (node.type, line))
    if type != node.type:
        checked.problem(line, f"{node.node_id} is a {node.type} here, and a {type} in line {first}")


def _set_aside(file: IO[str], item: Node | Edge) -> None:
    file.write(json.dumps(to_record(item)) + "\n")


def _check_against(graph: Graph, checked: _Checked) -> None:
    """Check that nodes have the type that they are stored with, and that edges have both of their nodes."""
    missing = {each: line for each, line in checked.needed.items() if each not in checked.types}
    for page in _pages([*checked.types, *missing], LOOKED_UP):
        stored = graph.nodes(page)
        for each in page:
            node = stored.get(each)
            if each in missing and not node:
                checked.problem(missing[each], f"{each} is a node of neither this file nor the graph")
            elif node and each in checked.types and node.type != checked.types[each][0]:
                type, line = checked.types[each]
                checked.problem(line, f"{each} is a {type} here, and a {node.type} in the graph: use another id")


def _refusal(checked: _Checked) -> InvalidInput:
    problems = sorted(checked.problems)
    first, why = problems[0]
    others = checked.wrong - 1
    more = f" {others:,} more line{' is' if others == 1 else 's are'} wrong." if others else ""
    return InvalidInput(
        f"Line {first}: {why}.{more} Nothing was imported.",
        problems=[{"line": line, "problem": each} for line, each in problems],
        wrong=checked.wrong,
    )


def _writes(nodes: Iterator[Node], edges: Iterator[Edge], size: int) -> Iterator[tuple[list[Node], list[Edge]]]:
    """Yield what is written at once: all nodes before the first edge, but for the last nodes, which come with edges."""
    page = list(islice(nodes, size))
    while following := list(islice(nodes, size)):
        yield page, []
        page = following
    first_edges = list(islice(edges, size))
    while page or first_edges:
        yield page, first_edges
        page, first_edges = [], list(islice(edges, size))


def _stored(file: IO[str], read: Callable[[dict[str, Any]], Stored]) -> Iterator[Stored]:
    file.seek(0)
    return (read(json.loads(line)) for line in file)


def _pages(values: Sequence[str], size: int) -> Iterator[Sequence[str]]:
    return (values[first : first + size] for first in range(0, len(values), size))

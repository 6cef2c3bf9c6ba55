"""Importing nodes and edges: all of a file, or nothing."""

from dataclasses import replace
from itertools import count

import pytest

from bio_mcp.adapters.embedded.database import Database
from bio_mcp.adapters.embedded.graph import SqliteGraph
from bio_mcp.errors import InvalidInput, StoreFailed
from bio_mcp.graph.nodes import Edge, EdgeType, Node, NodeType
from bio_mcp.ingesting.graph_import import GraphImport, import_graph
from tests.support.hooked import Hooked, at, raising
from tests.support.reference_graph import ReferenceGraph
from tests.support.small_graph import EDGES, NODES

HERB, DRUG = NODES[0], NODES[6]


def items(*content):
    return list(zip(count(1), content))


def watched(graph, failing=()):
    """A graph that fails at writes of these numbers, and how many nodes and edges each other one had."""
    writes = []
    fail = at(failing, raising(StoreFailed, "full"))
    hooks = {"before": fail, "after": lambda nodes, edges: writes.append((len(nodes), len(edges)))}
    return Hooked(graph, "put", **hooks), writes


@pytest.mark.parametrize("at_once", [1, 3, 20_000])
@pytest.mark.parametrize("content", [(*EDGES, *NODES), (*NODES, *EDGES)], ids=["edges first", "nodes first"])
def test_everything_is_written_once_nodes_before_edges_and_no_more_at_once_than_allowed(content, at_once):
    graph, writes = watched(ReferenceGraph())
    report = import_graph(items(*content), graph, at_once=at_once)
    assert report == GraphImport(len(NODES), len(EDGES), changed=True)
    assert graph.nodes([each.node_id for each in NODES]) == {each.node_id: each for each in NODES}
    assert sum(graph.count().values()) == len(NODES) + len(EDGES)
    assert all(nodes <= at_once and edges <= at_once for nodes, edges in writes)
    with_edges = [n for n, (_, edges) in enumerate(writes) if edges]
    assert all(nodes == 0 for nodes, _ in writes[with_edges[0] + 1 :])
    again = import_graph(items(*content), graph, at_once=at_once)
    assert again == GraphImport(len(NODES), len(EDGES), changed=False)


def test_an_import_that_broke_off_is_completed_by_the_next():
    graph, _ = watched(ReferenceGraph(), failing={4})
    with pytest.raises(StoreFailed):
        import_graph(items(*NODES, *EDGES), graph, at_once=4)
    import_graph(items(*NODES, *EDGES), graph)
    assert graph.count() == ReferenceGraph(*NODES, *EDGES).count()


@pytest.mark.parametrize(
    ("content", "problems"),
    [
        (
            (HERB, InvalidInput("it is no JSON"), DRUG, InvalidInput("names: an object")),
            [(2, "it is no JSON"), (4, "names: an object")],
        ),
        ((HERB, replace(HERB, type=NodeType.DRUG)), [(2, "H1 is a drug here, and a herb in line 1")]),
        (
            (HERB, Edge(EdgeType.TREATS, "H1", "I9", ("x",)), Edge(EdgeType.TREATS, "H8", "H1", ("x",))),
            [
                (2, "I9 is a node of neither this file nor the graph"),
                (3, "H8 is a node of neither this file nor the graph"),
            ],
        ),
        (
            (HERB, replace(DRUG, node_id="C9")),
            [(2, "C9 is a drug here, and a constituent in the graph: use another id")],
        ),
    ],
)
def test_what_is_wrong_is_named_by_its_line_and_nothing_is_written(content, problems):
    graph, writes = watched(ReferenceGraph(NODES[2]))
    with pytest.raises(InvalidInput) as refused:
        import_graph(items(*content), graph)
    assert writes == []
    assert refused.value.details == {
        "problems": [{"line": line, "problem": why} for line, why in problems],
        "wrong": len(problems),
    }
    others = {1: "", 2: " 1 more line is wrong."}[len(problems)]
    assert str(refused.value) == f"Line {problems[0][0]}: {problems[0][1]}.{others} Nothing was imported."


def test_of_many_wrong_lines_the_first_are_named():
    with pytest.raises(InvalidInput, match=r"Line 1: bad\. 29 more lines are wrong") as refused:
        import_graph(items(*[InvalidInput("bad")] * 30), ReferenceGraph())
    assert [each["line"] for each in refused.value.details["problems"]] == list(range(1, 21))


def test_an_edge_may_need_nodes_that_are_stored():
    graph = ReferenceGraph(*NODES)
    assert import_graph(items(*EDGES), graph).changed


def test_a_file_that_breaks_off_writes_nothing():
    def broken():
        yield from items(*NODES)
        raise InvalidInput("The archive is damaged or cut short.")

    graph, writes = watched(ReferenceGraph())
    with pytest.raises(InvalidInput, match="damaged"):
        import_graph(broken(), graph)
    assert writes == []


def test_an_empty_file_is_none():
    with pytest.raises(InvalidInput, match="no node and no edge"):
        import_graph([], ReferenceGraph())


def test_a_failed_write_of_the_laptops_store_leaves_nothing_of_it(tmp_path, closed):
    database = closed(Database(tmp_path))
    with database.reading() as connection:
        connection.execute("PRAGMA max_page_count = 40")
    graph = SqliteGraph(database)
    many = [Node(f"H{n}", NodeType.HERB, {"en": "x" * 400 + str(n)}) for n in range(2_000)]
    with pytest.raises(StoreFailed):
        import_graph(items(*many), graph)
    assert (graph.count(), graph.revision()) == ({}, "")

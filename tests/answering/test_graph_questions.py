import pytest

from bio_mcp.answering.graph_questions import find_paths, relations, resolve
from bio_mcp.deadline import NEVER, Deadline
from bio_mcp.errors import DeadlineExceeded, InvalidInput, NotFound
from bio_mcp.graph.nodes import Node, NodeType
from tests.support.reference_graph import ReferenceGraph
from tests.support.small_graph import (
    CURCUMIN,
    DYSPEPSIA,
    EDGES,
    GINGER,
    GINGER_ALE,
    GINGER_DRUG,
    NODES,
    TURMERIC,
)

GRAPH = ReferenceGraph(*NODES, *EDGES)


@pytest.mark.parametrize("text", ["H1", "turmeric", "CURCUMA LONGA", "curcúma doméstica", "ขมิ้นชัน"])
def test_a_node_is_meant_by_its_id_or_any_name(text):
    assert resolve(text, GRAPH) == TURMERIC


def test_an_id_comes_before_a_name():
    named_so = Node("X1", NodeType.DRUG, {"en": "H1"})
    assert resolve("H1", ReferenceGraph(*NODES, named_so)) == TURMERIC


def test_an_ambiguous_name_lists_its_candidates_between_which_a_type_decides():
    with pytest.raises(InvalidInput) as refused:
        resolve("ginger", GRAPH)
    assert "'ginger' may be any of D2 (drug Ginger extract), H2 (herb Ginger)." in str(refused.value)
    assert refused.value.details["candidates"] == [
        {"id": "D2", "type": "drug", "label": "Ginger extract"},
        {"id": "H2", "type": "herb", "label": "Ginger"},
    ]
    assert resolve("ginger", GRAPH, NodeType.HERB) == GINGER
    assert resolve("ginger", GRAPH, NodeType.DRUG) == GINGER_DRUG


def test_of_many_candidates_some_are_named():
    herbs = [Node(f"H{n:02}", NodeType.HERB, {"en": "Root"}) for n in range(30)]
    with pytest.raises(InvalidInput, match=r"H19 \(herb Root\) and 10 more") as refused:
        resolve("root", ReferenceGraph(*herbs))
    assert len(refused.value.details["candidates"]) == 20


@pytest.mark.parametrize("text", ["C9", "curcumin"])
def test_a_node_of_another_type_is_named_as_what_it_is(text):
    with pytest.raises(InvalidInput, match=f"'{text}' is no herb here, but C9 .constituent Curcumin."):
        resolve(text, GRAPH, NodeType.HERB)


@pytest.mark.parametrize("text", ["garlic", "?", "", "../etc", "x" * 300])
def test_an_unknown_name_is_not_found(text):
    with pytest.raises(NotFound, match="The graph has no node '"):
        resolve(text, GRAPH)
    with pytest.raises(NotFound, match="The graph has no herb '"):
        resolve(text, GRAPH, NodeType.HERB)


def test_what_stands_around_a_node_comes_with_its_direction():
    found, left_out = relations(CURCUMIN, GRAPH)
    assert [(each.edge.type.value, each.backwards, each.node.node_id) for each in found] == [
        ("has_constituent", True, "H1"),
        ("has_constituent", True, "H2"),
        ("treats", False, "I05"),
    ]
    assert left_out == 0


def paths(start, **asked):
    found = find_paths(start, GRAPH, NEVER, **asked)
    return [" ".join(visit.node.node_id for visit in path) for path in found.paths]


def test_without_a_pattern_edges_are_followed_from_what_has_them():
    assert paths(GINGER_ALE) == ["F1 H2 C10 I06", "F1 H2 C9 I05", "F1 H2 I06"]
    assert paths(GINGER_ALE, depth=2) == ["F1 H2 C10", "F1 H2 C9", "F1 H2 I06"]


def test_a_pattern_needs_no_depth_of_its_own():
    assert paths(DYSPEPSIA, pattern="^treats>^has_constituent>^contains>contains") == []
    assert paths(DYSPEPSIA, pattern="indication>constituent>herb>formulation") == ["I05 C9 H2 F1"]


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        ({"pattern": "constituent>indication"}, "it starts at a constituent, and H2 is a herb"),
        ({"pattern": "herb>constituent>indication", "depth": 1}, "it has 2 steps, and at most 1 are asked for"),
        ({"depth": 7}, "max_depth: at most 6"),
    ],
)
def test_what_does_not_fit_the_start_or_the_depth_is_refused(asked, why):
    with pytest.raises(InvalidInput, match=why):
        paths(GINGER, **asked)


def test_a_walk_ends_with_its_time():
    over = Deadline(0)
    with pytest.raises(DeadlineExceeded, match="walking the graph"):
        find_paths(GINGER, GRAPH, over)

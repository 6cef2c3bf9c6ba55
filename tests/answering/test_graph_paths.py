import pytest

from bio_mcp.answering.graph_questions import find_paths
from bio_mcp.deadline import NEVER, Deadline
from bio_mcp.errors import DeadlineExceeded, InvalidInput
from tests.support.reference_graph import ReferenceGraph
from tests.support.small_graph import DYSPEPSIA, EDGES, GINGER, GINGER_ALE, NODES, WARFARIN

GRAPH = ReferenceGraph(*NODES, *EDGES)


def paths(start, **asked):
    found = find_paths(start, GRAPH, NEVER, **asked)
    return [" ".join(visit.node.node_id for visit in path) for path in found.paths]


def test_without_a_pattern_edges_are_followed_from_what_has_them():
    assert paths(GINGER_ALE) == ["F1 H2 C10 I06", "F1 H2 C9 I05", "F1 H2 I06"]
    assert paths(GINGER_ALE, depth=2) == ["F1 H2 C10", "F1 H2 C9", "F1 H2 I06"]


def test_without_a_pattern_edges_are_followed_backwards_from_where_they_end():
    assert paths(DYSPEPSIA) == ["I05 C9 H1", "I05 C9 H2 F1", "I05 H1"]
    assert paths(WARFARIN) == ["D1 H1"]


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

import random
from itertools import permutations

import pytest

from bio_mcp.graph.nodes import Edge, EdgeType, Evidence, Hop, Node, NodeType, Step, parse_pattern
from bio_mcp.graph.paths import EDGES_READ, EDGES_TRIED, Filters, walk
from tests.support.reference_graph import ReferenceGraph
from tests.support.small_graph import EDGES, GINGER, NODES, TURMERIC

ANYTHING = Filters()
FORWARDS = tuple(Step(each) for each in EdgeType)


def graph(*more):
    return ReferenceGraph(*NODES, *EDGES, *more)


def walked(over, start, pattern, filters=ANYTHING, limit=100):
    return walk(
        start, parse_pattern(pattern).hops, over.neighbours, over.nodes, filters=filters, limit=limit, whole=True
    )


def wandered(over, start, depth=3, filters=ANYTHING, limit=100):
    hops = (Hop(FORWARDS),) * depth
    return walk(start, hops, over.neighbours, over.nodes, filters=filters, limit=limit, whole=False)


def ids(found):
    return [" ".join(visit.node.node_id for visit in path) for path in found.paths]


def test_a_path_has_every_hop_of_its_pattern_in_the_order_of_the_edges():
    found = walked(graph(), GINGER, "herb>constituent>indication")
    assert ids(found) == ["H2 C10 I06", "H2 C9 I05"]
    assert found.complete


def test_a_path_has_the_edge_that_led_to_each_node():
    (path,) = walked(graph(), TURMERIC, "has_constituent>^has_constituent").paths
    assert [visit.node.node_id for visit in path] == ["H1", "C9", "H2"]
    assert [visit.edge and visit.edge.key for visit in path] == [
        None,
        ("H1", "has_constituent", "C9"),
        ("H2", "has_constituent", "C9"),
    ]
    assert [visit.backwards for visit in path] == [False, False, True]


def test_without_a_pattern_a_path_goes_as_far_as_edges_lead():
    assert ids(wandered(graph(), GINGER)) == ["H2 C10 I06", "H2 C9 I05", "H2 I06"]
    assert ids(wandered(graph(), GINGER, depth=1)) == ["H2 C10", "H2 C9", "H2 I06"]


def hub(many, inner=0):
    """A herb of `many` constituents, each treating `inner` indications."""
    constituents = [Node(f"X{n:05}", NodeType.CONSTITUENT, {"en": f"x{n}"}) for n in range(many)]
    indications = [Node(f"Y{n:05}", NodeType.INDICATION, {"en": f"y{n}"}) for n in range(inner)]
    has = [Edge(EdgeType.HAS_CONSTITUENT, "H2", each.node_id, ("x",)) for each in constituents]
    treats = [
        Edge(EdgeType.TREATS, a.node_id, b.node_id, ("x",), (Evidence("1"),)) for a in constituents for b in indications
    ]
    return ReferenceGraph(GINGER, *constituents, *indications, *has, *treats)


def test_of_a_node_with_too_many_edges_it_says_how_many_were_not_walked():
    found = walked(hub(EDGES_READ + 7), GINGER, "has_constituent")
    assert (len(found.paths), found.further, found.unread) == (100, EDGES_READ - 100, {"H2": 7})
    assert not found.complete


def test_a_hub_leaves_the_hops_after_it_something_to_read():
    found = walked(hub(EDGES_READ * 2, 1), GINGER, "has_constituent>treats")
    assert ids(found)[:2] == ["H2 X00000 Y00000", "H2 X00001 Y00000"]
    assert len(found.paths) == 100
    assert found.unread["H2"] == EDGES_READ * 3 // 2


def test_a_walk_reads_a_bounded_number_of_edges_and_says_that_it_stopped():
    over, read = hub(120, 60), []

    def counting(node_ids, steps, limit):
        found = over.neighbours(node_ids, steps, limit)
        read.append(sum(len(each.edges) for each in found.values()))
        return found

    hops = parse_pattern("has_constituent>treats").hops
    found = walk(GINGER, hops, counting, over.nodes, filters=ANYTHING, limit=10, whole=True)
    assert found.stopped
    assert (len(found.paths), ids(found)[0]) == (10, "H2 X00000 Y00000")
    assert EDGES_READ <= sum(read) <= EDGES_READ + 16 * 60


def test_a_walk_tries_a_bounded_number_of_edges_however_many_paths_there_are():
    herbs = [Node(f"H{n}", NodeType.HERB, {"en": f"h{n}"}) for n in range(14)]
    ring = [Edge(EdgeType.INTERACTS_WITH, a.node_id, b.node_id, ("x",)) for a, b in permutations(herbs, 2)]
    found = walked(ReferenceGraph(*herbs, *ring), herbs[0], ">".join(["interacts_with"] * 6))
    assert found.stopped
    assert len(found.paths) + found.further < EDGES_TRIED


def test_the_same_walk_gives_the_same_paths_whatever_the_order_of_import():
    one, other = ReferenceGraph(*NODES, *EDGES), ReferenceGraph(*reversed(NODES), *reversed(EDGES))
    assert walked(one, GINGER, "herb>constituent>herb") == walked(other, GINGER, "herb>constituent>herb")
    assert wandered(one, GINGER) == wandered(other, GINGER)


def every_path(edges, by_id, path, hops):
    """All paths by `hops`, one after the other, with nothing left out: the plain reading of what a pattern means."""
    if not hops:
        yield path
        return
    here, hop = path[-1], hops[0]
    for step in sorted(hop.steps, key=lambda step: (step.edge.value, step.backwards)):
        ends = [
            (e.from_id, e.to_id) if not step.backwards else (e.to_id, e.from_id) for e in edges if e.type == step.edge
        ]
        for other in sorted(there for start, there in ends if start == here):
            if other not in path and hop.to in (None, by_id[other].type):
                yield from every_path(edges, by_id, (*path, other), hops[1:])


PATTERNS = [
    "has_constituent",
    "herb>constituent>herb",
    "^treats>^has_constituent",
    "constituent>indication",
    "indication>herb>indication>herb",
    "interacts_with>herb>^interacts_with",
]


@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_walk_finds_every_path_of_any_graph_in_order(pattern):
    hops = parse_pattern(pattern).hops
    for seed in range(20):
        draw = random.Random(seed)  # noqa: S311  the same graphs each time
        nodes = [Node(f"N{n}", draw.choice(list(NodeType)[:4]), {"en": f"n{n}"}) for n in range(9)]
        pairs = draw.sample(list(permutations(nodes, 2)), 30)
        edges = {Edge(draw.choice(list(EdgeType)), a.node_id, b.node_id, ("x",)) for a, b in pairs}
        over, by_id = ReferenceGraph(*nodes, *edges), {each.node_id: each for each in nodes}
        for start in nodes:
            found = walked(over, start, pattern, limit=10_000)
            assert found.complete
            assert ids(found) == [" ".join(path) for path in every_path(edges, by_id, (start.node_id,), hops)]

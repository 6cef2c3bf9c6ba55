"""The port `Graph`, over every adapter that gives it."""

from dataclasses import replace

import pytest

from bio_mcp.errors import InvalidInput
from bio_mcp.graph.nodes import Edge, EdgeType, Evidence, Node, NodeType, Step

TURMERIC = Node(
    "H1",
    NodeType.HERB,
    {"en": "Turmeric", "th": "ขมิ้นชัน", "la": "Curcuma longa"},
    synonyms=("Curcuma domestica",),
    parts=("rhizome",),
    description="A herb.",
    sources=("A pharmacopoeia",),
)
GINGER = Node("H2", NodeType.HERB, {"la": "Zingiber officinale"})
CURCUMIN = Node("C9", NodeType.CONSTITUENT, {"en": "Curcumin"}, synonyms=("Diferuloylmethane",))
DYSPEPSIA = Node("I05", NodeType.INDICATION, {"en": "Dyspepsia"}, icd_code="K30")
HAS = Edge(EdgeType.HAS_CONSTITUENT, "H1", "C9", ("A database",), (Evidence("384001", "Curcumin is in it."),))
TREATS = Edge(EdgeType.TREATS, "H1", "I05", ("A review",), (Evidence("17727691"), Evidence(quote="It helps.")))
GINGER_TREATS = Edge(EdgeType.TREATS, "H2", "I05", ("A review",))
FORWARDS = [Step(each) for each in EdgeType]
BACKWARDS = [Step(each, backwards=True) for each in EdgeType]


@pytest.fixture
def filled(graph):
    graph.put([TURMERIC, GINGER, CURCUMIN, DYSPEPSIA], [HAS, TREATS, GINGER_TREATS])
    return graph


def edges_at(graph, node_id, steps, limit=10):
    found = graph.neighbours([node_id], steps, limit)
    return found[node_id].edges if node_id in found else ()


def test_an_empty_graph_has_nothing(graph):
    assert graph.nodes(["H1"]) == {}
    assert graph.neighbours(["H1"], FORWARDS, 10) == {}
    assert graph.named(["Turmeric"]) == {}
    assert list(graph.names()) == []
    assert graph.count() == {}
    assert graph.revision() == ""


def test_nodes_come_back_equal_and_unknown_ids_are_absent(filled):
    assert filled.nodes(["H1", "unknown", "I05"]) == {"H1": TURMERIC, "I05": DYSPEPSIA}


def test_an_edge_is_walked_from_both_of_its_ends_by_the_steps_alone_that_are_asked_for(filled):
    assert edges_at(filled, "H1", FORWARDS) == (HAS, TREATS)
    assert edges_at(filled, "C9", BACKWARDS) == (HAS,)
    assert edges_at(filled, "C9", FORWARDS) == ()
    assert edges_at(filled, "I05", BACKWARDS) == (TREATS, GINGER_TREATS)
    assert edges_at(filled, "H1", [Step(EdgeType.TREATS)]) == (TREATS,)
    assert edges_at(filled, "H1", [Step(EdgeType.TREATS, backwards=True)]) == ()
    assert edges_at(filled, "H1", []) == ()


def test_many_nodes_are_asked_at_once_and_those_without_edges_are_absent(filled):
    found = filled.neighbours(["H2", "C9", "H1", "unknown"], FORWARDS, 10)
    assert {node_id: each.edges for node_id, each in found.items()} == {"H2": (GINGER_TREATS,), "H1": (HAS, TREATS)}


def test_edges_are_ordered_by_type_direction_and_the_other_node(graph):
    herbs = [Node(f"H{n}", NodeType.HERB, {"en": f"Herb {n}"}) for n in (3, 1, 2)]
    pairs = [("H2", "H3"), ("H1", "H2"), ("H2", "H1")]
    edges = [Edge(EdgeType.INTERACTS_WITH, first, second, ("A database",)) for first, second in pairs]
    acts = Edge(EdgeType.ACTS_ON, "H3", "H2", ("A database",))
    graph.put(herbs, [*edges, acts])
    found = edges_at(graph, "H2", [*BACKWARDS, *FORWARDS])
    assert [each.key[:: 1 if each.from_id == "H2" else -1] for each in found] == [
        ("H2", "acts_on", "H3"),
        ("H2", "interacts_with", "H1"),
        ("H2", "interacts_with", "H3"),
        ("H2", "interacts_with", "H1"),
    ]
    assert [each.from_id for each in found] == ["H3", "H2", "H2", "H1"]


def test_each_step_is_limited_by_itself_and_says_how_many_it_left_out(graph):
    constituents = [Node(f"C{n:02}", NodeType.CONSTITUENT, {"en": f"c{n}"}) for n in range(30)]
    many = [Edge(EdgeType.HAS_CONSTITUENT, "H1", each.node_id, ("A database",)) for each in constituents]
    graph.put([TURMERIC, DYSPEPSIA, *constituents], [*reversed(many), TREATS])
    found = graph.neighbours(["H1", "C05"], [*FORWARDS, *BACKWARDS], 4)
    assert [each.to_id for each in found["H1"].edges] == ["C00", "C01", "C02", "C03", "I05"]
    assert (found["H1"].left_out, found["C05"].left_out) == (26, 0)
    assert graph.neighbours(["H1"], FORWARDS, 30)["H1"].left_out == 0
    assert graph.neighbours(["H1"], FORWARDS, 29)["H1"].left_out == 1


def test_a_name_finds_its_nodes_in_any_language_and_spelling(filled):
    for name in ("turmeric", "TURMERIC", "Túrmeric", "ขมิ้นชัน", "ขมิ้น ชัน", "curcuma  longa", "Curcuma-Domestica"):
        assert filled.named([name]) == {name: [TURMERIC]}


def test_a_name_that_several_nodes_have_finds_them_all_by_id(graph):
    herb = Node("H7", NodeType.HERB, {"en": "Ginger"})
    drug = Node("D1", NodeType.DRUG, {"en": "Root"}, synonyms=("GINGER", "Ginger"))
    graph.put([herb, drug], [])
    assert graph.named(["ginger", "garlic", "root"]) == {"ginger": [drug, herb], "root": [drug]}


def test_every_name_is_listed_as_it_is_written(filled):
    listed = list(filled.names())
    assert {name for name, node in listed if node == TURMERIC} == {
        "Turmeric",
        "ขมิ้นชัน",
        "Curcuma longa",
        "Curcuma domestica",
    }
    assert len(listed) == 8
    assert {node.node_id for _, node in listed} == {"H1", "H2", "C9", "I05"}


def test_more_nodes_than_a_page_are_read_and_their_names_listed_each_once(graph, ports):
    herbs = {f"H{n}": Node(f"H{n}", NodeType.HERB, {"en": f"herb {n}"}) for n in range(ports.page + 2)}
    graph.put(list(herbs.values()), [])
    assert graph.nodes(list(herbs)) == herbs
    assert sorted(name for name, _ in graph.names()) == sorted(f"herb {n}" for n in range(ports.page + 2))


def test_putting_the_same_again_changes_nothing(filled):
    before = filled.revision()
    filled.put([TURMERIC, GINGER], [HAS, TREATS])
    assert filled.revision() == before
    assert filled.nodes(["H1"]) == {"H1": TURMERIC}
    assert edges_at(filled, "H1", FORWARDS) == (HAS, TREATS)


def test_a_node_that_is_stored_is_merged_and_found_by_old_and_new_names(filled):
    renamed = Node("H2", NodeType.HERB, {"la": "Zingiber officinale Roscoe", "en": "Ginger"}, sources=("A flora",))
    filled.put([renamed], [])
    merged = replace(renamed, synonyms=("Zingiber officinale",))
    assert filled.nodes(["H2"]) == {"H2": merged}
    assert filled.named(["ginger", "zingiber officinale"]) == {"ginger": [merged], "zingiber officinale": [merged]}


def test_an_edge_that_is_stored_gets_further_sources_and_evidence(filled):
    more = Edge(EdgeType.HAS_CONSTITUENT, "H1", "C9", ("Another", "A database"), (Evidence("9"),))
    filled.put([], [more])
    merged = replace(HAS, sources=("A database", "Another"), evidence=(*HAS.evidence, Evidence("9")))
    assert edges_at(filled, "H1", [Step(EdgeType.HAS_CONSTITUENT)]) == (merged,)
    assert edges_at(filled, "C9", BACKWARDS) == (merged,)


def test_one_write_may_say_things_of_a_node_and_an_edge_twice(graph):
    named = replace(GINGER, names={"en": "Ginger"})
    other = replace(GINGER_TREATS, sources=("Another",))
    graph.put([GINGER, named, DYSPEPSIA], [GINGER_TREATS, other])
    assert graph.nodes(["H2"])["H2"].names == {"la": "Zingiber officinale", "en": "Ginger"}
    assert edges_at(graph, "H2", FORWARDS) == (replace(GINGER_TREATS, sources=("A review", "Another")),)


def test_an_edge_without_its_nodes_is_refused_and_nothing_is_written(filled):
    before = filled.revision()
    astray = [Edge(EdgeType.TREATS, "H3", each, ("A review",)) for each in ("I05", "I06")]
    with pytest.raises(InvalidInput, match=r"neither given nor stored: I06$"):
        filled.put([Node("H3", NodeType.HERB, {"en": "Garlic"})], astray)
    assert filled.nodes(["H3"]) == {}
    assert edges_at(filled, "I05", BACKWARDS) == (TREATS, GINGER_TREATS)
    assert filled.revision() == before


def test_a_node_of_another_type_under_the_same_id_is_refused_and_nothing_is_written(filled):
    drug = Node("C9", NodeType.DRUG, {"en": "Curcumin"})
    with pytest.raises(InvalidInput, match="C9 is a constituent, and cannot be a drug too"):
        filled.put([Node("H3", NodeType.HERB, {"en": "Garlic"}), drug], [])
    assert filled.nodes(["H3", "C9"]) == {"C9": CURCUMIN}


def test_nodes_and_edges_are_counted_by_type_and_the_revision_moves_with_each_change(filled):
    assert dict(filled.count()) == {"herb": 2, "constituent": 1, "indication": 1, "has_constituent": 1, "treats": 2}
    revisions = {"", filled.revision()}
    for nodes, edges in (
        ([Node("H3", NodeType.HERB, {"en": "Garlic"})], []),
        ([replace(GINGER, description="Known.")], []),
        ([], [Edge(EdgeType.TREATS, "C9", "I05", ("A review",))]),
        ([], [replace(HAS, sources=("Another",))]),
    ):
        filled.put(nodes, edges)
        assert filled.revision() not in revisions
        revisions.add(filled.revision())


def test_hostile_names_are_stored_as_they_are(graph):
    herb = Node("H9", NodeType.HERB, {"en": "'; DROP TABLE graph_nodes; --", "th": '%_\\"\u202e'}, synonyms=("?",))
    graph.put([herb], [])
    assert graph.nodes(["H9"]) == {"H9": herb}
    assert graph.named(["' drop table graph nodes"]) == {"' drop table graph nodes": [herb]}
    assert graph.named(["%", "", "?", "!"]) == {}

import pytest

from bio_mcp.errors import InvalidInput
from bio_mcp.graph.nodes import BOTH_WAYS, MOST_HOPS, EdgeType, Hop, NodeType, Pattern, Step, parse_pattern

HAS = (Step(EdgeType.HAS_CONSTITUENT),)
TREATED_BY = (Step(EdgeType.TREATS, backwards=True),)


def test_node_types_are_joined_by_any_edge_in_either_direction():
    hops = (Hop(BOTH_WAYS, NodeType.CONSTITUENT), Hop(BOTH_WAYS, NodeType.INDICATION))
    assert parse_pattern("herb>constituent>indication") == Pattern(NodeType.HERB, hops)
    assert len(BOTH_WAYS) == 12


def test_edges_are_walked_in_their_direction_and_with_a_caret_against_it():
    assert parse_pattern("has_constituent>treats") == Pattern(None, (Hop(HAS), Hop((Step(EdgeType.TREATS),))))
    assert parse_pattern("^treats") == Pattern(None, (Hop(TREATED_BY),))


def test_a_type_after_an_edge_is_what_the_edge_leads_to():
    hops = (Hop(HAS, NodeType.CONSTITUENT), Hop(BOTH_WAYS, NodeType.INDICATION), Hop(TREATED_BY, NodeType.HERB))
    text = "herb > has_constituent > constituent > indication > ^treats > herb"
    assert parse_pattern(text) == Pattern(NodeType.HERB, hops)


def test_a_type_may_follow_the_same_type():
    assert parse_pattern("herb>herb").hops == (Hop(BOTH_WAYS, NodeType.HERB),)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "is neither a node type"),
        ("plant>treats", "'plant' is neither a node type .herb, .* nor an edge .has_constituent"),
        ("herb>>treats", "'' is neither"),
        ("herb>^constituent", "'.constituent' is neither"),
        ("^^treats", "is neither"),
        ("herb", "it has 0 steps; give 1 to 6"),
        (">".join(["^treats"] * (MOST_HOPS + 1)), "it has 7 steps"),
        ("treats>" * 100, "at most 300 characters"),
    ],
)
def test_a_pattern_that_is_none_is_refused_and_the_choices_are_named(text, why):
    with pytest.raises(InvalidInput, match=why):
        parse_pattern(text)

from bio_mcp.retrieval.ranking import reciprocal_ranks


def test_first_in_every_leg_is_one_whatever_else_was_found():
    assert reciprocal_ranks([["a"], ["a"]]) == {"a": 1.0}
    assert reciprocal_ranks([["a", *"bcd"], ["a", *"xyz"]])["a"] == 1.0


def test_first_in_one_of_two_legs_is_a_half():
    assert reciprocal_ranks([["a"], ["b"]]) == {"a": 0.5, "b": 0.5}


def test_a_later_place_counts_by_the_formula():
    assert reciprocal_ranks([["a", "b"], ["c", "b"]])["b"] == 61 / 62


def test_an_id_counts_once_in_a_leg():
    assert reciprocal_ranks([["a", "a", "b"]]) == {"a": 1.0, "b": 61 / 62}

"""Fields of others' JSON are what they should be or nothing, whatever comes."""

import math

import pytest

from bio_mcp.adapters.scholarly import fields


@pytest.mark.parametrize(
    ("value", "read"),
    [
        (7, 7), (0, 0), ("2019", 2019), ("007", 7), (True, None), (False, None), (7.0, None), ("7.0", None),
        ("-7", None), ("", None), (" 7", None), ("²", None), (None, None), ([7], None), ("9" * 18, int("9" * 18)),
        ("9" * 19, None), ("9" * 5_000, None),
    ],
)  # fmt: skip
def test_a_whole_number_is_one_or_its_digits(value, read):
    assert fields.whole(value) == read
    assert not isinstance(fields.whole(value), bool)


@pytest.mark.parametrize(
    ("value", "read"),
    [
        (1.5, 1.5), (2, 2.0), (-1, -1.0), (True, None), ("1.5", None), (None, None), ({}, None),
        (10**400, None), (-(10**400), None), (math.inf, None), (math.nan, None),
    ],
)  # fmt: skip
def test_a_number_is_one_that_an_answer_can_hold(value, read):
    assert fields.number(value) == read


@pytest.mark.parametrize(
    ("value", "read"), [(" a\n\t b ", "a b"), ("\u00a0", ""), ("", ""), (None, ""), (7, ""), (["a"], ""), ({}, "")]
)
def test_a_text_has_no_needless_spaces_and_anything_else_is_none(value, read):
    assert fields.text(value) == read


@pytest.mark.parametrize(
    ("value", "read"), [([{"a": 1}, 7, None, [], {}], [{"a": 1}, {}]), ({"a": 1}, []), ("ab", []), (None, [])]
)
def test_of_a_list_the_objects_are_taken(value, read):
    assert fields.objects(value) == read


@pytest.mark.parametrize(
    ("value", "read"), [({"a": {"b": 7}}, 7), ({"a": {"b": 0}}, 0), ({"a": [7]}, None), ({}, None), (None, None)]
)
def test_what_stands_within_is_found_or_nothing(value, read):
    assert fields.inner(value, "a", "b") == read


@pytest.mark.parametrize(
    ("value", "read"),
    [
        ("10.1000/ABC", "10.1000/abc"), ("https://doi.org/10.1000/a%2Fb", "10.1000/a/b"),
        ("doi:10.1000/x", "10.1000/x"), ("11.1000/x", None), ("10.1000/", None), ("10.1000/a b", None),
        ("10.1000/" + "x" * 600, None), (10.1, None),
    ],
)  # fmt: skip
def test_a_doi_has_its_normal_form(value, read):
    assert fields.doi(value) == read

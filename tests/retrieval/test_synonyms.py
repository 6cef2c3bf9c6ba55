"""Other names of what a query names."""

import pytest

from bio_mcp.retrieval.analysis import query_terms
from bio_mcp.retrieval.question import EXTRA_TERMS, WEIGHT, concepts, expansion


def added(query):
    return {term for term, weight in query_terms(query, expansion) if weight == WEIGHT}


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("heart attack", {"myocardi", "infarct"}),
        ("breast cancer and statins", {"neoplasm"}),
        ("high blood pressure", {"hypertens"}),
        ("stroke", {"cerebrovascular"}),
    ],
)
def test_another_name_of_a_disease_is_added_with_less_weight(query, found):
    assert found <= added(query)


def test_the_order_of_words_in_a_name_does_not_matter():
    assert added("pressure, high blood") == added("high blood pressure") != set()


def test_the_longest_name_wins():
    assert "mammari" in added("breast cancer")
    assert "mammari" not in added("cancer")


def test_words_of_the_query_keep_their_own_weight():
    weights = dict(query_terms("heart attack infarction", expansion))
    assert weights["infarct"] == 1
    assert weights["myocardi"] == WEIGHT


def test_a_query_that_names_nothing_stays_as_it_is():
    assert expansion(["leucin", "qwertz"]) == []


def test_a_list_of_everything_adds_a_bounded_number_of_terms():
    assert len(expansion([term for name in list(concepts())[:500] for term in name])) <= EXTRA_TERMS

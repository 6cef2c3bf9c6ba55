"""Confidence intervals by the bootstrap."""

import pytest

from bio_mcp.evaluating.bootstrap import interval_of, interval_of_ratio


def test_an_interval_holds_its_figure_and_narrows_with_more_questions():
    few, many = interval_of_ratio([1, 0] * 10, [1] * 20), interval_of_ratio([1, 0] * 200, [1] * 400)
    assert few[0] < 0.5 < few[1]
    assert many[1] - many[0] < (few[1] - few[0]) / 3
    assert many == pytest.approx((0.45, 0.55), abs=0.01)  # as the normal distribution has it


def test_equal_samples_have_equal_intervals():
    assert interval_of_ratio([1, 0, 1], [1, 2, 1]) == interval_of_ratio([1, 0, 1], [1, 2, 1])


def test_where_all_questions_agree_the_interval_is_that_of_the_rule_of_three():
    assert interval_of_ratio([1] * 60, [1] * 60) == (0.95, 1)
    assert interval_of_ratio([0] * 60, [2] * 60) == (0, 0.05)
    assert interval_of_ratio([2], [2]) == (0, 1)


def test_samples_without_anything_to_divide_by_are_left_out():
    low, high = interval_of_ratio([1, 0, 1], [1, 0, 2])
    assert (low, high) == (0.5, 1)


def test_a_measure_of_whole_samples_is_given_the_questions_of_each():
    values = [0.0, 1.0] * 50
    low, high = interval_of(lambda picks: sum(values[each] for each in picks) / len(picks), len(values))
    assert low == pytest.approx(0.4, abs=0.03)
    assert high == pytest.approx(0.6, abs=0.03)

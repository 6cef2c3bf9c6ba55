"""Measures of a ranking and of confidences, against values worked out by hand, and intervals by the bootstrap."""

from math import log2

import pytest

from bio_mcp.evaluating.figures import (
    AnswerOutcome,
    CitedOutcome,
    calibration_bins,
    calibration_error,
    interval_of_ratio,
    ndcg,
    recall,
)


def test_recall_is_the_share_of_the_right_papers_within_the_depth():
    assert recall((1, 5, 11), 4, 10) == 0.5
    assert recall((), 4, 10) == 0


def test_ndcg_is_1_for_the_best_order_and_less_for_any_other():
    assert ndcg((1, 2), 2, 10) == 1
    assert ndcg((1, 3), 2, 10) == pytest.approx((1 + 1 / log2(4)) / (1 + 1 / log2(3)))
    assert ndcg((11,), 1, 10) == 0
    assert ndcg((1, 2), 5, 2) == 1  # more right papers than places


def answers(*confidences_and_right):
    return [AnswerOutcome(True, each, (CitedOutcome(right=right),)) for each, right in confidences_and_right]


def test_the_calibration_error_weighs_each_bin_by_its_answers():
    given = answers((0.95, True), (0.95, True), (0.95, False), (0.05, False))
    assert calibration_error(given) == pytest.approx(0.75 * (0.95 - 2 / 3) + 0.25 * 0.05)
    assert [(each.low, each.count) for each in calibration_bins(given)] == [(0.0, 1), (0.9, 3)]


def test_a_confidence_of_1_is_in_the_last_bin_and_no_answers_have_no_error():
    assert [each.low for each in calibration_bins(answers((1.0, True)))] == [0.9]
    assert calibration_error([]) == 0


def test_an_interval_holds_its_figure_and_narrows_with_more_questions():
    few, many = interval_of_ratio([1, 0] * 10, [1] * 20), interval_of_ratio([1, 0] * 200, [1] * 400)
    assert few[0] < 0.5 < few[1]
    assert many[1] - many[0] < (few[1] - few[0]) / 3
    assert many == pytest.approx((0.45, 0.55), abs=0.01)  # as the normal distribution has it


def test_where_all_questions_agree_the_interval_is_that_of_the_rule_of_three():
    assert interval_of_ratio([1] * 60, [1] * 60) == (0.95, 1)
    assert interval_of_ratio([0] * 60, [2] * 60) == (0, 0.05)
    assert interval_of_ratio([2], [2]) == (0, 1)


def test_samples_without_anything_to_divide_by_are_left_out():
    low, high = interval_of_ratio([1, 0, 1], [1, 0, 2])
    assert (low, high) == (0.5, 1)

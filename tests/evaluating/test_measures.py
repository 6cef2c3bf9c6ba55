"""Measures of a ranking and of confidences, against values worked out by hand."""

from math import log2

import pytest

from bio_mcp.evaluating.measures import (
    area_under_risk,
    calibration_bins,
    calibration_error,
    ndcg,
    recall,
    reciprocal_rank,
    risk_coverage,
)


def test_recall_is_the_share_of_the_right_papers_within_the_depth():
    assert recall((1, 5, 11), 4, 10) == 0.5
    assert recall((), 4, 10) == 0


def test_the_reciprocal_rank_is_that_of_the_best_place():
    assert reciprocal_rank((4, 2)) == 0.5
    assert reciprocal_rank(()) == 0


def test_ndcg_is_1_for_the_best_order_and_less_for_any_other():
    assert ndcg((1, 2), 2, 10) == 1
    assert ndcg((1, 3), 2, 10) == pytest.approx((1 + 1 / log2(4)) / (1 + 1 / log2(3)))
    assert ndcg((11,), 1, 10) == 0


def test_more_right_papers_than_places_can_still_be_ranked_perfectly():
    assert ndcg((1, 2), 5, 2) == 1


def test_the_calibration_error_weighs_each_bin_by_its_answers():
    confidences, right = [0.95, 0.95, 0.95, 0.05], [True, True, False, False]
    assert calibration_error(confidences, right) == pytest.approx(0.75 * (0.95 - 2 / 3) + 0.25 * 0.05)
    assert [(each.low, each.count) for each in calibration_bins(confidences, right)] == [(0.0, 1), (0.9, 3)]


def test_a_confidence_of_1_is_in_the_last_bin_and_no_answers_have_no_error():
    assert [each.low for each in calibration_bins([1.0], [True])] == [0.9]
    assert calibration_error([], []) == 0


def test_the_risk_is_that_of_the_most_confident_answers():
    assert risk_coverage([0.2, 0.9, 0.5, 0.7], [False, True, False, True]) == [
        (0.25, 0), (0.5, 0), (0.75, pytest.approx(1 / 3)), (1, 0.5)
    ]  # fmt: skip


def test_answers_of_one_confidence_are_taken_together_so_that_their_order_does_not_matter():
    assert risk_coverage([0.5, 0.5], [True, False]) == risk_coverage([0.5, 0.5], [False, True]) == [(1, 0.5)]


def test_the_area_under_the_risk_is_0_for_none_and_1_for_nothing_but_wrong_answers():
    assert area_under_risk(risk_coverage([0.9, 0.1], [True, True])) == 0
    assert area_under_risk(risk_coverage([0.9, 0.1], [False, False])) == 1
    assert area_under_risk(risk_coverage([0.9, 0.1], [True, False])) == 0.25

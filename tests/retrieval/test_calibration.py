"""Coefficients that ship as data."""

from math import log

import pytest

from bio_mcp.retrieval.relevance import Logistic, calibrated, coefficients, is_fitted_to


def test_a_probability_is_the_sigmoid_of_the_weighted_sum():
    even = Logistic(intercept=-1.0, weights=(2.0, 0.5))
    assert even.probability((0.5, 0.0)) == 0.5
    assert even.probability((0.5, 2 * log(3))) == pytest.approx(0.75)


@pytest.mark.parametrize(("feature", "bound"), [(1e9, 1.0), (-1e9, 0.0)])
def test_no_feature_is_too_large_for_it(feature, bound):
    assert Logistic(0.0, (1.0,)).probability((feature,)) == pytest.approx(bound, abs=1e-12)


def test_weights_come_in_the_order_that_is_asked_for():
    fitted = coefficients()["relevance"]
    names = tuple(sorted(fitted["weights"]))
    assert calibrated("relevance", names).weights == tuple(fitted["weights"][each] for each in names)
    assert calibrated("relevance", names[::-1]).weights == calibrated("relevance", names).weights[::-1]


def test_coefficients_of_other_features_are_rejected():
    with pytest.raises(ValueError, match="relevance was fitted to other features"):
        calibrated("relevance", ("cosine",))


@pytest.mark.parametrize("name", ["relevance", "answerable", "confidence"])
def test_what_ships_says_how_well_it_held_on_questions_that_were_left_out(name):
    held_out = coefficients()[name]["held_out"]
    assert held_out["ece"] <= 0.05
    assert held_out["auroc"] >= 0.75
    assert held_out["brier"] < held_out["brier_of_share"]


def test_it_is_fitted_to_one_model_however_that_runs():
    assert is_fitted_to("bge-small-en-v1.5/int8/e5e68eafa2f00c27")
    assert is_fitted_to("bge-small-en-v1.5/http/384")
    assert not is_fitted_to("bge-base-en-v1.5/fp32/e35ab1bcfb8ff107")

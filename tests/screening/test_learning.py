"""Logistic regression finds the minimum that its loss has, from wherever it starts."""

import numpy as np
import pytest

from bio_mcp.screening.ranking import Rows, balanced, fit

EMPTY = np.zeros(0, dtype=np.int64)


def linear(matrix):
    return Rows(np.zeros(len(matrix) + 1, dtype=np.int64), EMPTY, np.zeros(0), 0, np.asarray(matrix, float))


def loss(weights, matrix, included, sample_weights, strength):
    margins = np.asarray(matrix) @ weights * (2 * included - 1)
    return weights @ weights / 2 + strength * sample_weights @ np.logaddexp(0, -margins)


@pytest.mark.parametrize("strength", [0.1, 1.0, 1_000.0])
def test_no_step_in_any_direction_lowers_the_loss(strength):
    generator = np.random.default_rng(3)
    matrix, included = generator.standard_normal((40, 5)), (np.arange(40) < 9).astype(float)
    weighed = balanced(included, 3.0)
    found = fit(linear(matrix), included, weighed, strength)
    least = loss(found, matrix, included, weighed, strength)
    for direction in np.eye(5):
        for step in (-0.02, 0.02):
            assert loss(found + step * direction, matrix, included, weighed, strength) > least


def test_included_rows_together_weigh_the_ratio_times_what_excluded_ones_do():
    weights = balanced(np.array([1.0, 0, 0, 0, 0, 1]), 4.0)
    assert weights.sum() == pytest.approx(6)
    assert weights[[0, 5]].sum() == pytest.approx(4 * weights[1:5].sum())

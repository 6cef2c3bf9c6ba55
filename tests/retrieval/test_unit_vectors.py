"""Vectors that a client made, checked and scaled."""

import math

import numpy as np
import pytest

from bio_mcp.errors import InvalidInput, ModelMismatch
from bio_mcp.retrieval.ranking import unit_vector


def test_a_vector_is_scaled_to_length_one():
    assert unit_vector([3, 4.0], 2, "it").tolist() == pytest.approx([0.6, 0.8])
    assert unit_vector([3, 4.0], 2, "it").dtype == np.float32


@pytest.mark.parametrize("numbers", [[5e-324, 0, 0], [1.7e308, -1.7e308, 1], [1e308, 5e-324, 0], [1e-200, 1e-200, 0]])
def test_whatever_the_size_of_its_numbers(numbers):
    assert np.linalg.norm(unit_vector(numbers, 3, "it")) == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize("numbers", [[], [1.0], [1.0, 2.0, 3.0]])
def test_another_length_is_of_another_model(numbers):
    with pytest.raises(ModelMismatch, match=rf"it has {len(numbers)} numbers.*vectors of 2"):
        unit_vector(numbers, 2, "it")


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_a_number_that_is_none_is_refused(number):
    with pytest.raises(InvalidInput, match="it: not every number is finite"):
        unit_vector([1.0, number], 2, "it")


def test_zeros_are_no_direction():
    with pytest.raises(InvalidInput, match="it: every number is 0"):
        unit_vector([0.0, -0.0], 2, "it")

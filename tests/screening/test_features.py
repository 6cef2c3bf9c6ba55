"""Rows of TF-IDF: words and pairs, weighed and of length 1; products with them are those of the dense matrix."""

import math
from dataclasses import replace

import numpy as np
import pytest

from bio_mcp.screening.ranking import Vocabulary

TEXTS = ["Statins lower lipids. Statins!", "statins lower blood pressure", "", "A α-blocker lowers blood pressure"]


def dense(rows):
    matrix = np.zeros((len(rows), rows.width))
    matrix[rows.owners, rows.columns] = rows.values
    return matrix


def test_words_and_pairs_that_two_texts_have_are_columns():
    vocabulary = Vocabulary(TEXTS)
    terms = {vocabulary.term(column) for column in range(vocabulary.rows.width)}
    assert terms == {"statins", "lower", "statins lower", "blood", "pressure", "blood pressure"}


def test_the_weight_of_a_term_is_its_count_and_rarity_and_a_row_has_length_one():
    vocabulary = Vocabulary(["aa bb aa aa", "aa", "aa cc", "bb"])
    idf = {"aa": math.log(5 / 4) + 1, "bb": math.log(5 / 3) + 1}
    first = np.array([(1 + math.log(3)) * idf["aa"], idf["bb"]])
    columns = {vocabulary.term(column): column for column in range(vocabulary.rows.width)}
    row = dense(vocabulary.rows)[0, [columns["aa"], columns["bb"]]]
    assert row == pytest.approx(first / np.linalg.norm(first))


def test_a_text_without_shared_words_is_an_empty_row():
    rows = Vocabulary(TEXTS).rows
    assert np.linalg.norm(dense(rows), axis=1) == pytest.approx([1, 1, 0, 1])
    assert len(Vocabulary([]).rows) == 0
    assert Vocabulary(["one text"]).rows.width == 0


def test_products_are_those_of_the_dense_matrix_with_the_vectors_beside():
    generator = np.random.default_rng(7)
    rows, vectors = Vocabulary(TEXTS).rows, generator.standard_normal((4, 3))
    whole = np.hstack([dense(rows), vectors])
    rows = replace(rows, vectors=vectors)
    weights, residuals = generator.standard_normal(rows.width + 3), generator.standard_normal(4)
    assert rows.times(weights) == pytest.approx(whole @ weights)
    assert rows.transposed_times(residuals) == pytest.approx(whole.T @ residuals)

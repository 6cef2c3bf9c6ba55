"""Which passages have nothing to do with a question."""

import pytest

from bio_mcp.retrieval.relevance import COVERAGE_WEIGHT, DOUBTFUL, FITS_FROM, UNLIKELY, is_unanswered, is_weak


def never():
    raise AssertionError("the words were looked at, though the cosine says it")


def test_a_cosine_that_says_it_alone_leaves_the_words_unread():
    assert not is_weak(FITS_FROM, never)
    assert not is_weak(0.9, never)


def test_below_that_the_words_decide():
    between = FITS_FROM - COVERAGE_WEIGHT / 2
    assert is_weak(between, lambda: 0.4)
    assert not is_weak(between, lambda: 0.6)
    assert is_weak(0.1, lambda: 0.9)


@pytest.mark.parametrize("sim", [None, 0.1, -0.2])
def test_a_passage_with_every_word_fits_whatever_the_model_makes_of_them(sim):
    assert not is_weak(sim, lambda: 1.0)
    assert is_weak(sim, lambda: 0.9)


def test_nothing_answers_where_it_is_unlikely_or_doubtful_and_every_hit_weak():
    assert is_unanswered(UNLIKELY - 0.01, all_weak=False)
    assert not is_unanswered(UNLIKELY, all_weak=False)
    assert is_unanswered(DOUBTFUL - 0.01, all_weak=True)
    assert not is_unanswered(DOUBTFUL, all_weak=True)

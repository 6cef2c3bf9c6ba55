"""The estimate of what may be missed holds as often as it says, where its assumption does."""

from math import comb

import numpy as np
import pytest

from bio_mcp.screening.ranking import estimate


def decisions(text):
    """ "+--" as decisions."""
    return [sign == "+" for sign in text]


def test_the_probability_is_that_of_drawing_without_replacement():
    """Of 20 papers left after the last relevant one, 10 are drawn and none is relevant; 19 were found before."""
    found = estimate(decisions("+" * 19 + "-" * 10), 10)
    too_many = 2  # 19 of 21 are less than 95 %
    assert found.p_value == pytest.approx(comb(20 - too_many, 10) / comb(20, 10))


def test_nothing_may_be_missed_where_nothing_is_left():
    found = estimate(decisions("+-+--"), 0)
    assert (found.missed_at_most, found.recall_at_least, found.p_value, found.reached) == (0, 1.0, 0, True)


def test_before_anything_was_looked_at_everything_may_be_missed():
    found = estimate([], 30)
    assert (found.missed_at_most, found.recall_at_least, found.reached) == (30, None, False)


def test_a_longer_run_without_relevant_papers_leaves_fewer_that_may_be_missed():
    runs = [estimate(decisions("++++-+-+" + "-" * length), 200 - length).missed_at_most for length in range(0, 200, 20)]
    assert runs == sorted(runs, reverse=True)
    assert runs[0] > 100
    assert runs[-1] <= 1


def test_enough_was_found_when_more_misses_than_the_target_allows_are_improbable():
    few, many = (estimate(decisions("+" * 30 + "-" * length), 1_000 - length) for length in (100, 900))
    assert (few.reached, many.reached) == (False, True)
    assert many.recall_at_least >= 0.95


def test_in_a_random_order_the_bound_is_too_low_as_seldom_as_it_says():
    """Drawn since the beginning alone, the bound fails in 5 % of orders; with later ones too, in some more."""
    generator = np.random.default_rng(11)
    failed = 0
    for _ in range(200):
        order = generator.permutation(np.arange(100) < 20)
        looked_at = int(generator.integers(20, 90))
        found = estimate(list(map(bool, order[:looked_at])), 100 - looked_at)
        failed += int(order[looked_at:].sum()) > found.missed_at_most
    assert failed <= 30

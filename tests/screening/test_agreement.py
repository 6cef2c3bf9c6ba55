"""Kappa and its interval, against tables that others published with both."""

import pytest

from bio_mcp.screening.reviews import agreement

# Two dermatologists rate the skin of 88 patients (SAS/STAT, PROC FREQ, example "Cohen's Kappa Coefficient").
DERMATOLOGISTS = [(10, 4, 1, 0), (5, 10, 12, 2), (2, 4, 12, 5), (0, 2, 6, 13)]
# Two radiologists rate 85 xeromammograms (Stata's manual, "kap", of Boyd and others, 1982).
RADIOLOGISTS = [(21, 12, 0, 0), (4, 17, 1, 0), (3, 9, 15, 2), (0, 0, 0, 1)]
# Two raters of 100 subjects (Fleiss, Levin and Paik, Statistical Methods for Rates and Proportions, section 18.1).
DIAGNOSES = [(75, 1, 4), (5, 4, 1), (0, 0, 10)]


def pairs(table):
    return [(str(i), str(j)) for i, row in enumerate(table) for j, count in enumerate(row) for _ in range(count)]


@pytest.mark.parametrize(
    ("table", "kappa", "low", "high"),
    [
        (DERMATOLOGISTS, 0.3449, 0.2030, 0.4868),
        (DIAGNOSES, 0.676, 0.676 - 1.96 * 0.087, 0.676 + 1.96 * 0.087),
    ],
)
def test_kappa_and_its_interval_are_those_that_were_published(table, kappa, low, high):
    found = agreement(pairs(table))
    assert found.kappa == pytest.approx(kappa, abs=0.0005)
    assert (found.low, found.high) == (pytest.approx(low, abs=0.003), pytest.approx(high, abs=0.003))


def test_agreement_is_in_per_cent_of_what_both_decided():
    found = agreement(pairs(RADIOLOGISTS))
    assert (found.records, found.agreed) == (85, 54)
    assert found.per_cent == pytest.approx(63.53, abs=0.005)
    assert found.kappa == pytest.approx(0.4728, abs=0.00005)


def test_who_agrees_always_has_one_and_who_does_as_chance_would_has_none():
    assert agreement([("a", "a"), ("b", "b")]).kappa == 1
    assert agreement([("a", "a"), ("a", "b"), ("b", "a"), ("b", "b")]).kappa == 0
    assert agreement([("a", "b"), ("b", "a")]).kappa == -1


@pytest.mark.parametrize("given", [[], [("a", "a")], [("a", "a")] * 9])
def test_kappa_is_not_defined_where_both_have_one_decision_for_all(given):
    found = agreement(given)
    assert (found.kappa, found.low, found.high) == (None, None, None)

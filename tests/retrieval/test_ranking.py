"""One ranked list from two legs, and the vectors that clients bring."""

import math

import numpy as np
import pytest

from bio_mcp.errors import InvalidInput, ModelMismatch
from bio_mcp.literature.quality import StaticQuality
from bio_mcp.literature.records import RetractionStatus
from bio_mcp.retrieval.passages import Candidate
from bio_mcp.retrieval.ranking import (
    RETRACTED_FACTOR,
    apply_quality_bias,
    feedback_papers,
    fuse,
    move_towards,
    places_in_legs,
    rank,
    reciprocal_ranks,
    terms_of,
    unit_vector,
)
from tests.support.memory_corpus import TODAY


def candidate(pmid, bm25=None, sim=None, year=2000, quality=StaticQuality(), retraction=RetractionStatus.CLEAR):  # noqa: B008  frozen
    return Candidate(pmid, bm25, sim, None if sim is None else "w0", year, quality, retraction)


def ranked(*candidates, quality_bias=True):
    return rank(candidates, fuse(candidates, 200), TODAY, quality_bias=quality_bias)


def order(*candidates, **how):
    return [each.candidate.pmid for each in ranked(*candidates, **how)]


def test_the_contracts_example_pins_the_bias():
    assert round(apply_quality_bias(0.72, 9), 2) == 1.37
    assert round(apply_quality_bias(0.69, 8), 2) == 1.24


def test_bias_multiplies_the_very_score_that_stands_without_it():
    papers = [candidate(str(n), n, n / 20, 2024, StaticQuality(design=n % 4, journal=n % 3)) for n in range(1, 12)]
    papers.append(candidate("99", 8, 0.4, retraction=RetractionStatus.RETRACTED))
    plain = {each.candidate.pmid: each.score for each in ranked(*papers, quality_bias=False)}
    for each in ranked(*papers):
        assert each.score == pytest.approx(plain[each.candidate.pmid] * (1 + each.quality_points / 10), abs=2e-6)


def test_a_paper_that_both_legs_return_beats_one_that_a_single_leg_returns():
    papers = candidate("1", 9.0), candidate("2", 8.0, 0.8), candidate("3", None, 0.9), candidate("4", 1.0, 0.1)
    assert order(*papers)[0] == "2"


def test_one_leg_alone_counts_alone():
    assert [each.score for each in ranked(candidate("1", None, 0.9), candidate("2", None, 0.3))] == [1.0, 0.0]
    assert [each.score for each in ranked(candidate("1", 7.0))] == [1.0]


def test_ties_go_by_quality_then_by_pmid_descending():
    tied = (candidate("9", 5.0, 0.5), candidate("10", 5.0, 0.5), candidate("2", 5.0, 0.5, 2024))
    assert order(*tied, quality_bias=False) == ["2", "10", "9"]


def test_a_retracted_paper_sinks_and_says_why_and_a_notice_and_a_concern_are_not_punished():
    retracted = candidate("1", 9.0, 0.9, retraction=RetractionStatus.RETRACTED)
    places = ranked(retracted, candidate("2", 8.0, 0.8), candidate("3", 1.0, 0.1))
    assert [each.candidate.pmid for each in places] == ["2", "1", "3"]
    assert places[1].score == RETRACTED_FACTOR
    assert places[1].quality_points == 0
    assert "retracted" in places[1].explanation
    for status in (RetractionStatus.NOTICE, RetractionStatus.CONCERN):
        assert ranked(candidate("2", 5.0, 0.5, retraction=status))[0].score == 1.0


def test_the_explanation_names_each_share_and_the_reasons_of_quality():
    (place,) = ranked(candidate("1", 5.0, 0.5, 2024, StaticQuality(3, 2, 2)))
    assert place.explanation.startswith("meaning ")
    assert (
        "times 1.9 for quality 9: systematic review, meta-analysis or guideline (+3), published 2024 (+2)"
        in place.explanation
    )


def test_each_paper_has_its_place_by_words_and_by_meaning():
    papers = ranked(candidate("1", 9, 0.9), candidate("2", None, 0.5), candidate("3", 9, 0.4), candidate("4", 2))
    assert places_in_legs(papers) == {"1": (1, 1), "2": (None, 2), "3": (1, 3), "4": (3, None)}


def test_feedback_comes_from_the_best_papers_that_stand():
    papers = [candidate(str(n), n, n / 10) for n in range(1, 8)]
    papers.append(candidate("8", 8, 0.8, retraction=RetractionStatus.RETRACTED))
    assert feedback_papers(papers, fuse(papers, 200)) == ["7", "6", "5", "4"]


def test_terms_of_the_best_papers_weigh_by_their_share_and_by_the_papers_score():
    weights = dict(terms_of([(1.0, "Aspirin for migraine, aspirin for headache."), (0.5, "Migraine."), (0.9, "")]))
    assert weights == pytest.approx({"aspirin": 0.4 * 0.5 / 0.75, "migrain": 0.4, "headach": 0.4 * 0.25 / 0.75})
    assert len(terms_of([(1.0, " ".join(f"word{number}x" for number in range(300)))])) == 100
    assert terms_of([(0.5, ""), (0.0, "nothing")]) == []


def test_a_query_moves_towards_its_papers_and_stays_a_unit_vector():
    query, paper, other = np.eye(3, dtype=np.float32)
    nearer = move_towards(query, [(0.9, paper), (0.3, other)])
    assert nearer.dtype == np.float32
    assert nearer @ nearer == pytest.approx(1)
    assert nearer @ paper == pytest.approx(3 * (nearer @ other))
    assert nearer @ query > nearer @ paper > 0
    assert move_towards(query, []) is query
    assert move_towards(query, [(0.0, paper)]) is query


@pytest.mark.parametrize(
    ("legs", "scores"),
    [
        ([["a"], ["a"]], {"a": 1.0}),
        ([["a"], ["b"]], {"a": 0.5, "b": 0.5}),
        ([["a", "b"], ["c", "b"]], {"a": 0.5, "b": 61 / 62, "c": 0.5}),
        ([["a", "a", "b"]], {"a": 1.0, "b": 61 / 62}),
    ],
)
def test_ranks_are_fused_by_the_formula_each_id_once_in_a_leg(legs, scores):
    assert reciprocal_ranks(legs) == scores


def test_a_vector_is_scaled_to_length_one():
    vector = unit_vector([3, 4.0], 2, "it")
    assert (vector.tolist(), vector.dtype) == (pytest.approx([0.6, 0.8]), np.float32)


@pytest.mark.parametrize("numbers", [[5e-324, 0, 0], [1.7e308, -1.7e308, 1], [1e308, 5e-324, 0], [1e-200, 1e-200, 0]])
def test_whatever_the_size_of_its_numbers(numbers):
    assert np.linalg.norm(unit_vector(numbers, 3, "it")) == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize("numbers", [[], [1.0], [1.0, 2.0, 3.0]])
def test_another_length_is_of_another_model(numbers):
    with pytest.raises(ModelMismatch, match=rf"it has {len(numbers)} numbers.*vectors of 2"):
        unit_vector(numbers, 2, "it")


@pytest.mark.parametrize("numbers", [[1.0, math.nan], [1.0, math.inf], [1.0, -math.inf], [0.0, -0.0]])
def test_what_has_no_direction_is_refused(numbers):
    with pytest.raises(InvalidInput, match=r"it: (not every number is finite|every number is 0)"):
        unit_vector(numbers, 2, "it")

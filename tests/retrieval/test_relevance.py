"""How likely it is that hits are relevant."""

from math import log

import pytest

from bio_mcp.literature.quality import StaticQuality
from bio_mcp.literature.records import RetractionStatus
from bio_mcp.retrieval.analysis import analyse
from bio_mcp.retrieval.passages import Candidate
from bio_mcp.retrieval.ranking import fuse, rank
from bio_mcp.retrieval.relevance import (
    COVERAGE_WEIGHT,
    DOUBTFUL,
    FIRST,
    FITS_FROM,
    TYPICAL_TAIL,
    UNLIKELY,
    Logistic,
    answerable,
    answers,
    background,
    calibrated,
    is_fitted_to,
    is_unanswered,
    is_weak,
    relevance,
    shipped,
)
from tests.support.memory_corpus import TODAY

WORDS = 6


def ranked(*candidates):
    return rank(candidates, fuse(candidates, 200), TODAY, quality_bias=True)


def candidate(pmid, bm25, sim, design=None):
    quality = StaticQuality(design=design)
    return Candidate(str(pmid), bm25, sim, None, 2020, quality, RetractionStatus.CLEAR)


def others(count=60, sim=0.4, bm25=3.0):
    """What a corpus returns for any question: each a little less near than the one before."""
    return [candidate(1000 - at, bm25 - at / 50, sim - at / 500) for at in range(count)]


def of(found, words=WORDS):
    return relevance(found, background(found, words))


def chance(*candidates):
    found = ranked(*candidates)
    return answerable(found, background(found, WORDS))


def test_a_paper_that_meaning_and_words_set_apart_is_likely_and_the_rest_are_not():
    found = of(ranked(candidate(1, 30.0, 0.85), *others()))
    assert found["1"] > 0.8
    assert max(found[each] for each in found if each != "1") < 0.3


def test_the_best_of_papers_that_have_nothing_to_do_with_the_question_is_unlikely():
    found = ranked(*others(sim=0.3, bm25=4.0))
    assert found[0].fused.score > 0.9, "its score says nothing of it"
    assert max(of(found).values()) < 0.05
    assert answerable(found, background(found, WORDS)) < 0.15


def test_that_some_paper_answers_is_likely_where_one_stands_out():
    assert chance(candidate(1, 30.0, 0.85), *others()) > max(0.8, chance(candidate(1, 8.0, 0.5), *others()))


def test_every_candidate_has_a_probability_also_one_that_a_single_leg_returned():
    found = of(ranked(candidate(1, 20.0, None), candidate(2, None, 0.6), *others()))
    assert set(found) == {"1", "2", *(each.pmid for each in others())}
    assert all(0 < each < 1 for each in found.values())


def test_a_paper_that_the_vectors_did_not_return_counts_as_far_as_the_last_that_they_did():
    last = others()[-1]
    found = of(ranked(candidate(1, last.bm25, None), *others()))
    assert found["1"] == pytest.approx(found[last.pmid], abs=0.01)


def test_how_good_a_paper_is_as_evidence_changes_no_probability():
    plain = [candidate(1, 20.0, 0.7, design=0), *others()]
    better = [candidate(1, 20.0, 0.7, design=3), *others()]
    assert of(ranked(*plain)) == of(ranked(*better))
    assert chance(*plain) == chance(*better)


def test_few_candidates_are_compared_with_what_candidates_usually_are_like():
    assert background(ranked(*others(FIRST)), WORDS).tail == TYPICAL_TAIL
    assert background(ranked(*others(FIRST + 1)), WORDS).tail == pytest.approx(others(FIRST + 1)[-1].sim)
    assert chance(candidate(1, 30.0, 0.85)) > 0.8


def test_without_candidates_nothing_is_likely():
    behind = background([], 0)
    assert relevance([], behind) == {}
    assert answerable([], behind) == 0.0


def test_a_likelier_paper_with_more_of_the_questions_words_answers_more_often():
    assert answers(0.9, 1.0) > answers(0.9, 0.5) > answers(0.3, 0.5)
    assert answers(1.0, 1.0) > 0.99
    assert answers(0.0, 0.0) < 0.01


TERMS = frozenset(analyse("one two three four five"))


def test_a_cosine_that_says_it_alone_leaves_the_words_unread_and_below_that_they_decide():
    for cosine in (FITS_FROM, 0.9):
        assert not is_weak(cosine, "", TERMS)
    between = FITS_FROM - COVERAGE_WEIGHT / 2
    assert is_weak(between, "one two", TERMS)
    assert not is_weak(between, "one two three", TERMS)
    assert is_weak(0.1, "one two three four", TERMS)


@pytest.mark.parametrize("sim", [None, 0.1, -0.2])
def test_a_passage_with_every_word_fits_whatever_the_model_makes_of_them(sim):
    assert not is_weak(sim, "five four three two one", TERMS)
    assert is_weak(sim, "four three two one", TERMS)


def test_nothing_answers_where_it_is_unlikely_or_doubtful_and_every_hit_weak():
    assert is_unanswered(UNLIKELY - 0.01, all_weak=False)
    assert not is_unanswered(UNLIKELY, all_weak=False)
    assert is_unanswered(DOUBTFUL - 0.01, all_weak=True)
    assert not is_unanswered(DOUBTFUL, all_weak=True)


def test_a_probability_is_the_sigmoid_of_the_weighted_sum():
    even = Logistic(intercept=-1.0, weights=(2.0, 0.5))
    assert even.probability((0.5, 0.0)) == 0.5
    assert even.probability((0.5, 2 * log(3))) == pytest.approx(0.75)


@pytest.mark.parametrize(("feature", "bound"), [(1e9, 1.0), (-1e9, 0.0)])
def test_no_feature_is_too_large_for_it(feature, bound):
    assert Logistic(0.0, (1.0,)).probability((feature,)) == pytest.approx(bound, abs=1e-12)


def test_weights_come_in_the_order_that_is_asked_for():
    fitted = shipped()["models"]["relevance"]
    names = tuple(sorted(fitted["weights"]))
    assert calibrated("relevance", names).weights == tuple(fitted["weights"][each] for each in names)
    assert calibrated("relevance", names[::-1]).weights == calibrated("relevance", names).weights[::-1]


def test_coefficients_of_other_features_are_rejected():
    with pytest.raises(ValueError, match="relevance was fitted to other features"):
        calibrated("relevance", ("cosine",))


@pytest.mark.parametrize("name", ["relevance", "answerable", "confidence"])
def test_what_ships_says_how_well_it_held_on_questions_that_were_left_out(name):
    held_out = shipped()["models"][name]["held_out"]
    assert held_out["ece"] <= 0.05
    assert held_out["auroc"] >= 0.75
    assert held_out["brier"] < held_out["brier_of_share"]


def test_it_is_fitted_to_one_model_however_that_runs():
    assert is_fitted_to("bge-small-en-v1.5/int8/e5e68eafa2f00c27")
    assert is_fitted_to("bge-small-en-v1.5/http/384")
    assert not is_fitted_to("bge-base-en-v1.5/fp32/e35ab1bcfb8ff107")

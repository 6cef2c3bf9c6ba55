"""How likely it is that hits are relevant."""

import pytest

from bio_mcp.literature.records import RetractionStatus
from bio_mcp.retrieval.passages import Candidate, StaticQuality
from bio_mcp.retrieval.ranking import fuse, rank
from bio_mcp.retrieval.relevance import FIRST, TYPICAL_TAIL, answerable, any_relevant, background, relevance
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
    assert chance(candidate(1, 30.0, 0.85), *others()) > 0.8
    assert chance(candidate(1, 30.0, 0.85), *others()) > chance(candidate(1, 8.0, 0.5), *others())


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
    assert any_relevant("confidence", [], behind) == 0.0

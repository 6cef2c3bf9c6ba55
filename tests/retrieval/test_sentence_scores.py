import pytest

from bio_mcp.retrieval.sentence_scores import (
    FINDING,
    LATE,
    MEANING,
    PAPER,
    WORDS,
    bm25_among,
    combined,
    says_what_was_found,
    scaled,
)


def test_scores_are_scaled_from_the_lowest_to_the_highest():
    assert scaled([2.0, 4.0, 3.0]) == [0.0, 1.0, 0.5]
    assert scaled([2.0, 2.0]) == [1.0, 1.0]
    assert scaled([]) == []


def test_the_parts_add_up_with_their_weights():
    places = [(0.0, False, 0.5), (1.0, True, 0.5)]
    assert combined([0.2, 0.4], [0.0, 9.0], places) == pytest.approx(
        [0.5 * PAPER, MEANING + WORDS + LATE + FINDING + 0.5 * PAPER]
    )


def test_a_rare_word_counts_more_than_one_that_every_sentence_has():
    texts = ["Aspirin and fever.", "Aspirin and pain.", "Aspirin and sleep."]
    fever, pain, _ = bm25_among(texts, {"aspirin", "fever"})
    assert fever > pain > 0


def test_without_a_common_word_or_a_text_there_is_nothing():
    assert bm25_among(["Fever fell.", ""], {"aspirin"}) == [0.0, 0.0]
    assert bm25_among([], {"aspirin"}) == []


@pytest.mark.parametrize(
    "sentence",
    [
        "Ginger reduced nausea in pregnancy by 40%.",
        "We examined 120 women and found less nausea with ginger.",
        "No difference was measured between the groups, and there was no effect on weight.",
        "The odds ratio was 1.4 (95% CI 1.1-1.8).",
        "Adult tissue-resident macrophages are seeded before birth.",
        "This study shows that the drug is effective.",
    ],
)
def test_a_finding_or_a_statement_of_fact_passes(sentence):
    assert says_what_was_found(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "Does ginger help?",
        "The aim of this study was to assess ginger.",
        "We investigated the role of p53 in neurons.",
        "The association was analyzed by binary logistic regression.",
        "This study fills this gap by examining craving.",
        "Whether ginger reduces nausea is unclear.",
        "Implications for practice are discussed.",
        "Little is known about lower doses.",
        "Patients were randomized to two groups.",
    ],
)
def test_a_question_an_aim_a_method_and_what_is_unknown_do_not(sentence):
    assert not says_what_was_found(sentence)

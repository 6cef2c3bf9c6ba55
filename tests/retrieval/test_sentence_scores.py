import pytest

from bio_mcp.retrieval.sentence_scores import FINDING, LATE, MEANING, PAPER, WORDS, bm25_among, combined, scaled


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

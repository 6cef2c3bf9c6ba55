import pytest

from bio_mcp.retrieval.sentence_scores import LATE, MEANING, PAPER, WORDS, bm25_among, combined, scaled


def test_scores_are_scaled_from_the_lowest_to_the_highest():
    assert scaled([2.0, 4.0, 3.0]) == [0.0, 1.0, 0.5]
    assert scaled([2.0, 2.0]) == [1.0, 1.0]
    assert scaled([]) == []


def test_the_parts_add_up_with_their_weights():
    assert combined([0.2, 0.4], [0.0, 9.0], [0.0, 1.0], [0.5, 0.5]) == pytest.approx(
        [0.5 * PAPER, MEANING + WORDS + LATE + 0.5 * PAPER]
    )


def test_a_rare_word_counts_more_than_one_that_every_sentence_has():
    texts = ["Aspirin and fever.", "Aspirin and pain.", "Aspirin and sleep."]
    fever, pain, _ = bm25_among(texts, {"aspirin", "fever"})
    assert fever > pain > 0


def test_of_two_sentences_with_the_words_the_shorter_is_better():
    short, long = bm25_among(["Fever fell.", "Fever fell in all but two of the treated patients."], {"fever"})
    assert short > long


def test_without_a_common_word_or_a_text_there_is_nothing():
    assert bm25_among(["Fever fell.", ""], {"aspirin"}) == [0.0, 0.0]
    assert bm25_among([], {"aspirin"}) == []

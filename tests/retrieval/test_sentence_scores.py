import pytest

from bio_mcp.retrieval.sentence_scores import FINDING, LATE, MEANING, PAPER, WORDS, Place, bm25_among, combined, scaled


def test_scores_are_scaled_from_the_lowest_to_the_highest():
    assert scaled([2.0, 4.0, 3.0]) == [0.0, 1.0, 0.5]
    assert scaled([2.0, 2.0]) == [1.0, 1.0]
    assert scaled([]) == []


def test_the_parts_add_up_with_their_weights():
    places = [Place(0.0, finding=False, paper=0.5), Place(1.0, finding=True, paper=0.5)]
    assert combined([0.2, 0.4], [0.0, 9.0], places) == pytest.approx(
        [0.5 * PAPER, MEANING + WORDS + LATE + FINDING + 0.5 * PAPER]
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

"""What of a paper is shown for a hit."""

import pytest

from bio_mcp.retrieval.excerpts import SNIPPET, best_chunk, cut, snippet
from bio_mcp.retrieval.passages import StoredChunk


def chunk(chunk_id, text):
    return StoredChunk("1", chunk_id, text, None, 0, len(text))


CHUNKS = [chunk("w0", "Nothing of it."), chunk("w1", "Statins lower mortality."), chunk("w2", "Statins are drugs.")]


def test_the_window_that_the_vectors_named_is_shown_and_without_one_that_with_most_terms():
    assert best_chunk(CHUNKS, "w2", {"mortal"}).chunk_id == "w2"
    assert best_chunk(CHUNKS, None, {"statin", "mortal"}).chunk_id == "w1"
    assert best_chunk(CHUNKS, "gone", {"statin"}).chunk_id == "w1"
    assert best_chunk(CHUNKS, None, {"quark"}).chunk_id == "w0"


def test_a_snippet_is_whole_sentences_around_the_best_one():
    long = "This sentence says a good deal of nothing that anybody would want to read twice, let alone cite. "
    text = long * 3 + "Statins lowered mortality by half. " + long * 3
    shown = snippet(text, {"statin", "mortal"})
    assert "Statins lowered mortality by half." in shown
    assert len(shown) <= SNIPPET
    assert shown.endswith(".")
    assert shown[0] == "S" or shown.startswith("This sentence")


def test_a_sentence_that_is_too_long_is_cut_at_a_word():
    shown = snippet("word " * 200, set())
    assert len(shown) <= SNIPPET
    assert shown.endswith("word…")
    assert snippet("", {"statin"}) == ""


def test_a_sentence_that_is_too_long_is_cut_to_where_most_of_the_words_are():
    sentence = f"Statins were given and {'nothing of note was seen ' * 20}but statins lowered mortality in the end."
    for most in (60, 100, 320):
        shown = snippet(sentence, {"statin", "mortal"}, most)
        assert "statins lowered mortality" in shown
        assert len(shown) <= most
        assert shown.startswith("…")
    assert snippet(sentence, {"given"}, 60).startswith("Statins were given")


@pytest.mark.parametrize("text", ["x" * 100_000, "x " * 50_000, "statin " * 20_000])
def test_a_long_text_is_cut_in_time(text):
    assert len(snippet(text, {"statin"}, 60)) <= 60


@pytest.mark.parametrize(
    ("text", "limit", "shown"),
    [
        ("one two three", 13, "one two three"),
        ("one two three", 12, "one two…"),
        ("one two three", 9, "one two…"),
        ("one two three", 8, "one two…"),
        ("one\ttwo\nthree", 8, "one\ttwo…"),
        ("aaaaaaaaaa", 5, "aaaa…"),
        ("a bbbbbbbbbbbb", 10, "a bbbbbbb…"),
        ("", 5, ""),
    ],
)
def test_text_is_cut_at_a_word_unless_half_of_it_were_lost(text, limit, shown):
    assert cut(text, limit) == shown
    assert len(shown) <= limit

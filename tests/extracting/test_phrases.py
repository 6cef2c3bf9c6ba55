"""Phrases are found where looking for each at each place finds them."""

import random

from bio_mcp.extracting.gazetteer import Phrases


def by_looking(phrases, words):
    places = range(len(words) + 1)
    return {
        (start, start + len(phrase), number)
        for number, phrase in enumerate(phrases)
        for start in places
        if phrase and tuple(words[start : start + len(phrase)]) == tuple(phrase)
    }


def test_every_occurrence_is_found_overlapping_ones_and_those_within_others_too():
    draw = random.Random(7)  # noqa: S311  no secret
    for _ in range(60):
        phrases = [tuple(draw.choices("abc", k=draw.randint(1, 4))) for _ in range(draw.randint(1, 12))]
        words = draw.choices("abcd", k=40)
        assert set(Phrases(phrases).matches(words)) == by_looking(phrases, words)


def test_equal_phrases_are_each_found_and_an_empty_one_never():
    assert set(Phrases([("a",), (), ("a",)]).matches("ba")) == {(1, 2, 0), (1, 2, 2)}

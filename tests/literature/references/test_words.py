"""Two spellings of one word are equal; two words are not."""

import pytest

from bio_mcp.literature.references.works import aligned, alike, folded, words_of


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("Straße", "strasse"),
        ("Søren Łoś Þór æ", "soren los thor ae"),
        ("ÉCOLE", "ecole"),
        ("CO₂ m²", "co2 m2"),
        ("", ""),
    ],
)
def test_accents_letters_of_other_languages_and_raised_figures_are_plain(text, plain):
    assert folded(text) == plain


@pytest.mark.parametrize("text", ["TNF-α", "TNF alpha", "tnf–Α", "TNFα"])
def test_a_greek_letter_is_its_name_however_it_is_joined(text):
    assert words_of(text) == ["tnf", "alpha"]


def test_underscores_and_marks_part_words_and_are_none():
    assert words_of("a_b -- (c) !") == ["a", "b", "c"]
    assert words_of("… — !") == []


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("protein", "protien"),
        ("kidney", "liver"),
        ("mouse", "moused2"),
        ("cat", "cats"),
        ("il17a", "il17b"),
        ("", "a"),
        ("increase", "decrease"),
        ("intra", "inter"),
        ("male", "males"),
    ],
)
def test_short_words_numbers_and_two_wrong_letters_make_another_word(one, other):
    assert not alike(one, other)
    assert not alike(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("protein", "proteins"),
        ("protein", "rotein"),
        ("protein", "protoin"),
        ("tumour", "tumor"),
        ("randomised", "randomized"),
        ("warnng", "warning"),
        ("a", "a"),
        ("", ""),
    ],
)
def test_a_letter_more_less_or_other_in_a_long_word_is_a_mistake_of_typing(one, other):
    assert alike(one, other)
    assert alike(other, one)


def test_words_that_are_parted_otherwise_differ_in_nothing():
    assert list(aligned(["micro", "rna", "in", "mice"], ["microrna", "in", "mice"])) == []
    assert list(aligned([], [])) == []


def test_what_differs_is_given_from_both_sides():
    assert list(aligned(["cats", "eat", "fish"], ["dogs", "eat"])) == [(["cats"], ["dogs"]), (["fish"], [])]

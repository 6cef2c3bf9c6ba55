"""Whether two titles are one: the limits of what may differ."""

import pytest

from bio_mcp.literature.references.titles import contains_phrase, contains_title, same_title

TITLE = "Effects of ginger on nausea in pregnancy: a randomised controlled trial"


@pytest.mark.parametrize(
    "stated",
    [
        "Effects of ginger on nausea in pregnancy",
        "EFFECTS OF GINGER ON NAUSEA IN PREGNANCY - A RANDOMIZED CONTROLLED TRIAL.",
        "Retracted article: Effects of ginger on nausea in pregnancy: a randomised controlled trial",
        "WITHDRAWN: Effects of ginger on nausea in pregnancy: a randomised controlled trial",
        "Effects of the ginger on nausea in a pregnancy: a randomised controlled trial",
        "Effects of ginger on nausea in preg nancy: a randomised controlled trial",
    ],
)
def test_a_title_is_known_without_its_subtitle_with_a_mark_and_with_other_small_words(stated):
    assert same_title(stated, TITLE) is True
    assert same_title(TITLE, TITLE.upper()) is True


@pytest.mark.parametrize(
    "stated",
    [
        "Effects of garlic on nausea in pregnancy: a randomised controlled trial",
        "Effects of ginger on nausea in pregnancy: a randomised controlled study",
        "Nausea in pregnancy",
        "Ginger",
        "Effects of ginger on nausea in pregnancy: a randomised controlled trial with some very different other ending",
    ],
)
def test_another_word_a_part_and_a_longer_title_are_other_titles(stated):
    assert same_title(stated, TITLE) is False


@pytest.mark.parametrize("stated", ["", "...", "Retracted", "Correction to"])
def test_a_title_without_words_of_its_own_can_be_compared_with_none(stated):
    assert same_title(stated, TITLE) is None
    assert same_title(TITLE, stated) is None


def test_a_subtitle_is_left_out_only_of_a_title_of_four_words():
    assert same_title("Ginger in pregnancy", "Ginger in pregnancy: what every midwife should know today") is False
    assert same_title("Ginger in early pregnancy", "Ginger in early pregnancy: what midwives know") is True


def test_running_text_has_a_title_only_whole():
    assert contains_title(f"Doe J. 2020. {TITLE}. Gut 3:1", TITLE) is True
    assert contains_title("Doe J. 2020. Effects of ginger on nausea. Gut 3:1", TITLE) is False
    assert contains_title("", TITLE) is False


@pytest.mark.parametrize("title", ["", "Ginger", "Ginger and nausea"])
def test_a_title_of_few_words_is_not_looked_for_in_text(title):
    assert contains_title(f"Doe J. {title}. Gut 2020", title) is None


def test_a_phrase_is_found_at_the_edges_of_words_alone():
    assert contains_phrase("In: Gut, 2020.", "GUT")
    assert not contains_phrase("Guts and glory", "Gut")
    assert contains_phrase("J. Biol. Chem. 3", "J Biol Chem")
    assert not contains_phrase("J Biol of Chem", "J Biol Chem")

"""Which names can be of one journal, and which cannot."""

import pytest

from bio_mcp.literature.records import Journal
from bio_mcp.literature.references.journals import same_journal

BLOOD = Journal(
    "Journal of cerebral blood flow and metabolism : official journal of the Society", "J Cereb Blood Flow Metab"
)


@pytest.mark.parametrize(
    "stated",
    [
        "J. Cereb. Blood Flow Metab.",
        "JCBFM",
        "J Cerebr Bld Flow Metabolism",
        "Journal of Cerebral Blood Flow & Metabolism",
    ],
)
def test_words_may_be_cut_and_shortened_in_their_order(stated):
    assert same_journal(stated, BLOOD) is True


@pytest.mark.parametrize(
    "stated",
    [
        "Blood",
        "Journal",
        "J Blood Cereb Flow Metab",
        "Cereb Blood Flow Metab",
        "J Cereb Blood Flow Neurol",
        "JC",
        "JBFM",
    ],
)
def test_another_order_another_beginning_and_a_single_word_are_of_other_journals(stated):
    assert same_journal(stated, BLOOD) is False


@pytest.mark.parametrize("stated", ["", "...", "of the"])
def test_names_are_not_compared_where_either_side_has_none(stated):
    assert same_journal(stated, BLOOD) is None
    assert same_journal("Blood", Journal(stated)) is None
    assert same_journal("Blood", None) is None


def test_a_place_in_brackets_names_no_journal_and_parts_none():
    assert same_journal("Lancet (London)", Journal("Lancet (London, England)")) is True
    assert same_journal("Nature (London)", Journal("Lancet (London, England)")) is False


@pytest.mark.parametrize(
    ("short", "other"), [("NEJM", "New England journal of public policy and law"), ("PNAS", "Pain")]
)
def test_initials_that_everybody_knows_stand_for_one_journal(short, other):
    assert same_journal(short, Journal(other)) is False


@pytest.mark.parametrize(
    ("stated", "printed", "same"),
    [
        ("Nature", "Nature reviews. Cancer", False),
        ("Journal", "Journal of virology and immunology", False),
        ("MMWR", "MMWR. Recommendations and reports : weekly", True),
        ("Mmwr.", "MMWR. Morbidity and mortality weekly report", True),
    ],
)
def test_the_first_word_of_a_name_stands_for_it_only_where_it_is_written_in_capitals(stated, printed, same):
    assert same_journal(stated, Journal(printed)) is same

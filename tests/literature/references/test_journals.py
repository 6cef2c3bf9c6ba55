"""Which names can be of one journal, and which cannot."""

import pytest

from bio_mcp.literature.records import Journal
from bio_mcp.literature.references.comparing import same_journal

BLOOD = Journal(
    "Journal of cerebral blood flow and metabolism : official journal of the Society", "J Cereb Blood Flow Metab"
)


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
    ("stated", "printed", "same"),
    [
        ("N Engl J Med", "The New England journal of medicine", True),
        ("NEJM", "The New England journal of medicine", True),
        ("NEJM", "New England journal of public policy and law", False),
        ("J Cerebr Bld Flow Metabolism", "Journal of cerebral blood flow and metabolism : official journal", True),
        ("JCBFM", "Journal of cerebral blood flow and metabolism : official journal", True),
        (
            "Proc. Natl. Acad. Sci. USA",
            "Proceedings of the National Academy of Sciences of the United States of America",
            True,
        ),
        ("Eye (London, England)", "Eye (London, England)", True),
        ("J Elb Shoulder Surg", "Journal of shoulder and elbow surgery", False),
        ("Jpn J Ophthalmol", "Japanese journal of ophthalmology", True),
        ("Dtsch Med Wochenschr", "Deutsche medizinische Wochenschrift (1946)", True),
        ("Nat Med", "Nature methods", False),
        ("Br J Surg", "British journal of sports medicine", False),
        ("Journal", "Journal of virology and immunology", False),
        ("MMWR", "MMWR. Recommendations and reports : weekly", True),
    ],
)
def test_a_journal_is_compared_by_the_beginnings_of_its_words_or_by_capitals(stated, printed, same):
    assert same_journal(stated, Journal(printed)) is same

"""Which author of a reference is not the record's."""

import pytest

from bio_mcp.literature.records import Article, Author
from bio_mcp.literature.references.comparing import COMPARED, differing_author
from bio_mcp.literature.references.works import work


def differing(stated, *authors, complete=True):
    return differing_author(work(authors=stated), Article("1", authors=authors, authors_complete=complete))


GARCIA = Author("García-López", "José María", "JM")
LI = Author("Li", "Na", "N")
GROUP = Author(collective_name="RECOVERY Collaborative Group")


@pytest.mark.parametrize(
    "stated",
    [
        "García-López JM",
        "Garcia Lopez, J. M.",
        "J.M. García",
        "López JM",
        "Garcialopez J",
        "GARCÍA-LÓPEZ, JOSÉ",
        "Garcia-Lopez JM Jr",
    ],
)
def test_a_family_name_of_two_parts_is_known_by_either_and_joined(stated):
    assert differing([stated], GARCIA, LI) is None


@pytest.mark.parametrize("stated", ["Garza JM", "Na L", "JM", "Jr", "José María"])
def test_given_names_initials_and_ranks_are_no_family_name(stated):
    assert differing([stated], GARCIA, LI) == (stated, "García-López JM")


def test_the_first_author_is_the_first_and_further_ones_come_in_any_order():
    third = Author("Okafor", "Ada", "A")
    assert differing(["García-López JM", "Okafor A", "Li N"], GARCIA, LI, third) is None
    assert differing(["Li N", "García-López JM"], GARCIA, LI) == ("Li N", "García-López JM")


def test_a_family_name_of_one_letter_is_one():
    assert differing(["García-López JM", "O, Joo Hyun"], GARCIA, Author("O", "Joo Hyun", "JH")) is None


def test_a_group_that_signs_may_stand_first_and_a_person_may_too():
    assert differing(["RECOVERY Collaborative Group"], GARCIA, GROUP) is None
    assert differing(["García-López JM"], GROUP, GARCIA) == ("García-López JM", GROUP.short_name)


def test_an_author_more_than_the_record_has_is_answered_with_those_it_has():
    assert differing(["García-López JM", "Li N", "Smith J"], GARCIA, LI) == ("Smith J", "García-López JM, Li N")
    assert differing(["García-López JM", "Li N", "Smith J"], GARCIA, LI, complete=False) is None
    assert differing(["Smith J", "Li N"], GARCIA, LI, complete=False) == ("Smith J", "García-López JM")


def test_a_name_that_the_record_corrects_is_the_corrected_one():
    wrong = Author("Gracia", "José", "J", valid=False)
    assert differing(["García-López J"], wrong, GARCIA) is None
    assert differing(["Gracia J"], wrong, GARCIA) == ("Gracia J", "García-López JM")


@pytest.mark.parametrize(("place", "seen"), [(COMPARED - 1, True), (COMPARED, False)])
def test_of_a_long_list_the_first_authors_are_compared(place, seen):
    stated = ["García-López JM"] * (COMPARED + 1)
    stated[place] = "Invented I"
    assert (differing(stated, GARCIA, LI) is not None) is seen

"""A reference as a value: what is dropped, bounded and shown."""

import pytest

from bio_mcp.literature.identifiers import year_in
from bio_mcp.literature.references.works import LONGEST, CitedWork, work


@pytest.mark.parametrize(
    ("title", "read"), [("12-34", ""), ("...", ""), ("A 1", ""), ("Of", "Of"), (" Two\n words ", "Two words")]
)
def test_a_title_has_a_word(title, read):
    assert work(title=title).title == read


@pytest.mark.parametrize(
    ("text", "year"),
    [("c2019", "2019"), ("12019", ""), ("1499", ""), ("2100", ""), ("in press", ""), ("1998-1999", "1998")],
)
def test_a_year_is_four_figures_that_can_be_one(text, year):
    assert year_in(text) == year


def test_ids_that_are_none_are_dropped_and_others_made_normal():
    made = work(doi="https://doi.org/10.1000/ABC", pmid="0", pmcid="pmc45", nobody="knows this")
    assert (made.doi, made.pmid, made.pmcid) == ("10.1000/abc", "", "PMC45")


def test_fields_and_lists_are_bounded():
    made = work(title="long " * LONGEST, authors=["Doe J", " ", *["Li N"] * 600])
    assert len(made.title) <= LONGEST
    assert (len(made.authors), made.authors[:2]) == (500, ("Doe J", "Li N"))


@pytest.mark.parametrize(
    ("stated", "shown"),
    [
        ({"text": "As written.", "title": "Some title"}, "As written."),
        (
            {"authors": ["Doe J", "Li N"], "title": "A title.", "journal": "Gut", "year": "2020"},
            "Doe J et al. A title. Gut 2020",
        ),
        ({"doi": "10.1000/a", "pmid": "7"}, "10.1000/a"),
        ({"pmid": "7", "pmcid": "PMC8"}, "PMID 7"),
        ({"pmcid": "PMC8", "key": "k"}, "PMC8"),
        ({"key": "k"}, "k"),
    ],
)  # fmt: skip
def test_it_is_shown_as_written_else_by_what_it_states(stated, shown):
    assert work(**stated).shown == shown


def test_a_year_and_a_key_alone_are_nothing_to_look_for():
    assert CitedWork(year="2020", volume="3", key="k", text="2020;3").is_empty
    assert not CitedWork(pmcid="PMC8").is_empty

"""A reference as it is written, its words, and the identifiers in it."""

import pytest

from bio_mcp.literature.identifiers import year_in
from bio_mcp.literature.references.works import LONGEST, CitedWork, aligned, alike, folded, ids_in, words_of, work


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
    assert words_of(text) == ("tnf", "alpha")


def test_underscores_and_marks_part_words_and_are_none():
    assert words_of("a_b -- (c) !") == ("a", "b", "c")
    assert words_of("… — !") == ()


ANOTHER = "protein/protien kidney/liver mouse/moused2 cat/cats il17a/il17b /a increase/decrease intra/inter male/males"
MISTYPED = "protein/proteins protein/rotein protein/protoin tumour/tumor randomised/randomized warnng/warning a/a /"


@pytest.mark.parametrize("pair", ANOTHER.split())
def test_short_words_numbers_and_two_wrong_letters_make_another_word(pair):
    one, other = pair.split("/")
    assert not alike(one, other)
    assert not alike(other, one)


@pytest.mark.parametrize("pair", MISTYPED.split())
def test_a_letter_more_less_or_other_in_a_long_word_is_a_mistake_of_typing(pair):
    one, other = pair.split("/")
    assert alike(one, other)
    assert alike(other, one)


def test_words_that_are_parted_otherwise_differ_in_nothing():
    assert list(aligned(["micro", "rna", "in", "mice"], ["microrna", "in", "mice"])) == []
    assert list(aligned([], [])) == []


def test_what_differs_is_given_from_both_sides():
    assert list(aligned(["cats", "eat", "fish"], ["dogs", "eat"])) == [(["cats"], ["dogs"]), (["fish"], [])]


@pytest.mark.parametrize(
    ("text", "doi"),
    [
        ("https://doi.org/10.1000/a.b.", "10.1000/a.b"),
        ("doi: https://dx.doi.org/10.1000/ab", "10.1000/ab"),
        ("DOI:10.1000/ab;", "10.1000/ab"),
        ("(see 10.1000/s(20)1-9)", "10.1000/s(20)1-9"),
        ("[10.1000/ab].", "10.1000/ab"),
        ("“10.1000/ab”,", "10.1000/ab"),
        ("10.1000.10/ab", "10.1000.10/ab"),
        ("version 10.12/ab", ""),
        ("110.1000", ""),
    ],
)
def test_a_doi_is_taken_without_what_belongs_to_the_sentence(text, doi):
    assert ids_in(text)[0] == doi


@pytest.mark.parametrize(
    ("text", "pmid", "pmcid"),
    [
        ("PMID: 123; PMCID: PMC45", "123", "PMC45"),
        ("pmid 123", "123", ""),
        ("https://pubmed.ncbi.nlm.nih.gov/123/", "123", ""),
        ("http://www.ncbi.nlm.nih.gov/pubmed/123", "123", ""),
        ("https://www.ncbi.nlm.nih.gov/pmc/articles/PMC45/", "", "PMC45"),
        ("https://pmc.ncbi.nlm.nih.gov/articles/PMC45", "", "PMC45"),
        ("PMID: 1234567890", "", ""),
        ("123", "", ""),
    ],
)
def test_pmids_and_pmcids_stand_behind_their_names_or_in_addresses(text, pmid, pmcid):
    assert ids_in(text)[1:3] == (pmid, pmcid)


def test_the_first_id_counts_and_the_text_is_left_without_any():
    doi, pmid, _, rest = ids_in("Doe J. Title. doi:10.1000/a PMID: 1 PMID: 2 <https://lab.example/x?y=1> end")
    assert (doi, pmid) == ("10.1000/a", "1")
    assert rest.split() == ["Doe", "J.", "Title.", "end"]

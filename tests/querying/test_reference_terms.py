"""How NCBI is asked for a reference, and which verdict records give it."""

from dataclasses import replace

import pytest

from bio_mcp.literature.notices import Notice
from bio_mcp.literature.records import Article, Author, Journal, PartialDate, RetractionStatus
from bio_mcp.literature.references.comparing import compare
from bio_mcp.literature.references.works import work
from bio_mcp.ports.ncbi import Citation
from bio_mcp.ports.scholarly import RegisteredWork
from bio_mcp.querying.references.checking import article_of, citation_of, field_term, first_page, title_term, verdict_on
from bio_mcp.querying.references.run import row_of

WHOLE = work(
    title="Screening for duct-dependent congenital heart disease with pulse oximetry: a critical evaluation",
    authors=["Granelli, Anne de-Wahl", "Ostman-Smith I"],
    journal="Acta Paediatr. (Oslo)",
    year="2007",
    volume="96",
    pages="1455–1459",
)


def test_the_matcher_is_given_the_imprint_and_an_author_only_where_it_lacks_something():
    assert citation_of(WHOLE) == Citation("Acta Paediatr.", "2007", "96", "1455", "")
    assert citation_of(replace(WHOLE, volume="")) == Citation("Acta Paediatr.", "2007", "", "1455", "granelli a")
    for lacking in ({"journal": ""}, {"volume": "", "pages": ""}, {"year": "", "volume": ""}):
        assert citation_of(replace(WHOLE, **lacking)) is None


def test_nothing_of_a_reference_can_end_a_field_or_a_line_of_the_matcher():
    hostile = citation_of(replace(WHOLE, journal="A|B\nC", volume="1|2", pages="3|4"))
    assert not any(mark in field for field in (hostile.journal, hostile.volume, hostile.first_page) for mark in "|\n\r")


def test_a_title_is_searched_by_its_longest_plain_words():
    assert title_term(WHOLE) == " AND ".join(
        f"{word}[ti]" for word in "screening dependent congenital heart disease oximetry critical evaluation".split()
    )
    assert title_term(replace(WHOLE, title="Reply")) == ""
    assert title_term(replace(WHOLE, title="β 12 (of) [ti] OR")) == ""


def test_a_title_cannot_change_the_search():
    term = title_term(replace(WHOLE, title='Heart") OR (cancer[ti] NOT "disease AND everything'))
    assert set(term.replace("[ti]", "").split()) == {"heart", "AND", "cancer", "disease", "everything", "not"}


def test_the_second_search_takes_either_of_two_pairs_of_words():
    term = field_term(WHOLE)
    assert term.startswith("granelli a[au] AND 2007[dp] AND ((")
    assert term.count("[ti]") == 4
    assert " OR " in term


def test_without_a_title_the_fields_are_searched():
    bare = replace(WHOLE, title="")
    assert field_term(bare) == "Acta Paediatr.[ta] AND 2007[dp] AND 96[vi] AND 1455[pg] AND granelli a[au]"
    assert field_term(replace(bare, pages="")) == ""


@pytest.mark.parametrize(
    ("pages", "first"), [("1455–1459", "1455"), ("e12-e20", "e12"), ("12, 15", "12"), ("S1—S9", "S1"), ("", "")]
)
def test_the_first_page_is_what_stands_before_the_dash(pages, first):
    assert first_page(replace(WHOLE, pages=pages)) == first


@pytest.mark.parametrize(
    ("author", "asked"),
    [
        ("van der Berg J", "van der berg j"),
        ("J. van der Berg", "van der berg j"),
        ("O'Brien, Mary", "o'brien m"),
        ("Müller Ä", "muller"),
        ("WHO", "who"),
    ],
)
def test_an_author_is_asked_for_by_family_name_and_initial(author, asked):
    assert field_term(replace(WHOLE, authors=(author,))).partition("[au]")[0] == asked


PAPER = Article(
    "17727691", title=WHOLE.title, authors=(Author("Granelli", "Anne", "A"), Author("Ostman-Smith", "Ingegerd", "I")),
    journal=Journal("Acta paediatrica (Oslo, Norway : 1992)", volume="96", medline_abbreviation="Acta Paediatr"),
    publication_date=PartialDate("2007 Oct", 2007, 10), pages="1455-9", doi="10.1000/paper",
    retraction=RetractionStatus.CLEAR,
)  # fmt: skip


def judged(cited, *papers, complete=True):
    return verdict_on(cited, [(each, compare(cited, each)) for each in papers], complete=complete)


def test_of_several_records_the_one_that_confirms_is_meant_and_of_equal_ones_the_oldest():
    twin, other = replace(PAPER, pmid="9"), replace(PAPER, pmid="1", pages="1-2")
    assert judged(WHOLE, other, PAPER).article.pmid == PAPER.pmid
    assert judged(WHOLE, PAPER, twin).article.pmid == "9"


def test_a_verdict_needs_every_answer_unless_a_record_confirms():
    assert judged(WHOLE, PAPER, complete=False).verdict == "found"
    assert judged(replace(WHOLE, year="2001"), PAPER, complete=False).verdict == "unknown"
    assert judged(WHOLE, complete=False).verdict == "unknown"


def test_a_doubt_names_its_fields():
    assert judged(replace(WHOLE, year="2001"), PAPER).reason == "year differs from the record"
    two = judged(replace(WHOLE, year="2001", volume="7"), PAPER)
    assert two.reason == "volume and year differ from the record"
    short = work(title=WHOLE.title)
    assert judged(short, PAPER).reason == "it states too little to be sure that this record is meant"


def test_a_record_that_shares_an_author_and_a_year_is_not_what_is_meant():
    stranger = replace(
        PAPER, title="Something else about other things", pages="1-2", journal=Journal("Gut", volume="1")
    )
    assert judged(WHOLE, stranger).verdict == "not_found"


def test_a_row_has_all_that_a_report_needs():
    row = row_of(
        judged(replace(WHOLE, issue="1", key="doe", line=7), replace(PAPER, retraction=RetractionStatus.RETRACTED))
    )
    assert (row["verdict"], row["retraction"], row["pmid"], row["doi"]) == (
        "retracted", "retracted", PAPER.pmid, "10.1000/paper",
    )  # fmt: skip
    assert (row["key"], row["line"], row["differs"]) == ("doe", 7, [])


def test_a_registered_work_is_a_record_without_a_pmid():
    registered = RegisteredWork(
        "10.1/x", "A title", ("Doe, Jane", "The Group"), "Gut", 2019, "1", "2", "3-9", "journal-article",
        (Notice("concern"),),
    )  # fmt: skip
    made = article_of(registered)
    assert (made.pmid, made.doi, made.pages, made.retraction) == ("", "10.1/x", "3-9", RetractionStatus.CONCERN)
    assert [each.short_name for each in made.authors] == ["Doe Jane", "The Group"]
    assert (made.journal.title, made.publication_date.year) == ("Gut", 2019)
    assert article_of(RegisteredWork("10.1/y")).journal is None

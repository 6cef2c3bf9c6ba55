"""What of a reference a record confirms."""

from dataclasses import replace

import pytest

from bio_mcp.literature.records import Article, Author, Journal, PartialDate
from bio_mcp.literature.references.comparing import compare
from bio_mcp.literature.references.plain import parse_citation
from bio_mcp.literature.references.works import work

PAPER = Article(
    "123",
    title="β-Müller cells of the retina: a randomised review of what they do.",
    authors=(
        Author("van der Berg", "Jan", "J"),
        Author("O'Brien", "Mary Ann", "MA"),
        Author(collective_name="Retina Study Group"),
    ),
    journal=Journal("The British journal of ophthalmology", "Br J Ophthalmol", volume="79 Suppl 1", issue="3 Pt 2"),
    pages="1057-73.e7",
    doi="10.1000/ABC",
    publication_date=PartialDate("1998 Dec-1999 Jan", 1998, 12),
    electronic_date=PartialDate("1998 Nov 3", 1998, 11, 3),
)  # fmt: skip
CITED = work(
    title="Beta-Muller Cells of the Retina",
    authors=["J. van der Berg", "O’Brien, M. A."],
    journal="Brit. J. Ophthal.",
    year="1999",
    volume="79",
    issue="3",
    pages="1057–1073",
)


def test_a_reference_with_the_habits_of_people_is_confirmed():
    found = compare(CITED, PAPER)
    assert (found.differs, found.confirms) == ((), True)
    assert found.agrees == ("title", "authors", "journal", "year", "volume", "issue", "pages")


@pytest.mark.parametrize(
    ("field", "stated"),
    [
        ("title", "Beta-Muller Rods of the Retina"),
        ("title", "Something else about other things"),
        ("authors", ("Smith J", "O'Brien MA")),
        ("authors", ("O'Brien MA", "van der Berg J")),
        ("authors", ("van der Berg J", "Smith J")),
        ("journal", "Lancet"),
        ("year", "2000"),
        ("volume", "80"),
        ("pages", "1058-73"),
        ("pages", "1057-80"),
        ("doi", "10.1000/abd"),
    ],
)
def test_each_field_that_is_wrong_is_named_with_what_is_right(field, stated):
    found = compare(replace(CITED, **{field: stated}), PAPER)
    [difference] = found.differs
    assert (difference.field, found.confirms) == (field, False)
    assert difference.stated in (stated, *stated)
    assert difference.true


def test_a_wrong_issue_is_named_and_makes_nothing_doubtful():
    found = compare(replace(CITED, issue="4"), PAPER)
    assert [each.field for each in found.differs] == ["issue"]
    assert found.confirms


def test_an_id_of_another_paper_confirms_nothing():
    found = compare(replace(CITED, pmid="123", title="Something else about other things"), PAPER)
    assert "pmid" in found.agrees
    assert not found.confirms


@pytest.mark.parametrize(
    ("changed", "confirmed"),
    [({"title": ""}, True), ({"title": "", "pages": ""}, False), ({"title": "", "authors": (), "year": ""}, False)],
)
def test_without_a_title_the_whole_imprint_must_agree(changed, confirmed):
    assert compare(replace(CITED, **changed), PAPER).confirms is confirmed


def test_in_plain_text_the_title_is_looked_for_in_all_of_it():
    text = "Berg J: β-Müller cells of the retina: a randomized review of what they do - Br J Ophthalmol, 1998"
    assert "title" in compare(parse_citation(text), PAPER).agrees
    other = text.replace("randomized review of what they do", "randomized review of what rods do")
    assert "title" not in compare(parse_citation(other), PAPER).agrees
    last = text.replace("what they do", "what they eat").replace("review", "trial")
    assert "title" not in compare(parse_citation(last), PAPER).agrees


@pytest.mark.parametrize(
    ("text", "agrees"), [("J. Biol. Chem. 3", True), ("J Biol of Chem 3", False), ("J Biol Chemo", False)]
)
def test_in_plain_text_the_journal_stands_with_its_very_words(text, agrees):
    paper = replace(PAPER, journal=Journal("The Journal of biological chemistry", medline_abbreviation="J Biol Chem"))
    assert ("journal" in compare(work(text=f"Doe J, {text}", journal="Gut"), paper).agrees) is agrees


def test_a_field_that_the_record_lacks_neither_agrees_nor_differs():
    assert compare(CITED, Article("1")).agrees == ()
    assert compare(CITED, Article("1")).differs == ()

import pytest

from bio_mcp.literature.records import Article, Author, Journal, PartialDate
from bio_mcp.ports.ncbi import Citation
from bio_mcp.querying.identifiers import Cited, compare

PAPER = Article(
    "1",
    title="Müller cells of the retina: a review of what they do",
    authors=(Author("van der Berg", "Jan", "J"), Author(collective_name="Retina Group")),
    journal=Journal("Eye", volume="12"),
    pages="e37-8",
    publication_date=PartialDate("2021 Jan", 2021, 1),
    electronic_date=PartialDate("2020 Dec 3", 2020, 12, 3),
)


@pytest.mark.parametrize(
    ("known", "title", "agrees", "differs"),
    [
        (Citation("", "2021", "12", "e37", "van der berg j"), "", ("year", "volume", "first_page", "author"), ()),
        (Citation("", "2020", "", "", "berg j"), "", ("year", "author"), ()),
        (Citation("", "2019", "13", "E37", "smith"), "", ("first_page",), ("year", "volume", "author")),
        (Citation(), "Muller cells of the retina - a review of what they do.", ("title",), ()),
        (Citation(), "Müller cells of the retina", ("title",), ()),
        (Citation(), "Retina and lens", (), ("title",)),
        (Citation(), "", (), ()),
        (Citation(author="Retina Group"), "", ("author",), ()),
    ],
)
def test_a_record_is_compared_field_by_field(known, title, agrees, differs):
    assert compare(Cited(known, title), PAPER) == (agrees, differs)


def test_a_field_that_the_record_lacks_neither_agrees_nor_differs():
    assert compare(Cited(Citation("", "2021", "1", "1", "smith"), "A title"), Article("1")) == ((), ())

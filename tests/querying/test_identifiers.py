import pytest

from bio_mcp.literature.records import Article, Author, Journal, PartialDate
from bio_mcp.literature.references.works import CitedWork
from bio_mcp.querying.identifiers import compared

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
    ("cited", "agrees", "differs"),
    [
        (
            CitedWork("", ("van der berg j",), year="2021", volume="12", pages="e37"),
            ("year", "volume", "first_page", "author"),
            (),
        ),
        (CitedWork("", ("berg j",), year="2020"), ("year", "author"), ()),
        (
            CitedWork("", ("smith",), year="2019", volume="13", pages="E37"),
            ("first_page",),
            ("year", "volume", "author"),
        ),
        (CitedWork("Muller cells of the retina - a review of what they do."), ("title",), ()),
        (CitedWork("Müller cells of the retina"), ("title",), ()),
        (CitedWork("Retina and lens"), (), ("title",)),
        (CitedWork(), (), ()),
        (CitedWork("", ("Retina Group",), "another journal"), ("author",), ()),
    ],
)
def test_a_record_is_compared_field_by_field(cited, agrees, differs):
    assert compared(cited, PAPER) == (agrees, differs)


def test_a_field_that_the_record_lacks_neither_agrees_nor_differs():
    cited = CitedWork("A title", ("smith",), year="2021", volume="1", pages="1")
    assert compared(cited, Article("1")) == ((), ())

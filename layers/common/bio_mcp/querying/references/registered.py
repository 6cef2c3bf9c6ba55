"""Works as Crossref has them, as records to compare a reference with."""

from bio_mcp.literature.notices import status_of
from bio_mcp.literature.records import Article, Author, Journal, PartialDate
from bio_mcp.ports.notices import RegisteredWork


def article_of(work: RegisteredWork) -> Article:
    """The work as a record without a PMID ("")."""
    return Article(
        pmid="",
        title=work.title or None,
        authors=tuple(_author(each) for each in work.authors),
        journal=Journal(work.journal, volume=work.volume or None, issue=work.issue or None) if work.journal else None,
        pages=work.pages or None,
        doi=work.doi,
        publication_date=PartialDate(str(work.year), work.year) if work.year else None,
        retraction=status_of(work.notices),
    )


def _author(name: str) -> Author:
    """A person by "Family, Given", or a group."""
    family, comma, given = name.partition(", ")
    return Author(last_name=family, fore_name=given) if comma else Author(collective_name=name)

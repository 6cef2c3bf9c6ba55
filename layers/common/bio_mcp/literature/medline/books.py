"""PubmedBookArticle -> Article: a book, or a chapter of one (GeneReviews, StatPearls), with `book` for `journal`."""

from lxml import etree

from bio_mcp.literature.medline import citations, indexing, linking, people
from bio_mcp.literature.medline.dates import calendar_day, printed
from bio_mcp.literature.medline.markup import leaf, plain
from bio_mcp.literature.records import Article, Author, Book


def chapter(element: etree._Element) -> Article:
    """One PubmedBookArticle. Without a chapter title or chapter authors, those of the book count."""
    found = Article("", book=Book())
    citations.read(found, element, _RECORD)
    found.title = found.title or found.vernacular_title or (found.book.title if found.book else None)
    return citations.settled(found)


def _book(found: Article, element: etree._Element) -> None:
    book = _book_of(found)
    for child in element:
        tag = child.tag
        if tag == "Publisher":
            _publisher(book, child)
        elif tag == "AuthorList":
            _book_people(found, book, child)
        elif tag == "PubDate":
            found.publication_date = printed(child)
        elif tag == "ELocationID":
            linking.located(found, child)
        else:
            _described(book, child)


def _described(book: Book, child: etree._Element) -> None:
    if child.tag == "BookTitle":
        book.title = plain(child) or None
    elif child.tag == "Edition":
        book.edition = leaf(child)
    elif child.tag == "Isbn":
        isbn = leaf(child)
        book.isbn += (isbn,) if isbn else ()


def _publisher(book: Book, element: etree._Element) -> None:
    for child in element:
        if child.tag == "PublisherName":
            book.publisher = plain(child) or None
        elif child.tag == "PublisherLocation":
            book.place = leaf(child)


def _book_people(found: Article, book: Book, element: etree._Element) -> None:
    named = people.people(element)
    if element.get("Type") == "editors":
        book.editors += named
    else:
        _write(found, named, element)


def _chapter_people(found: Article, element: etree._Element) -> None:
    if element.get("Type") == "editors":
        _book_of(found).editors += people.people(element)
    else:
        found.authors = ()  # the chapter's own authors replace the book's, which come first in the XML
        _write(found, people.people(element), element)


def _write(found: Article, named: tuple[Author, ...], element: etree._Element) -> None:
    found.authors += named
    found.authors_complete = found.authors_complete and people.complete(element)


def _accession(found: Article, element: etree._Element) -> None:
    for child in element:
        if child.get("IdType") == "bookaccession":
            _book_of(found).accession = leaf(child)
    linking.own_ids(found, element)


def _publication_type(found: Article, element: etree._Element) -> None:
    found.publication_types += (indexing.publication_type(element),)


def _contributed(found: Article, element: etree._Element) -> None:
    _book_of(found).contribution_date = printed(element)


def _contents(found: Article, element: etree._Element, above: str = "") -> None:
    book = _book_of(found)
    for section in element.iterchildren("Section"):
        parts = (section.find("LocationLabel"), section.find("SectionTitle"))
        title = above + " ".join(plain(part) for part in parts if part is not None)
        book.contents += (title,) if title != above else ()
        _contents(found, section, f"{title} > ")


def _book_of(found: Article) -> Book:
    if found.book is None:
        found.book = Book()
    return found.book


_DOCUMENT: citations.Readers = {
    "PMID": citations.pmid,
    "ArticleIdList": _accession,
    "Book": _book,
    "ArticleTitle": citations.set_to("title", citations.text_or_none),
    "VernacularTitle": citations.set_to("vernacular_title", citations.text_or_none),
    "Pagination": citations.pagination,
    "Language": citations.language,
    "AuthorList": _chapter_people,
    "InvestigatorList": citations.investigators,
    "PublicationType": _publication_type,
    "Abstract": citations.abstract,
    "KeywordList": citations.keywords,
    "ContributionDate": _contributed,
    "DateRevised": citations.set_to("date_revised", calendar_day),
    "Sections": _contents,
    "GrantList": citations.set_to("grants", indexing.grants),
    "ReferenceList": citations.references,
}
_DATA: citations.Readers = {"History": citations.history, "ArticleIdList": linking.own_ids}
_RECORD: citations.Readers = {
    "BookDocument": citations.below(_DOCUMENT),
    "PubmedBookData": citations.below(_DATA),
}

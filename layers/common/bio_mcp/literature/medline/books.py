"""PubmedBookArticle to Article: a book, or a chapter of one (GeneReviews, StatPearls), with `book` for `journal`."""

from lxml import etree

from bio_mcp.literature.medline import citations, indexing, linking, people
from bio_mcp.literature.medline.dates import calendar_day, printed
from bio_mcp.literature.medline.markup import leaf, plain
from bio_mcp.literature.records import Article, Author, Book


def chapter(element: etree._Element) -> Article:
    """Read one PubmedBookArticle. A chapter without its own title or authors takes those of the book."""
    record = Article("", book=Book())
    citations.read(record, element, _RECORD)
    record.title = record.title or record.vernacular_title or (record.book.title if record.book else None)
    return citations.finish_record(record)


def _book(record: Article, element: etree._Element) -> None:
    """Set what the Book element has: title, publisher, people, dates, ids."""
    book = _book_of(record)
    for child in element:
        tag = child.tag
        if tag == "Publisher":
            _publisher(book, child)
        elif tag == "AuthorList":
            _book_people(record, book, child)
        elif tag == "PubDate":
            record.publication_date = printed(child)
        elif tag == "ELocationID":
            linking.location_id(record, child)
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


def _book_people(record: Article, book: Book, element: etree._Element) -> None:
    """Add editors to the book; any other list is the record's authors, until the chapter has its own."""
    named = people.people(element)
    if element.get("Type") == "editors":
        book.editors += named
    else:
        _write(record, named, element)


def _chapter_people(record: Article, element: etree._Element) -> None:
    if element.get("Type") == "editors":
        _book_of(record).editors += people.people(element)
    else:
        record.authors = ()  # the chapter's own authors replace the book's, which come first in the XML
        _write(record, people.people(element), element)


def _write(record: Article, named: tuple[Author, ...], element: etree._Element) -> None:
    record.authors += named
    record.authors_complete = record.authors_complete and people.complete(element)


def _accession(record: Article, element: etree._Element) -> None:
    for child in element:
        if child.get("IdType") == "bookaccession":
            _book_of(record).accession = leaf(child)
    linking.own_ids(record, element)


def _publication_type(record: Article, element: etree._Element) -> None:
    record.publication_types += (indexing.publication_type(element),)


def _contributed(record: Article, element: etree._Element) -> None:
    _book_of(record).contribution_date = printed(element)


def _contents(record: Article, element: etree._Element, above: str = "") -> None:
    """Append the titles of all sections, each behind the titles above it: "Management > Surveillance"."""
    book = _book_of(record)
    for section in element.iterchildren("Section"):
        parts = (section.find("LocationLabel"), section.find("SectionTitle"))
        title = above + " ".join(plain(part) for part in parts if part is not None)
        book.contents += (title,) if title != above else ()
        _contents(record, section, f"{title} > ")


def _book_of(record: Article) -> Book:
    if record.book is None:
        record.book = Book()
    return record.book


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

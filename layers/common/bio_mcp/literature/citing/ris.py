"""RIS: `TY` first, `ER` last, one name a line, each tag followed by two spaces, a hyphen and a space."""

from collections.abc import Iterable, Iterator

from bio_mcp.literature.citing import dates, names
from bio_mcp.literature.citing.notices import notes
from bio_mcp.literature.citing.pages import spans
from bio_mcp.literature.citing.works import Work

_TYPES = {"article-journal": "JOUR", "article": "JOUR", "chapter": "CHAP", "book": "BOOK"}


def render(work: Work, more: Iterable[tuple[str, str]] = ()) -> str:
    """Render the record, ended by a line break. Every value is one line, line breaks in it become spaces.

    `more` are tags with values that a citation does not have.
    """
    lines = [("TY", _TYPES[work.kind]), *_fields(work), *more, ("ER", "")]
    return "".join(f"{tag}  - {' '.join(value.split())}\n" for tag, value in lines if value or tag == "ER")


def _fields(work: Work) -> Iterator[tuple[str, str]]:
    yield from (("AU", names.inverted(name)) for name in work.authors)
    yield from (("ED", names.inverted(name)) for name in work.editors)
    yield "TI", work.title
    yield from _book(work) if work.article.book else _journal(work)
    yield from _when(work)
    yield from _where(work)
    yield from _ids(work)
    yield "LA", work.language
    yield "M3", "Preprint" if work.preprint else ""
    yield "N1", f"Original title: {work.original_title}" if work.original_title else ""
    yield from (("N1", note) for note in notes(work))


def _journal(work: Work) -> Iterator[tuple[str, str]]:
    journal = work.article.journal
    yield "T2", work.container
    yield "JF", work.container
    yield "J2", work.abbreviation
    if journal:
        yield "VL", work.volume
        yield "IS", work.issue
        yield "SN", journal.issn or journal.issn_l or ""


def _book(work: Work) -> Iterator[tuple[str, str]]:
    book = work.article.book
    yield "T2", work.container
    if book:
        yield "PB", book.publisher or ""
        yield "CY", book.place or ""
        yield "ET", book.edition or ""
        yield from (("SN", isbn) for isbn in book.isbn)


def _when(work: Work) -> Iterator[tuple[str, str]]:
    """The year and the date; a printed date without a year becomes a note."""
    if work.issued and work.issued.year:
        yield "PY", f"{work.issued.year:04}"
        yield "DA", dates.ris_date(work.issued)
    elif work.issued:
        yield "N1", f"Published {work.issued.text}"


def _where(work: Work) -> Iterator[tuple[str, str]]:
    """The first page, or the article number, and the last page of the last range."""
    printed = spans(work.page)
    yield "SP", work.number or (printed[0].first if printed else "")
    if len(printed) == 1:
        yield "EP", printed[0].last
    elif printed:
        yield "EP", printed[-1].last or printed[-1].first


def _ids(work: Work) -> Iterator[tuple[str, str]]:
    yield "DO", work.article.doi or ""
    yield "AN", work.article.pmid
    yield "C2", work.article.pmcid or ""
    yield "DB", "PubMed" if work.article.pmid else ""
    yield "UR", work.url

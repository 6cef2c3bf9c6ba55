"""The text of a document: of an article by sections with tables and licence, and as a parser sees it."""

from dataclasses import dataclass
from enum import StrEnum

LARGEST_FILE = 256 << 20  # bytes of a file that is read
PageSpan = tuple[int, int]
"""First and last page, counted from 1."""
SEPARATOR = "\n\n"  # between sections in `ParsedDocument.text`, and between the paragraphs of one section


class SectionKind(StrEnum):
    """What a section holds."""

    BODY = "body"
    TABLE = "table"  # rows as lines, cells parted by tabs
    REFERENCES = "references"
    NOTE = "note"  # a reader's own, such as an annotation in Zotero


@dataclass(frozen=True, slots=True)
class ParsedSection:
    """Text under one heading, up to the next. `path` is the headings from the top, this one's last.

    In `text` lines are joined, hyphenation undone, and running headers left out. `page_starts` has (offset in `text`,
    page) where the section begins and at each page break within it; empty where pages are unknown.
    """

    text: str
    heading: str | None = None
    path: tuple[str, ...] = ()
    page_starts: tuple[tuple[int, int], ...] = ()
    kind: SectionKind = SectionKind.BODY

    @property
    def page_span(self) -> PageSpan | None:
        """First and last page; None where unknown."""
        return (self.page_starts[0][1], self.page_starts[-1][1]) if self.page_starts else None

    def pages_of(self, start: int, end: int) -> PageSpan | None:
        """The pages of the characters from `start` to `end` of `text`; None where unknown."""
        if not self.page_starts:
            return None
        first = [page for at, page in self.page_starts if at <= start] or [self.page_starts[0][1]]
        last = [page for at, page in self.page_starts if at < max(end, start + 1)] or first
        return first[-1], last[-1]


@dataclass(frozen=True, slots=True)
class ParsedDocument:
    """A whole document. `pages` is None for a format without pages.

    `language` is an ISO 639-1 code where known. `ocr`: text of at least one page was recognised from its image, with
    the mean `confidence` (0 to 1). `title`, ids, `authors` ("Doe J"), `year` and `journal` are what the document says
    of itself. `warnings` are sentences on what could not be read, such as a page without text.
    """

    sections: tuple[ParsedSection, ...]
    pages: int | None = None
    ocr: bool = False
    confidence: float | None = None
    language: str | None = None
    title: str | None = None
    doi: str | None = None
    pmid: str | None = None
    warnings: tuple[str, ...] = ()
    authors: tuple[str, ...] = ()
    year: int | None = None
    journal: str | None = None

    @property
    def text(self) -> str:
        """The sections' texts joined by `SEPARATOR`: what offsets of chunks count in."""
        return SEPARATOR.join(each.text for each in self.sections)


@dataclass(frozen=True, slots=True)
class PageWord:
    """A word that was recognised on a page's image. `box`: its left, top, right and bottom edges, as shares of the
    page's width and height."""

    text: str
    box: tuple[float, float, float, float]


@dataclass(frozen=True, slots=True)
class Licence:
    """What the article may be used for, in its own words.

    `name` is the short form ("CC BY 4.0") of a Creative Commons licence, "" for any other.
    """

    name: str = ""
    url: str = ""
    text: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """A table as text. `rows` are lines of cells joined by " | ", the head first. `note` stands below the table."""

    label: str
    caption: str
    rows: tuple[str, ...]
    note: str = ""


@dataclass(frozen=True, slots=True)
class TextSection:
    """A section without its subsections, which follow it with a higher `level` (the top is 1)."""

    title: str
    level: int
    text: str
    tables: tuple[Table, ...] = ()


@dataclass(frozen=True, slots=True)
class FullText:
    """An article of PubMed Central.

    `withheld`: the publisher does not let PubMed Central give the text away, so there is at most an abstract.
    `references` counts the cited works, whose list is left out.
    """

    pmcid: str | None
    pmid: str | None
    doi: str | None
    title: str
    journal: str
    licence: Licence
    sections: tuple[TextSection, ...]
    withheld: bool
    references: int = 0

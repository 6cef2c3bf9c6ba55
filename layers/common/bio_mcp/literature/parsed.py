"""A document as a parser sees it: sections in reading order, with headings and pages."""

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
    the mean `confidence` (0 to 1). `title`, `doi` and `pmid` are what the document says of itself. `warnings` are
    sentences on what could not be read, such as a page without text.
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

    @property
    def text(self) -> str:
        """The sections' texts joined by `SEPARATOR`: what offsets of chunks count in."""
        return SEPARATOR.join(each.text for each in self.sections)

"""A PDF file to a document of sections."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from statistics import mean
from typing import Any

from bio_mcp.adapters.parsers.pdf.extracting import page_lines
from bio_mcp.adapters.parsers.pdf.images import PageImage, RecognisedPage, image_of, image_share
from bio_mcp.adapters.parsers.pdf.opening import opened, outline_of, stated_language
from bio_mcp.literature.languages import language_of
from bio_mcp.literature.layout.document import lay_out
from bio_mcp.literature.layout.legibility import is_garbled, letters
from bio_mcp.literature.layout.lines import PageLines
from bio_mcp.literature.parsed import ParsedDocument

MOST_PAGES = 2_000
Recognise = Callable[[PageImage], RecognisedPage]
_FEW = 60  # letters, such as a stamp over a scan has
_IMAGE = 0.5  # of the page: a larger image is the page


def parse_pdf(content: bytes, recognise: Recognise | None = None, most_pages: int = MOST_PAGES) -> ParsedDocument:
    """Read a PDF. `recognise` is given the image of each page whose text is missing or garbled, in order.

    Without `recognise` such pages are left out; a warning names those that have no text in the end. Raises
    `UnreadableDocument` for what is not a PDF, encrypted, cut off or damaged, without pages or of more than
    `most_pages`, before any page is read.
    """
    with opened(content, most_pages) as document:
        reader = _Reader(document, recognise)
        pages = [reader.read(number) for number in range(1, len(document) + 1)]
        laid_out = lay_out(pages, outline_of(document), document.get_metadata_dict(skip_empty=True))
        language = language_of(laid_out.text) or stated_language(document)
    return replace(
        laid_out,
        pages=len(pages),
        language=language,
        ocr=bool(reader.confidences),
        confidence=mean(reader.confidences) if reader.confidences else None,
        warnings=_warnings(reader.unread),
    )


class _Reader:
    """Reads pages. Notes how sure the recognised ones are, and which have no text in the end."""

    def __init__(self, document: Any, recognise: Recognise | None) -> None:
        self._document = document
        self._recognise = recognise
        self.confidences: list[float] = []
        self.unread: list[int] = []

    def read(self, number: int) -> PageLines:
        """Read the lines of a page, by recognition where its own text is of no use."""
        import pypdfium2

        try:
            page = self._document[number - 1]
        except pypdfium2.PdfiumError:
            self.unread.append(number)
            return PageLines(number, 0, 0)
        try:
            found = page_lines(page, number)
            return found if _is_usable(found, page) else self._recognised(page, found)
        finally:
            page.close()

    def _recognised(self, page: Any, own: PageLines) -> PageLines:
        found = self._recognise(image_of(page, own.number)) if self._recognise else None
        if not found or not found.lines:
            self.unread.append(own.number)
            return replace(own, lines=())
        self.confidences.append(found.confidence)
        width, height = page.get_size()
        return PageLines(own.number, width, height, found.lines)


def _is_usable(found: PageLines, page: Any) -> bool:
    """Whether the page's text is what there is to read: not garbled, and not a stamp on an image."""
    count = letters(found.lines)
    if count >= _FEW:
        return not is_garbled(found.lines)
    share = image_share(page)
    return share < _IMAGE if count else share == 0


def _warnings(unread: Sequence[int]) -> tuple[str, ...]:
    """A sentence on the pages without text, as ranges; none where there are none."""
    if not unread:
        return ()
    breaks = [0, *(at + 1 for at, (one, two) in enumerate(pairwise(unread)) if two > one + 1), len(unread)]
    ranges = [(unread[first], unread[last - 1]) for first, last in pairwise(breaks)]
    named = ", ".join(f"{first}" if first == last else f"{first}-{last}" for first, last in ranges)
    return (f"No text could be read on {'page' if len(unread) == 1 else 'pages'} {named}.",)

"""PDFs with scanned pages, and images of pages, to sections."""

from dataclasses import replace
from statistics import mean

from bio_mcp.adapters.parsers.options import Options
from bio_mcp.adapters.parsers.pdf import PageImage, RecognisedPage, parse_pdf
from bio_mcp.adapters.parsers.tesseract import Tesseract
from bio_mcp.errors import UnreadableDocument
from bio_mcp.literature.layout.document import lay_out
from bio_mcp.literature.layout.lines import PageLines
from bio_mcp.literature.parsed import ParsedDocument

DOUBTFUL = 0.7  # mean confidence below which the languages are likely to be wrong


def parse_pdf_with_scans(content: bytes, options: Options) -> ParsedDocument:
    """Read a PDF; pages without text of their own are recognised.

    Raises `UnreadableDocument` with what to install when no page has text and none can be recognised.
    """
    reader = _PageReader(options)
    document = parse_pdf(content, reader.recognise, options.most_pages)
    if reader.problem and not any(each.text for each in document.sections):
        raise UnreadableDocument(f"The PDF holds images of pages. {reader.problem}")
    return replace(document, warnings=(*document.warnings, *reader.warnings, *_doubts(document.confidence)))


def parse_image(content: bytes, options: Options) -> ParsedDocument:
    """Read the pages of an image file."""
    tesseract = Tesseract(options.tesseract, options.languages)
    found = tesseract.pages_in(content)
    recognised = [(page, page.in_points(page.dpi)) for page in found]
    if not any(each.lines for _, each in recognised):
        raise UnreadableDocument("No text is recognised in the image; check that it shows a page, and its languages.")
    pages = [
        PageLines(number, page.width * 72 / page.dpi, page.height * 72 / page.dpi, each.lines)
        for number, (page, each) in enumerate(recognised, 1)
    ]
    confidence = mean(each.confidence for _, each in recognised if each.lines)
    return replace(
        lay_out(pages),
        pages=len(pages),
        ocr=True,
        confidence=confidence,
        warnings=(*tesseract.warnings, *_doubts(confidence)),
    )


class _PageReader:
    """Recognises pages, if there are any that need it, and notes what stood in the way."""

    def __init__(self, options: Options) -> None:
        self._advance = options.advance
        self._tesseract = Tesseract(options.tesseract, options.languages)
        self._asked = False

    def recognise(self, image: PageImage) -> RecognisedPage:
        """Recognise one page."""
        self._asked = True
        found = self._tesseract.recognise(image)
        self._advance()
        return found

    @property
    def problem(self) -> str | None:
        """Why a page that needs it cannot be recognised."""
        return self._tesseract.problem if self._asked else None

    @property
    def warnings(self) -> tuple[str, ...]:
        """What was missing for pages that needed it."""
        if not self._asked:
            return ()
        return (self.problem,) if self.problem else self._tesseract.warnings


def _doubts(confidence: float | None) -> tuple[str, ...]:
    if confidence is None or confidence >= DOUBTFUL:
        return ()
    return (f"The text was recognised with a confidence of {confidence:.2f}; name its languages if they are others.",)

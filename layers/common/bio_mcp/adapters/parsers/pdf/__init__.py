"""PDF files, by PDFium: its text where it has some, and images of the pages for others to recognise where not."""

from bio_mcp.adapters.parsers.pdf.images import PageImage, RecognisedPage
from bio_mcp.adapters.parsers.pdf.parsing import parse_pdf

__all__ = ["PageImage", "RecognisedPage", "parse_pdf"]

"""Reads one file in the child process: finds its kind, calls the reader of that kind, and cleans what it gives."""

from collections.abc import Callable
from dataclasses import replace

from bio_mcp.adapters.parsers.cleaning import clean
from bio_mcp.adapters.parsers.decoding import decode
from bio_mcp.adapters.parsers.kinds import Kind, kind_of
from bio_mcp.adapters.parsers.options import Options
from bio_mcp.literature.parsed import ParsedDocument

Read = Callable[[bytes, str, Options], ParsedDocument]


def read(content: bytes, name: str, options: Options) -> ParsedDocument:
    """Read the file. Raises `UnreadableDocument` with the reason."""
    document = READERS[kind_of(content, name)](content, name, options)
    return clean(document)


def _pdf(content: bytes, _name: str, options: Options) -> ParsedDocument:
    from bio_mcp.adapters.parsers.scans import parse_pdf_with_scans

    return parse_pdf_with_scans(content, options)


def _image(content: bytes, _name: str, options: Options) -> ParsedDocument:
    from bio_mcp.adapters.parsers.scans import parse_image

    return parse_image(content, options)


def _docx(content: bytes, _name: str, _options: Options) -> ParsedDocument:
    from bio_mcp.adapters.parsers.docx import parse_docx

    return parse_docx(content)


def _jats(content: bytes, _name: str, _options: Options) -> ParsedDocument:
    from bio_mcp.adapters.parsers.jats import parse_jats

    return parse_jats(content)


def _html(content: bytes, _name: str, _options: Options) -> ParsedDocument:
    from bio_mcp.adapters.parsers.html import parse_html

    return _of_text(content, parse_html)


def _markdown(content: bytes, _name: str, _options: Options) -> ParsedDocument:
    from bio_mcp.adapters.parsers.markdown import parse_markdown

    return _of_text(content, parse_markdown)


def _plain(content: bytes, _name: str, _options: Options) -> ParsedDocument:
    from bio_mcp.adapters.parsers.plain_text import parse_plain_text

    return _of_text(content, parse_plain_text)


def _of_text(content: bytes, parse: Callable[[str], ParsedDocument]) -> ParsedDocument:
    text, warnings = decode(content)
    document = parse(text.replace("\0", ""))  # HTML's parser would put U+FFFD there
    return replace(document, warnings=(*warnings, *document.warnings))


READERS: dict[Kind, Read] = {
    Kind.PDF: _pdf,
    Kind.IMAGE: _image,
    Kind.DOCX: _docx,
    Kind.JATS: _jats,
    Kind.HTML: _html,
    Kind.MARKDOWN: _markdown,
    Kind.TEXT: _plain,
}

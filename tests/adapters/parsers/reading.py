"""Reads a file in this process, as a child does, for tests of the formats."""

from bio_mcp.adapters.parsers.frames import Options
from bio_mcp.adapters.parsers.reading import read as read_with


def read(content, name, languages=(), most_pages=2_000, tesseract="no-such-program"):
    content = content.encode() if isinstance(content, str) else content
    return read_with(content, name, Options(languages, most_pages, tesseract, lambda: None))


def outline(document):
    """Each section as (path, text), with its kind where it is not the body's."""
    return [
        (each.path, each.text) if each.kind == "body" else (each.path, each.text, each.kind.value)
        for each in document.sections
    ]

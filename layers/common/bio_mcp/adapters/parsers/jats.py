"""JATS XML to sections."""

import re

from bio_mcp.adapters.parsers.outline import Outline
from bio_mcp.errors import NcbiUnreadable, UnreadableDocument
from bio_mcp.literature.jats import Table
from bio_mcp.literature.parsed import ParsedDocument

_LANGUAGE = re.compile(rb"""<article\b[^>]{0,2000}?\bxml:lang\s*=\s*["']([A-Za-z-]{2,12})["']""")


def parse_jats(content: bytes) -> ParsedDocument:
    """Read the first article of the file. The list of references is left out."""
    from bio_mcp.literature.jats.article import parse

    try:
        article = parse(content)
    except NcbiUnreadable as error:
        raise UnreadableDocument(f"The JATS XML cannot be read: {error}") from None
    if article is None:
        raise UnreadableDocument("The JATS XML holds no article; check the file.")
    outline = Outline()
    for section in article.sections:
        outline.heading(section.level, section.title)
        for paragraph in section.text.split("\n\n"):
            outline.paragraph(paragraph)
        for table in section.tables:
            outline.table(_rows(table), f"{table.label} {table.caption}".strip())
    language = _LANGUAGE.search(content)
    return ParsedDocument(
        outline.sections(),
        title=article.title or None,
        doi=article.doi,
        pmid=article.pmid,
        language=language[1].decode() if language else None,
    )


def _rows(table: Table) -> list[list[str]]:
    return [*(row.split(" | ") for row in table.rows), *([[table.note]] if table.note else [])]

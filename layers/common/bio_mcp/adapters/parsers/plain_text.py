"""Plain text to sections: paragraphs parted by empty lines, under no heading."""

import re
from collections.abc import Iterator

from bio_mcp.adapters.parsers.outline import Outline
from bio_mcp.literature.parsed import ParsedDocument

WRAPPED = 120  # characters; where a line is longer, a line is a paragraph


def parse_plain_text(text: str) -> ParsedDocument:
    """Read the text as one section."""
    outline = Outline()
    for paragraph in paragraphs(text):
        outline.paragraph(paragraph)
    return ParsedDocument(outline.sections())


def paragraphs(text: str) -> Iterator[str]:
    """The paragraphs of a text, each on one line."""
    lines = [" ".join(line.split()) for line in re.split(r"\r\n|[\n\r\f\v\x85\u2028\u2029]", text)]
    if max(map(len, lines), default=0) > WRAPPED:
        yield from filter(None, lines)
        return
    within: list[str] = []
    for line in [*lines, ""]:
        if line:
            within.append(line)
        elif within:
            yield " ".join(within)
            within = []

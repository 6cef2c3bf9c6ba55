"""Pages of lines to a document: its title, its sections with their headings, its captions and references."""

import re
from collections.abc import Mapping, Sequence

from bio_mcp.literature.layout.floats import parted
from bio_mcp.literature.layout.front_matter import title_lines
from bio_mcp.literature.layout.headings import headings
from bio_mcp.literature.layout.identity import outside, own_doi, own_pmid
from bio_mcp.literature.layout.joining import words_of
from bio_mcp.literature.layout.lines import FlowLine, PageLines, body_size
from bio_mcp.literature.layout.paragraphs import text_of
from bio_mcp.literature.layout.reading_order import in_reading_order
from bio_mcp.literature.layout.run_in import parted_headings
from bio_mcp.literature.layout.running_lines import without_running_lines
from bio_mcp.literature.layout.sections import sections_of
from bio_mcp.literature.layout.tables import without_tables
from bio_mcp.literature.layout.unnamed import with_unnamed
from bio_mcp.literature.parsed import ParsedDocument

Outline = Sequence[tuple[int, str, int]]


def lay_out(
    pages: Sequence[PageLines], outline: Outline = (), metadata: Mapping[str, str] | None = None
) -> ParsedDocument:
    """Read the pages' lines as one document: its sections, title, DOI and PMID.

    Text before the first heading has no heading; it begins with the title. An abstract or references without a heading
    are found by what they are. `outline` has page, title and level of the
    file's bookmarks, `metadata` what it says of itself. A caption is a section of its own, after the text of the
    section in which it stands, so that it interrupts no sentence. So are footnotes: those of the first page after the
    text before the first heading, all others at the end.
    """
    stripped = without_running_lines(pages)
    size = body_size(line for page in stripped for line in page.lines)
    parts = [without_tables(page, size) for page in stripped]
    tables = {font: table for _, found in parts for font, table in found.items()}
    flow = _flow([page for page, _ in parts])
    words = words_of(line.text for line in flow)
    text = parted(flow, size, tables.keys())
    found = with_unnamed(text.main, headings(text.main, size, outline))
    title = text_of(title_lines(text.main, found[0].start if found else len(text.main), size), words)[0]
    sections = tuple(sections_of(text.main, found, text.captions, text.footnotes, words, tables))
    stated = dict(metadata or {})
    named = title.replace("\n\n", " ") or _title(stated.get("Title", ""), sections[0].text if sections else "")
    beside = [*stated.values(), *outside(pages, stripped)]
    return ParsedDocument(
        sections, title=named or None, doi=own_doi(beside, sections, named), pmid=own_pmid(beside, sections)
    )


def _flow(pages: Sequence[PageLines]) -> list[FlowLine]:
    flow: list[FlowLine] = []
    for page in pages:
        flow += in_reading_order(page, flow[-1].column + 1 if flow else 0)
    return list(parted_headings(flow))


def _title(stated: str, beginning: str) -> str:
    """The title of the metadata where the document begins with it too: many files name another, or a template."""
    letters = re.sub(r"\W", "", stated.casefold())
    return stated.strip() if letters and letters in re.sub(r"\W", "", beginning.casefold()) else ""

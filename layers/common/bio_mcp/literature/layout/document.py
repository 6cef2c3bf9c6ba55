"""Pages of lines to a document: its title, DOI and PMID, its sections, captions and references."""

import re
from collections.abc import Iterable, Mapping, Sequence

from bio_mcp.literature.documents import ParsedDocument, ParsedSection, SectionKind
from bio_mcp.literature.identifiers import doi, normal, parse_pmid
from bio_mcp.literature.layout.headings import headings, parted_headings
from bio_mcp.literature.layout.lines import FlowLine, PageLines, body_size, words_of
from bio_mcp.literature.layout.reading_order import in_reading_order, parted, without_running_lines
from bio_mcp.literature.layout.sections import sections_of, text_of, with_unnamed
from bio_mcp.literature.layout.tables import without_tables

_LARGER = 1.15  # times the text's size
_LINES = 8


def title_lines(flow: Sequence[FlowLine], end: int, size: float) -> Sequence[FlowLine]:
    """Return the lines of the title: the largest of the first page's before `end`; none where they are no larger."""
    first = [
        line
        for line in flow[:end]
        if line.page == flow[0].page
        and sum(map(str.isalpha, line.text)) >= 4
        and (" " in line.text or not line.text.isascii() or len(line.text) > 8)
    ]
    if not first:
        return ()
    largest = max(line.line.size for line in first)
    if largest < _LARGER * size:
        return ()
    title = [line for line in first if line.line.size > 0.97 * largest]
    begin = first.index(title[0])
    return [line for line in title if begin <= first.index(line) < begin + len(title)][:_LINES]


_DOI = re.compile(r"\b10\.\d{4,9}/[^\s\"<>]+[^\s\"<>.,;:)\]’”]", re.IGNORECASE)
_PMID = re.compile(r"\b(?:PMID|PubMed ID):?\s*(\d{1,9})\b", re.IGNORECASE)
_FIRST_PAGES = 2
_AFTER_TITLE = 300  # characters in which the DOI of a citation follows the title


def own_doi(before: Iterable[str], sections: Sequence[ParsedSection], title: str | None) -> str | None:
    """Return the document's DOI, in normal form.

    `before` is where it may stand beside the text, the surest first: metadata, running lines. Then it is sought in what
    comes before the first section of the text, and after the document's title where it says how to cite it.
    """
    front = [section.text for section in sections[: _front(sections)]]
    cited = _after_title(sections, title) if title else []
    for text in (*before, *front, *cited):
        for found in _DOI.findall(text):
            if known := normal(doi, found):
                return known
    return None


def own_pmid(before: Iterable[str], sections: Sequence[ParsedSection]) -> str | None:
    """Return the document's PMID, from where `own_doi` looks."""
    for text in (*before, *(section.text for section in sections[: _front(sections)])):
        if found := _PMID.search(text):
            return parse_pmid(found[1])
    return None


def _front(sections: Sequence[ParsedSection]) -> int:
    """How many sections come before the text: those without a heading, which no list of references is."""
    return next(
        (at for at, each in enumerate(sections) if each.path or each.kind is not SectionKind.BODY), len(sections)
    )


def _after_title(sections: Sequence[ParsedSection], title: str) -> list[str]:
    wanted = re.compile(r"\W+".join(map(re.escape, re.findall(r"\w+", title))), re.IGNORECASE)
    found = (wanted.search(section.text) for section in sections if section.kind is SectionKind.BODY)
    return [match.string[match.end() : match.end() + _AFTER_TITLE] for match in found if match]


def outside(pages: Sequence[PageLines], stripped: Sequence[PageLines]) -> list[str]:
    """The lines of the first pages that are no longer on them when running lines are taken out."""
    both = zip(pages[:_FIRST_PAGES], stripped, strict=False)
    return [line.text for page, left in both for line in page.lines if line not in set(left.lines)]


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
    in_order: list[FlowLine] = []
    for page, _ in parts:
        in_order += in_reading_order(page, in_order[-1].column + 1 if in_order else 0)
    flow = list(parted_headings(in_order))
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


def _title(stated: str, beginning: str) -> str:
    """The title of the metadata where the document begins with it too: many files name another, or a template."""
    letters = re.sub(r"\W", "", stated.casefold())
    return stated.strip() if letters and letters in re.sub(r"\W", "", beginning.casefold()) else ""

"""Lines and headings to sections, each with its path, its pages and what it holds."""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from bio_mcp.literature.layout.headings import Heading
from bio_mcp.literature.layout.joining import Words
from bio_mcp.literature.layout.lines import FlowLine
from bio_mcp.literature.layout.paragraphs import text_of
from bio_mcp.literature.layout.section_names import is_references
from bio_mcp.literature.layout.tables import Table
from bio_mcp.literature.parsed import ParsedSection, SectionKind

Path = tuple[str, ...]
FOOTNOTES = "Footnotes"


@dataclass(frozen=True, slots=True)
class Span:
    """The lines from `start` to `end` stand under the headings of `path`, the last of which begins at `begin`."""

    begin: int
    start: int
    end: int
    path: Path = ()

    @property
    def kind(self) -> SectionKind:
        """What the headings say that it holds."""
        return SectionKind.REFERENCES if any(map(is_references, self.path)) else SectionKind.BODY


def sections_of(
    main: Sequence[FlowLine],
    headings: Sequence[Heading],
    captions: Sequence[tuple[int, Sequence[FlowLine]]],
    footnotes: Sequence[Sequence[FlowLine]],
    words: Words,
    tables: Mapping[str, Table],
) -> Iterator[ParsedSection]:
    """Yield the sections in reading order, each caption and table after the one in which it stands.

    Footnotes of the first page follow what comes before the first heading, all others come last.
    """
    spans = _spans(headings, len(main))
    begins = [span.begin for span in spans]
    captions_of: dict[int, list[Sequence[FlowLine]]] = defaultdict(list)
    for before, lines in captions:
        captions_of[max(0, bisect_left(begins, before) - 1)].append(lines)
    first_page = main[0].page if main else 1
    for at, span in enumerate(spans):
        if span.path or span.start < span.end:
            yield _section(main, span, words)
        if not at:
            yield from (_section_of(note, (), words) for note in footnotes if note[0].page == first_page)
        for lines in captions_of[at]:
            table = tables.get(lines[0].line.font)
            yield _section_of(lines, span.path, words) if table is None else _table(table, lines[0].page, span.path)
    late = [line for note in footnotes if note[0].page != first_page for line in note]
    if late:
        yield _section_of(late, (FOOTNOTES,), words)


def _spans(headings: Sequence[Heading], end: int) -> list[Span]:
    ends = [*(heading.start for heading in headings), end]
    spans = [Span(-1, 0, ends[0])]
    path: list[tuple[int, str]] = []
    for heading, until in zip(headings, ends[1:], strict=True):
        path = [*(each for each in path if each[0] < heading.level), (heading.level, heading.text)]
        spans.append(Span(heading.start, heading.end, until, tuple(text for _, text in path)))
    return spans


def _section(main: Sequence[FlowLine], span: Span, words: Words) -> ParsedSection:
    lines = main[span.start : span.end]
    text, starts = text_of(lines, words, entries=span.kind is SectionKind.REFERENCES)
    heading = span.path[-1] if span.path else None
    return ParsedSection(text, heading, span.path, starts or ((0, main[span.begin].page),), span.kind)


def _table(table: Table, page: int, path: Path) -> ParsedSection:
    return ParsedSection(table.text, path[-1] if path else None, path, ((0, page),), SectionKind.TABLE)


def _section_of(lines: Sequence[FlowLine], path: Path, words: Words) -> ParsedSection:
    text, starts = text_of(lines, words)
    return ParsedSection(text, path[-1] if path else None, path, starts)

"""Pages of lines to a document: its title, DOI and PMID, its sections of paragraphs, captions and references."""

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import pairwise, takewhile
from statistics import median

from bio_mcp.literature.documents import ParsedDocument, ParsedSection, SectionKind
from bio_mcp.literature.identifiers import doi, normal, parse_pmid
from bio_mcp.literature.layout.front_page import LONGEST, imprint
from bio_mcp.literature.layout.headings import Heading, depth, headings, is_top, named, parted_headings
from bio_mcp.literature.layout.lines import FlowLine, PageLines, Words, body_size, joined, words_of
from bio_mcp.literature.layout.reading_order import in_reading_order, parted, without_running_lines
from bio_mcp.literature.layout.tables import without_tables

PageStarts = tuple[tuple[int, int], ...]

_WIDER = 1.35  # times the usual distance of two lines: a gap between paragraphs
_SENTENCE_END = re.compile(r"[.!?:;…”\"’)\]]\s*$|[.!?][”\"’)\]\d¹²³⁴-⁹⁰⁻,–-]*$")
_ENTRY = re.compile(r"\[?\d{1,3}[\].]\s*\S|\[\w+\d{2}\w?\]")
_BREAK = "\n\n"


def text_of(lines: Sequence[FlowLine], words: Words, *, entries: bool = False) -> tuple[str, PageStarts]:
    """Return the lines' text, paragraphs parted by an empty line, and (offset, page) of each page's first character.

    `entries`: the lines are a list of references, each of which is a paragraph.
    """
    begins = _entry_begins(lines) if entries else paragraph_begins(lines)
    text = ""
    done: list[str] = []
    length = 0
    starts: list[tuple[int, int]] = []
    for line, new in zip(lines, begins, strict=True):
        if new and text:
            done.append(text)
            length += len(text) + len(_BREAK)
            text = ""
        before, text = text, joined(text, line.text, words)
        if not starts or line.page > starts[-1][1]:
            starts.append((length + (len(text) - len(line.text) if before else 0), line.page))
    return _BREAK.join([*done, text] if text else done), tuple(starts)


def paragraph_begins(lines: Sequence[FlowLine]) -> list[bool]:
    gaps = [gap for one, two in pairwise(lines) if 0.5 < (gap := one.gap_below(two)) < 3]
    usual = median(gaps) if gaps else 1.2
    pairs = zip([None, *lines], lines, strict=False)
    return [before is None or _begins(before, line, usual) for before, line in pairs]


def _begins(before: FlowLine, line: FlowLine, usual: float) -> bool:
    gap = before.gap_below(line)
    ended = bool(_SENTENCE_END.search(before.text))
    if not gap or (not ended and line.text[:1].islower() and before.line.style == line.line.style):
        return False
    if abs(before.line.size - line.line.size) > 0.15 * line.line.size and not 0 <= gap <= 0.8:
        return True
    if gap > _WIDER * usual:
        return True
    if line.indented and not before.indented and ended:
        return True
    return before.short and bool(re.search(r"[.!?][”\"’)\]\d¹²³⁴-⁹⁰]*$", before.text)) and not line.text[:1].islower()


def _entry_begins(lines: Sequence[FlowLine]) -> list[bool]:
    """By number where most have one, by hanging indent where some lines have one, else by the gaps."""
    numbered = [bool(_ENTRY.match(line.text)) for line in lines]
    if sum(numbered) >= max(2, len(lines) / 8):
        return [each or not at for at, each in enumerate(numbered)]
    edges = {line.column: min(each.line.x0 for each in lines if each.column == line.column) for line in lines}
    hanging = [line.line.x0 > edges[line.column] + 0.5 * line.line.size for line in lines]
    if sum(hanging) >= 0.25 * len(lines):
        return [not each or not at for at, each in enumerate(hanging)]
    return paragraph_begins(lines)


Path = tuple[str, ...]
FOOTNOTES, TITLE_PAGE = "Footnotes", "Title page"


def sections_of(
    main: Sequence[FlowLine],
    headings: Sequence[Heading],
    captions: Sequence[tuple[int, Sequence[FlowLine]]],
    footnotes: Sequence[Sequence[FlowLine]],
    words: Words,
    tables: Mapping[str, str],
) -> Iterator[ParsedSection]:
    """Yield the sections in reading order, each caption and table after the one in which it stands.

    Footnotes of the first page follow what comes before the first heading, all others come last. What comes before it
    is the title page, unless there is prose in it.
    """
    begins = [-1, *(heading.start for heading in headings)]
    starts = [0, *(heading.end for heading in headings)]
    ends = [*begins[1:], len(main)]
    first_page = main[0].page if main else 1
    captions_of: dict[int, list[Sequence[FlowLine]]] = defaultdict(list)
    for before, lines in captions:
        captions_of[max(0, bisect_left(begins, before) - 1)].append(lines)
    titled = bool(headings) and _is_title_page(main[: headings[0].start], headings[0].text)
    front = (TITLE_PAGE,) if titled else ()
    for at, path in enumerate(_paths(headings, front)):
        if at or starts[at] < ends[at]:
            yield _section(main[starts[at] : ends[at]], path, words, main[begins[at]].page if at else None)
        if not at:
            yield from (_section(note, front, words) for note in footnotes if note[0].page == first_page)
        for lines in captions_of[at]:
            table = tables.get(lines[0].line.font)
            if table is None:
                yield _section(lines, path, words, kind=SectionKind.BODY)
            else:
                place = ((0, lines[0].page),)
                yield ParsedSection(table, next(iter(path[-1:]), None), path, place, SectionKind.TABLE)
    late = [line for note in footnotes if note[0].page != first_page for line in note]
    if late:
        yield _section(late, (FOOTNOTES,), words)


_LONGEST_TITLE_PAGE = 4_000  # characters


def _is_title_page(lines: Sequence[FlowLine], heading: str) -> bool:
    """Whether the lines before this heading, the first, are title, authors and their addresses, and no text."""
    if (
        not lines
        or not (is_top(heading) or depth(heading))
        or sum(len(line.text) for line in lines) > _LONGEST_TITLE_PAGE
    ):
        return False
    begins = [at for at, new in enumerate(paragraph_begins(lines)) if new]
    paragraphs = (lines[start:end] for start, end in zip(begins, [*begins[1:], len(lines)], strict=True))
    return not any(_prose(each, _SENTENCE_WORDS, 1) for each in paragraphs)


_PARENT = re.compile(r"((?:\d{1,2}\.){1,4})\d{1,2}[.)]?\s*(?=[^\W\d_])")


def _paths(headings: Sequence[Heading], first: Path) -> Iterator[Path]:
    """What each heading stands below, itself last, after `first`, that of the text before them all.

    Below a box, such as "Significance Statement", stands nothing; 2.2 stands below 2, whatever is between them.
    """
    yield first
    above: list[tuple[int, str]] = []
    numbered: dict[str, list[tuple[int, str]]] = {}
    for heading in headings:
        parent = _PARENT.match(heading.text)
        over = numbered.get(parent[1].rstrip("."), above) if parent else above
        here = [*(each for each in over if each[0] < heading.level), (heading.level, heading.text)]
        if named(heading.text) == "aside":
            yield (heading.text,)
            continue
        above = here
        if number := _NUMBER.match(heading.text):
            numbered[number[0].rstrip(" .)")] = here
        yield tuple(text for _, text in here)


_NUMBER = re.compile(r"\d{1,2}(?:\.\d{1,2}){0,4}[.)]?\s*(?=[^\W\d_])")


def _section(
    lines: Sequence[FlowLine], path: Path, words: Words, page: int | None = None, kind: SectionKind | None = None
) -> ParsedSection:
    """The section of these lines; `page` is its heading's, `kind` what its headings say unless it is given."""
    kind = kind or (SectionKind.REFERENCES if "references" in map(named, path) else SectionKind.BODY)
    text, starts = text_of(lines, words, entries=kind is SectionKind.REFERENCES)
    return ParsedSection(text, path[-1] if path else None, path, starts or (((0, page),) if page else ()), kind)


Captions = list[tuple[int, list[FlowLine]]]


def boxes_apart(
    main: Sequence[FlowLine], found: Sequence[Heading], captions: Captions
) -> tuple[list[FlowLine], list[Heading], Captions]:
    """Return the lines with each box after the section that it interrupts, and headings and captions in their places.

    A box, known by its heading, ends where its type does, or where the sentence goes on that it interrupts.
    """
    lines, headings, placed = list(main), list(found), list(captions)
    for at, box in enumerate(found):
        if named(box.text) != "aside":
            continue
        start, stop = box.start, headings[at + 1].start if at + 1 < len(headings) else len(lines)
        end = _box_end(lines, start, box.end, stop)
        if end == stop or not at:
            continue
        rest = stop - end
        lines[start:stop] = [*lines[end:stop], *lines[start:end]]
        headings[at] = replace(box, start=start + rest, end=box.end + rest)
        placed = [
            (each + rest if start < each < end else each - (end - start) if end <= each < stop else each, caption)
            for each, caption in placed
        ]
    return lines, headings, placed


def _box_end(lines: Sequence[FlowLine], start: int, text: int, stop: int) -> int:
    interrupts = start > 0 and not _SENTENCE_END.search(lines[start - 1].text)
    for at in range(text + 1, stop):
        before, line = lines[at - 1], lines[at]
        other = line.line.style != lines[text].line.style and line.line.style == lines[start - 1].line.style
        goes_on = interrupts and line.text[:1].islower() and before.text.endswith((".", "!", "?"))
        if start and (other or goes_on):
            return at
    return stop


ABSTRACT, REFERENCES = "Abstract", "References"
_WORDS = 60  # of an abstract, at least
_SENTENCE_WORDS = 20  # of a paragraph that is prose, at least
_SENTENCES = 3
_LOWER = 0.6  # of its words; of names and addresses fewer begin so
_LEGAL = re.compile(r"copyright|creative commons|©|licen[sc]e", re.IGNORECASE)
_REFERENCE = re.compile(r"\[?(\d{1,3})[\].]\s*\S")
_ENTRIES = 5  # of a list of references, at least
_ENTRY_LINES = 8  # that an entry has at most, on an average
_YEAR = re.compile(r"\b(19|20)\d\d")


def with_unnamed(flow: Sequence[FlowLine], found: Sequence[Heading]) -> list[Heading]:
    """Return the headings with those that an abstract and references without one would have; they have no lines."""
    all_found = list(found)
    if found and found[0].start and not any(named(each.text) == "abstract" for each in found):
        start = _abstract(flow[: found[0].start])
        all_found[:0] = [] if start is None else [Heading(start, start, ABSTRACT, 1)]
    if not any(named(each.text) == "references" for each in found):
        start = _references(flow)
        if start is not None:
            before = [each for each in all_found if each.end <= start]
            after = [each for each in all_found if each.start >= start]
            all_found = [*before, Heading(start, start, REFERENCES, 1), *after]
    return all_found


def _abstract(lines: Sequence[FlowLine]) -> int | None:
    """Where the longest paragraph of prose begins; None if there is none."""
    begins = [at for at, new in enumerate(paragraph_begins(lines)) if new]
    ends = [*begins[1:], len(lines)]
    prose = [(len(text), start) for start, end in zip(begins, ends, strict=True) if (text := _prose(lines[start:end]))]
    return max(prose)[1] if prose else None


def _prose(lines: Sequence[FlowLine], least: int = _WORDS, fewest: int = _SENTENCES) -> str:
    """The text of a paragraph of an abstract; empty if it reads as something else, or has less of words and sentences
    than these."""
    text = " ".join(line.text for line in lines)
    words = text.split()
    lower = sum(word[0].islower() for word in words)
    sentences = len(re.findall(r"[.!?](?=\s+[A-Z]|$)", text))
    fits = len(words) >= least and lower >= _LOWER * len(words) and sentences >= fewest
    return text if fits and not _LEGAL.search(text) else ""


def _references(flow: Sequence[FlowLine]) -> int | None:
    """Where the last run of entries numbered from 1 begins, if they tell years; None if there is none."""
    runs: list[list[int]] = []
    for at, line in enumerate(flow):
        number = _REFERENCE.match(line.text)
        if number and int(number[1]) == 1:
            runs.append([at])
        elif number and runs and int(number[1]) == len(runs[-1]) + 1:
            runs[-1].append(at)
    return next((run[0] for run in reversed(runs) if _are_references(flow, run)), None)


def _are_references(flow: Sequence[FlowLine], entries: Sequence[int]) -> bool:
    if len(entries) < _ENTRIES or entries[-1] - entries[0] > _ENTRY_LINES * len(entries):
        return False
    text = " ".join(line.text for line in flow[entries[0] : entries[-1] + _ENTRY_LINES])
    return len(_YEAR.findall(text)) >= 0.6 * len(entries)


_LARGER = 1.15  # times the text's size
_TITLE_LINES = 8


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
    return [line for line in title if begin <= first.index(line) < begin + len(title)][:_TITLE_LINES]


_MARKS = re.compile(r"\s*[¹²³⁴⁵⁶⁷⁸⁹⁰*†‡§#,]+$")  # of a footnote
_DOI = re.compile(r"\b10\.\d{4,9}/[^\s\"<>]+[^\s\"<>.,;:)\]’”]", re.IGNORECASE)
_PMID = re.compile(r"\b(?:PMID|PubMed ID):?\s*(\d{1,9})\b", re.IGNORECASE)
_FIRST_PAGES = 2
_AFTER_TITLE = 300  # characters in which the DOI of a citation follows the title


def own_ids(
    beside: Sequence[str], sections: Sequence[ParsedSection], title: str | None
) -> tuple[str | None, str | None]:
    """Return the document's DOI, in normal form, and its PMID.

    `beside` is where they may stand beside the text, the surest first: metadata, running lines. Then they are sought in
    what comes before the first section of the text: the title page, or sections without a heading. The DOI is also
    sought after the document's title, where it says how to cite it.
    """
    before = takewhile(lambda each: each.path in ((), (TITLE_PAGE,)) and each.kind is SectionKind.BODY, sections)
    front = [each.text for each in before]
    titled = (_titled(title).search(each.text) for each in sections if title and each.kind is SectionKind.BODY)
    cited = [match.string[match.end() : match.end() + _AFTER_TITLE] for match in titled if match]
    dois = (normal(doi, found) for text in (*beside, *front, *cited) for found in _DOI.findall(text))
    pmids = (parse_pmid(found[1]) for text in (*beside, *front) if (found := _PMID.search(text)))
    return next(filter(None, dois), None), next(pmids, None)


@lru_cache(maxsize=1)
def _titled(title: str) -> re.Pattern[str]:
    """The words of the title, whatever stands between them."""
    return re.compile(r"\W+".join(map(re.escape, re.findall(r"\w+", title))), re.IGNORECASE)


def citations_of(sections: Sequence[ParsedSection], title: str) -> list[str]:
    """The paragraphs that have the title, but for the title page: they say how to cite the paper."""
    others = [each for each in sections if each.path and each.path != (TITLE_PAGE,) and each.kind is SectionKind.BODY]
    paragraphs = (each for section in others for each in section.text.split(_BREAK) if len(each) < LONGEST)
    return [each for each in paragraphs if _titled(title).search(each)] if len(title.split()) > 2 else []


def outside(pages: Sequence[PageLines], stripped: Sequence[PageLines]) -> list[str]:
    """The lines of the first pages that are no longer on them when running lines are taken out."""
    both = zip(pages[:_FIRST_PAGES], stripped, strict=False)
    return [line.text for page, left in both for line in page.lines if line not in set(left.lines)]


def _stated_title(metadata: Mapping[str, str], sections: Sequence[ParsedSection]) -> str:
    """The title of the metadata where the document begins with it too: many files name another, or a template."""
    own, beginning = metadata.get("Title", ""), sections[0].text if sections else ""
    letters, start = (re.sub(r"\W", "", each.casefold()) for each in (own, beginning))
    return own.strip() if letters and letters in start else ""


def _around(lines: Sequence[FlowLine], titles: Sequence[FlowLine]) -> tuple[list[str], list[str]]:
    """The lines below the title, and those above; all are above where there is none."""
    at = lines.index(titles[-1]) + 1 if titles else len(lines)
    return [each.text for each in lines[at:]], [each.text for each in lines[:at]]


Outline = Sequence[tuple[int, str, int]]


def lay_out(
    pages: Sequence[PageLines], outline: Outline = (), metadata: Mapping[str, str] | None = None
) -> ParsedDocument:
    """Read the pages' lines as one document: its sections, title, authors, year, journal, DOI and PMID.

    Text before the first heading has none, or is the title page; it begins with the title. An abstract or references
    without a heading are found by what they are. `outline` has page, title and level of the file's bookmarks,
    `metadata` what it says of itself. A caption is a section of its own, after the text of the
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
    main, captions, footnotes = parted(flow, size, tables.keys())
    found = with_unnamed(main, headings(main, size, outline))
    main, found, captions = boxes_apart(main, found, captions)
    before = main[: found[0].start] if found else main
    titles = title_lines(main, len(before), size)
    sections = tuple(sections_of(main, found, captions, footnotes, words, tables))
    apart = outside(pages, stripped)
    stated = dict(metadata or {})
    named = _MARKS.sub("", text_of(titles, words)[0]).replace(_BREAK, " ")
    named = named or _stated_title(stated, sections)
    own_doi, own_pmid = own_ids([*stated.values(), *apart], sections, named)
    notes = [line.text for note in footnotes for line in note if line.page == main[0].page] if main else []
    below, above = _around([line for line in before if line.page == before[0].page], titles)
    printed = imprint(named, below, [*apart, *notes, *above], citations_of(sections, named), stated)
    return ParsedDocument(
        sections,
        title=named or None,
        doi=own_doi,
        pmid=own_pmid,
        authors=printed.authors,
        year=printed.year,
        journal=printed.journal,
    )

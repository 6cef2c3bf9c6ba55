"""Running headers and footers, page numbers and publishers' stamps: what stands on a page but is not its text."""

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from bio_mcp.literature.layout.lines import PageLines, PositionedLine

_ROWS = 3  # at the top and at the bottom of a page, in which a running line may stand, again and again
_NEAR = 8.0  # points by which its place may differ between pages
_MARGIN = 0.1  # of the page's height, in which a number alone is the page's, even where no other page has one
_PAGE_NUMBER = re.compile(
    r"((page|p\.|seite|s\.|página|หน้า)\s*)?[-–—|]?\s*(\d{1,4}|[ivxl]{1,6})\s*[-–—|]?(\s*(of|/|von|de|จาก)\s*\d{1,4})?",
    re.IGNORECASE,
)
_LINK = re.compile(r"(doi:?\s*)?(https?://(dx\.)?doi\.org/|10\.\d{4,9}/)\S+", re.IGNORECASE)
_AT_START, _AT_END = re.compile(r"^(\d{1,4})\s"), re.compile(r"\s(\d{1,4})$")
_TURNED = 200  # letters of a table set on its side; a stamp or an axis has fewer


def without_running_lines(pages: Sequence[PageLines]) -> list[PageLines]:
    """Return the pages without lines that come again at the same place, without page numbers and lone links there.

    A line must come on three pages, or on two where there are but two or three; numbers in it may differ. Turned text
    goes too, unless it is long and of this page alone.
    """
    left = [replace(page, lines=_worth_reading(page.lines)) for page in pages]
    for _ in range(_ROWS):
        edges = [_edges(page) for page in left]
        needed = 2 if len(left) <= 3 else 3
        places, numbered = _places(edges), _numbered(left, edges, needed)
        gone = [
            {line for line in edge if (page.number, line.text) in numbered or _is_running(line, page, places, needed)}
            for page, edge in zip(left, edges, strict=True)
        ]
        if not any(gone):
            break
        left = [
            replace(page, lines=tuple(line for line in page.lines if line not in lines))
            for page, lines in zip(left, gone, strict=True)
        ]
    return [replace(page, lines=_without_short_turned(page.lines)) for page in left]


def _worth_reading(lines: Sequence[PositionedLine]) -> tuple[PositionedLine, ...]:
    return tuple(line for line in lines if line.text)


def _numbered(
    pages: Sequence[PageLines], edges: Sequence[Sequence[PositionedLine]], needed: int
) -> set[tuple[int, str]]:
    """Page and text of lines that begin or end with a number that grows with the pages, as in "56 Kopp et al."."""
    found: dict[int, list[tuple[int, str]]] = defaultdict(list)
    for page, edge in zip(pages, edges, strict=True):
        for line in _outermost(edge):
            for number in {*_AT_START.findall(line.text), *_AT_END.findall(line.text)}:
                found[int(number) - page.number].append((page.number, line.text))
    runs = [each for each in found.values() if len({page for page, _ in each}) >= needed]
    return {line for run in runs for line in run}


def _edges(page: PageLines) -> list[PositionedLine]:
    """The lines of the outermost rows, and all that are turned."""
    rows = sorted({round(line.y / 3) for line in page.lines if not line.angle})
    outer = {*rows[:_ROWS], *rows[-_ROWS:]}
    return [line for line in page.lines if line.angle or round(line.y / 3) in outer]


def _outermost(edge: Sequence[PositionedLine]) -> list[PositionedLine]:
    """The lines of the first row and of the last."""
    ends = {pick((line.y for line in edge if not line.angle), default=0.0) for pick in (min, max)}
    return [line for line in edge if not line.angle and any(abs(line.y - end) < 3 for end in ends)]


def _key(line: PositionedLine) -> str:
    return re.sub(r"\d+", "#", line.text.casefold().replace(" ", ""))


def _places(edges: Sequence[Sequence[PositionedLine]]) -> dict[str, list[float]]:
    """Where each text stands, over all pages."""
    places: dict[str, list[float]] = defaultdict(list)
    for edge in edges:
        for line in edge:
            places[_key(line)].append(line.y)
    for found in places.values():
        found.sort()
    return places


def _is_running(line: PositionedLine, page: PageLines, places: dict[str, list[float]], needed: int) -> bool:
    found = places[_key(line)]
    if bisect_right(found, line.y + _NEAR) - bisect_left(found, line.y - _NEAR) >= needed:
        return True
    in_margin = not _MARGIN < line.y / page.height < 1 - _MARGIN
    return in_margin and bool(_PAGE_NUMBER.fullmatch(line.text) or _LINK.fullmatch(line.text))


def _without_short_turned(lines: Sequence[PositionedLine]) -> tuple[PositionedLine, ...]:
    letters: dict[int, int] = defaultdict(int)
    rows: dict[int, set[int]] = defaultdict(set)
    for line in lines:
        letters[line.angle] += len(line.text)
        rows[line.angle].add(round(line.y / 3))
    long = {angle for angle, count in letters.items() if count >= _TURNED and len(rows[angle]) > 3} | {0}
    return tuple(line for line in lines if line.angle in long)

"""The order in which a page is read, without what is not its text: running headers, captions, footnotes."""

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from itertools import groupby

from bio_mcp.literature.layout.lines import FlowLine, PageLines, PositionedLine

_STEP = 3.0  # points between places tried for the space between two columns
_SIDE = 0.03  # share of the letters that the smaller of two columns has at least: notes in a margin have few
_LINES = 3  # that it has at least
_LETTERS = 8  # that a line of it has, on an average; the number of an equation has fewer
_WIDE = 0.5  # of a column's width: half of its letters are in lines as wide
_LAST_LINES = 2  # short ones at the end of what spans both columns
_DEPTH = 3  # how often columns may be parted again
_ROW = 0.4  # times the size: lines on one baseline differ by less

Lines = Sequence[PositionedLine]


def in_reading_order(page: PageLines, first_column: int) -> list[FlowLine]:
    """Return the page's lines as they are read, those of one row joined. Columns are counted from `first_column`."""
    flow: list[FlowLine] = []
    for _, turned in groupby(sorted(page.lines, key=lambda line: line.angle), key=lambda line: line.angle):
        for block in _blocks(list(turned), _DEPTH):
            left, right = min(line.x0 for line in block), max(line.x1 for line in block)
            column = first_column if not flow else flow[-1].column + 1
            flow += [FlowLine(line, page.number, column, left, right) for line in rows(block)]
    return flow


def rows(lines: Lines) -> Iterator[PositionedLine]:
    """The lines from top to bottom, those on one baseline joined by spaces."""
    for row in grouped_by_row(lines):
        longest = max(row, key=lambda line: len(line.text))
        yield replace(
            longest,
            text=" ".join(line.text for line in row),
            x0=row[0].x0,
            x1=max(line.x1 for line in row),
            bold=all(line.bold for line in row),
            italic=all(line.italic for line in row),
            mixed=any(line.mixed or line.font != longest.font for line in row),
            lead=row[0].lead,
        )


def grouped_by_row(lines: Lines) -> list[list[PositionedLine]]:
    """The lines of each baseline from left to right, from top to bottom."""
    found: list[list[PositionedLine]] = []
    for line in sorted(lines, key=lambda line: line.y):
        if found and line.y - found[-1][0].y < _ROW * min(line.size, found[-1][0].size):
            found[-1].append(line)
        else:
            found.append([line])
    return [sorted(row, key=lambda line: line.x0) for row in found]


def _blocks(lines: Lines, depth: int) -> Iterator[Lines]:
    """The columns and the blocks that span them, in reading order."""
    gutter = gutter_of(lines) if depth else None
    if gutter is None:
        yield lines
        return
    across: list[PositionedLine] = []
    sides = _sides(lines, gutter)
    for spans, each in groupby(sorted(lines, key=lambda line: line.y), key=lambda line: not sides[line]):
        band = list(each)
        left = [line for line in band if sides[line] < 0]
        right = [line for line in band if sides[line] > 0]
        if spans or (across and not right and len(left) <= _LAST_LINES):
            across += band
            continue
        if across:
            yield across
            across = []
        for side in filter(None, (left, right)):
            yield from _blocks(side, depth - 1)
    if across:
        yield across


def _sides(lines: Lines, gutter: float) -> dict[PositionedLine, int]:
    """-1 for lines left of the gutter, 1 for those right of it, 0 for those that span it.

    Lines that span it with the right column beside them are left: the right column is set around them.
    """
    sides = {line: -1 if line.x1 <= gutter else 1 if line.x0 >= gutter else 0 for line in lines}
    right = [line for line in lines if sides[line] > 0]
    edge = min(line.x0 for line in lines)
    across = [line for line in lines if not sides[line] and line.x0 < edge + 2 * line.size]
    wide = [
        line for line in across if any(abs(line.y - other.y) < line.size and other.x0 >= line.x1 for other in right)
    ]
    return sides | dict.fromkeys(wide, -1) if len(wide) >= _LINES else sides


def gutter_of(lines: Lines) -> float | None:
    """Return the middle of the space between two columns of text; None where the lines stand in one."""
    if len(lines) < 4:
        return None
    start, end = min(line.x0 for line in lines), max(line.x1 for line in lines)
    bins = int((end - start) / _STEP) + 2
    ended, begun = [0] * bins, [0] * bins
    for line in lines:
        ended[int((line.x1 - start) / _STEP) + 1] += len(line.text)
        begun[int((line.x0 - start) / _STEP)] += len(line.text)
    total = sum(begun)
    sides: list[tuple[int, int]] = []  # letters on the smaller side, and on both: the rest spans
    before, after = 0, total
    for at in range(bins):
        before += ended[at]
        sides.append((min(before, after), before + after))
        after -= begun[at]
    most = max(sides)
    if most[0] < _SIDE * total:
        return None
    first = sides.index(most)
    last = next((at for at in range(first, bins) if sides[at] != most), bins) - 1
    gutter = start + _STEP * (first + last) / 2
    return gutter if _parts_columns(lines, gutter) else None


def _parts_columns(lines: Lines, gutter: float) -> bool:
    """Whether both sides are prose, not the cells of a table, and nothing that spans them stands beside them."""
    left = [line for line in lines if line.x1 <= gutter]
    right = [line for line in lines if line.x0 >= gutter]
    spanning = {round(line.y) for line in lines if line.x0 < gutter < line.x1}
    beside = sum(round(line.y) in spanning for line in (*left, *right))
    return _is_column(left) and _is_column(right) and beside <= 0.1 * (len(left) + len(right))


def _is_column(lines: Lines) -> bool:
    if len(lines) < _LINES or sum(len(line.text) for line in lines) < _LETTERS * len(lines):
        return False
    width = max(line.x1 for line in lines) - min(line.x0 for line in lines)
    wide = sum(len(line.text) for line in lines if line.x1 - line.x0 > _WIDE * width)
    return wide >= 0.5 * sum(len(line.text) for line in lines) or gutter_of(lines) is not None


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
    left = [replace(page, lines=tuple(line for line in page.lines if line.text)) for page in pages]
    for _ in range(_ROWS):
        edges = [_edges(page) for page in left]
        needed = 2 if len(left) <= 3 else 3
        places, numbered = _places(edges), _numbered(left, edges, needed)
        gone = [
            {line for line in edge if (page.number, line.text) in numbered or _is_running(line, page, places, needed)}
            for page, edge in zip(left, edges, strict=True)
        ]
        left = [
            replace(page, lines=tuple(line for line in page.lines if line not in lines))
            for page, lines in zip(left, gone, strict=True)
        ]
    return [replace(page, lines=_without_short_turned(page.lines)) for page in left]


def _numbered(
    pages: Sequence[PageLines], edges: Sequence[Sequence[PositionedLine]], needed: int
) -> set[tuple[int, str]]:
    """Page and text of lines that begin or end with a number that grows with the pages, as in "56 Kopp et al."."""
    found: dict[int, list[tuple[int, str]]] = defaultdict(list)
    for page, edge in zip(pages, edges, strict=True):
        upright = [line for line in edge if not line.angle]
        ends = [pick(line.y for line in upright) for pick in (min, max) if upright]
        for line in upright:
            if all(abs(line.y - end) >= 3 for end in ends):
                continue
            for number in {*_AT_START.findall(line.text), *_AT_END.findall(line.text)}:
                found[int(number) - page.number].append((page.number, line.text))
    runs = [each for each in found.values() if len({page for page, _ in each}) >= needed]
    return {line for run in runs for line in run}


def _edges(page: PageLines) -> list[PositionedLine]:
    """The lines of the outermost rows, and all that are turned."""
    rows = sorted({round(line.y / 3) for line in page.lines if not line.angle})
    outer = {*rows[:_ROWS], *rows[-_ROWS:]}
    return [line for line in page.lines if line.angle or round(line.y / 3) in outer]


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


_CAPTION = re.compile(
    r"(supplement(ary|al) |extended data |appendix )?"
    r"(fig(ure|\.)?|abb(ildung|\.)|table|tab(elle|\.)|scheme|chart|box|video|figura|tabla|tableau|รูปที่|ภาพที่|ตารางที่)"
    r"\s*[A-Z]?\d+[A-Za-z]?\s*([.:|–—-]|\s(?=\S)|$)",
    re.IGNORECASE,
)
_FOOTNOTE = re.compile(
    r"[*†‡§¶#©]|[\d¹²³⁴-⁹]{1,2}\s?[A-Z]|[a-e]\s[A-Z]|(\(c\)|copyright|correspond|received|e-?mail|present address|full "
    r"list|abbreviations?:|these authors|equal contribution|open access|how to cite|cite this)",
    re.IGNORECASE,
)
_FOOT = 0.92  # of the text's size, at most, has a footnote
_NEXT = 1.75  # font sizes between the baselines of two lines of one block
_LONGEST = 12  # lines of a footnote


def parted(
    flow: Sequence[FlowLine], size: float, tables: Collection[str]
) -> tuple[list[FlowLine], list[tuple[int, list[FlowLine]]], list[list[FlowLine]]]:
    """The lines of the text, the captions, each with the place of the line of the text before which it stands, and the
    footnotes. `size` is the text's, `tables` are fonts of lines in tables' places."""
    main: list[FlowLine] = []
    captions: list[tuple[int, list[FlowLine]]] = []
    footnotes: list[list[FlowLine]] = []
    at = 0
    while at < len(flow):
        end = at + 1 if flow[at].line.font in tables else _caption_end(flow, at, size, main) or at
        if end > at:
            captions.append((len(main), list(flow[at:end])))
        elif (end := _footnote_end(flow, at, size) or at) > at:
            footnotes.append(list(flow[at:end]))
        else:
            main.append(flow[at])
        at = max(end, at + 1)
    return main, captions, footnotes


def _caption_end(flow: Sequence[FlowLine], at: int, size: float, main: Sequence[FlowLine]) -> int | None:
    """Where the caption that begins at `at` ends; None if none does."""
    if not _CAPTION.match(flow[at].text) or not _begins_block(flow, at, size):
        return None
    end = at + 1
    text_ended = not main or main[-1].text.endswith(".")
    while end < len(flow):
        line, below = flow[end - 1], flow[end]
        near = 0 < line.gap_below(below) < _NEXT and abs(line.line.size - below.line.size) <= 0.05 * line.line.size
        if not near and not (text_ended and _goes_on_overleaf(flow, end)):
            break
        end += 1
    return end


def _begins_block(flow: Sequence[FlowLine], at: int, size: float) -> bool:
    """Whether a line stands apart from the one before: in a line of the text, "Table 2" may come first as well."""
    before, line = flow[at - 1] if at else None, flow[at]
    if before is None or line.line.bold or abs(line.line.size - size) > 0.05 * size:
        return True
    return not 0 <= before.gap_below(line) < _NEXT and (before.short or before.text.endswith((".", ":")))


def _goes_on_overleaf(flow: Sequence[FlowLine], at: int) -> bool:
    """Whether a caption that a page ends within a sentence of goes on at the top of the next."""
    line, below = flow[at - 1], flow[at]
    new_page = below.page == line.page + 1 and abs(line.line.size - below.line.size) <= 0.05 * line.line.size
    return new_page and not line.short and not line.text.endswith(".") and below.text[:1].islower()


def _footnote_end(flow: Sequence[FlowLine], at: int, size: float) -> int | None:
    """Where the footnote that begins at `at` ends, with its column; None if none does."""
    first = flow[at]
    if first.line.size > _FOOT * size or not _FOOTNOTE.match(first.text):
        return None
    if at and flow[at - 1].column == first.column and flow[at - 1].line.size <= first.line.size:
        return None
    end = at + 1
    while end < len(flow) and flow[end].column == first.column and flow[end].line.size <= _FOOT * size:
        end += 1
    ends_column = end == len(flow) or flow[end].column != first.column
    return end if ends_column and end - at <= _LONGEST else None

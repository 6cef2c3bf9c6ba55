"""The order in which a page is read: columns one after the other, with what spans them between."""

from collections.abc import Iterator, Sequence
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
    for spans, band in _bands(lines, sides):
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
    wide = [line for line in across if any(_is_beside(line, other) for other in right)]
    return sides | dict.fromkeys(wide, -1) if len(wide) >= _LINES else sides


def _is_beside(line: PositionedLine, other: PositionedLine) -> bool:
    return abs(line.y - other.y) < line.size and other.x0 >= line.x1


def _bands(lines: Lines, sides: dict[PositionedLine, int]) -> Iterator[tuple[bool, list[PositionedLine]]]:
    """Runs of lines from top to bottom that all span the gutter, or all do not."""
    ordered = sorted(lines, key=lambda line: line.y)
    for spans, band in groupby(ordered, key=lambda line: not sides[line]):
        yield spans, list(band)


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

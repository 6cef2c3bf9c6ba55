"""Tables with a caption: taken out of their page before its columns are found, since their cells look like columns."""

import re
from collections.abc import Sequence
from dataclasses import replace

from bio_mcp.literature.layout.lines import PageLines, PositionedLine, Words, joined
from bio_mcp.literature.layout.reading_order import grouped_by_row, gutter_of

_CAPTION = re.compile(
    r"(supplementary |extended data )?(table|tab\.|tabelle|tabla|tableau|ตารางที่)\s*[A-Z]?\d+", re.IGNORECASE
)
_OTHER = re.compile(r"(fig(ure|\.)|abb(ildung|\.)|table|tab\.|tabelle|scheme|box)\s*[A-Z]?\d+", re.IGNORECASE)
_FARTHEST = 3.2  # font sizes between the baselines of two rows
_CAPTION_ROWS = 6
_PROSE = 0.7  # of the width of a column, that a line of the text beside a table has
_PROSE_LINES = 4  # that no table holds
_WRAPPED = 1.5  # font sizes to the next row where it goes on with cells of the last, at most
_FONT = "\ntable "  # no font's name: marks the line that holds a table's place

Row = list[PositionedLine]
Window = tuple[float, float]
"""Where a table may stand, from left to right."""


def without_tables(page: PageLines, size: float) -> tuple[PageLines, dict[str, str]]:
    """Return the page with one line in the place of each table, and the tables by that line's font.

    A table is its caption and its rows as lines, cells parted by tabs. `size` is that of the document's text.
    """
    tables: dict[str, str] = {}
    lines = [line for line in page.lines if not line.angle]
    for caption in [line for line in lines if _CAPTION.match(line.text)]:
        if caption not in lines:
            continue
        found = _table(lines, caption, size)
        if found:
            (left, right), head, rows = found
            font = f"{_FONT}{page.number}.{len(tables)}"
            taken = {line for row in (*head, *rows) for line in row}
            text = ""
            for row in head:
                text = joined(text, " ".join(line.text for line in row), Words())
            tables[font] = "\n".join([text, *("\t".join(row).rstrip("\t") for row in _cells(rows))])
            place = replace(caption, text=text, x0=left, x1=right, font=font, bold=True)
            lines = [place if line is caption else line for line in lines if line is caption or line not in taken]
    turned = [line for line in page.lines if line.angle]
    return (replace(page, lines=(*lines, *turned)), tables) if tables else (page, tables)


def _table(
    lines: Sequence[PositionedLine], caption: PositionedLine, size: float
) -> tuple[Window, list[Row], list[Row]] | None:
    """Where the table below or above `caption` stands, the rows of its caption and its own; None if there is none."""
    for window, prose in _windows(lines, caption):
        rows = grouped_by_row([line for line in lines if window[0] - 1 <= line.x0 and line.x1 <= window[1] + 1])
        at = next((at for at, row in enumerate(rows) if caption is row[0]), None)
        if at is None:
            continue
        head = _caption_rows(rows[at:])
        below, above = rows[at + len(head) :], rows[:at][::-1]
        gaps = [
            _distance(row, other[0]) if other else _FARTHEST for row, other in ((rows[at], above), (head[-1], below))
        ]
        for after, before in ((above, rows[at]), (below, head[-1]))[:: 1 if gaps[0] < gaps[1] else -1]:
            body = _body(after, before, prose, size)
            wide = [line for row in body for line in row if line.x1 - line.x0 > prose and line.size >= 0.97 * size]
            if sum(len(row) > 1 for row in body) >= 2 and len(wide) < _PROSE_LINES:
                return window, head, sorted(body, key=lambda row: row[0].y)
    return None


def _windows(lines: Sequence[PositionedLine], caption: PositionedLine) -> list[tuple[Window, float]]:
    """The page's width, and that of the caption's column; each with the width from which a line in it is prose."""
    left, right = min(line.x0 for line in lines), max(line.x1 for line in lines)
    gutter = gutter_of(lines)
    if gutter is None:
        return [((left, right), _PROSE * (right - left))]
    whole = ((left, right), _PROSE * (right - left) / 2)
    if caption.x1 > gutter > caption.x0:
        return [whole]
    column = (left, gutter) if caption.x1 <= gutter else (gutter, right)
    return [whole, (column, _PROSE * (column[1] - column[0]))]


def _caption_rows(rows: Sequence[Row]) -> list[Row]:
    """The rows before the first of several cells: of one line each, set close; the first may have its number apart."""
    end = 1
    while end < min(len(rows), _CAPTION_ROWS) and len(rows[end]) == 1 and _distance(rows[end - 1], rows[end]) < 1.8:
        if rows[end][0].size != rows[0][-1].size:
            break
        end += 1
    return list(rows[:end])


def _body(rows: Sequence[Row], before: Row, prose: float, size: float) -> list[Row]:
    """The rows up to a wide gap, another caption, or the text."""
    found: list[Row] = []
    for row in rows:
        if _distance(before, row) > _FARTHEST or _OTHER.match(row[0].text) or _is_text(row, prose, size, found):
            break
        found.append(row)
        before = row
    while found and len(found[-1]) == 1 and found[-1][0].size >= 0.97 * size:
        found.pop()
    return found


def _is_text(row: Row, prose: float, size: float, table: Sequence[Row]) -> bool:
    """Whether a row is one of the text: of its size where the table's is smaller, else of lines as wide."""
    smaller = bool(table) and max(line.size for line in table[0]) < 0.95 * size
    return all(line.size >= 0.97 * size and (smaller or line.x1 - line.x0 > prose) for line in row)


def _distance(row: Row, below: Row) -> float:
    return abs(below[0].y - row[0].y) / max(below[0].size, row[0].size)


def _cells(rows: Sequence[Row]) -> list[list[str]]:
    """The rows with each line in its column; a row that only goes on with some cells is joined to the one above."""
    columns = _columns(rows)
    table: list[list[str]] = []
    before: Row | None = None
    for row in rows:
        overlaps = [[min(line.x1, end) - max(line.x0, start) for start, end in columns] for line in row]
        placed = [(each.index(max(each)), line.text) for each, line in zip(overlaps, row, strict=True)]
        wrapped = before is not None and _distance(before, row) < _WRAPPED and placed[0][0] > 0
        if not wrapped or len(placed) > len(columns) / 2:
            table.append([""] * len(columns))
        for at, text in placed:
            table[-1][at] = joined(table[-1][at], text, Words())
        before = row
    return table


def _columns(rows: Sequence[Row]) -> list[tuple[float, float]]:
    """Where the columns stand: what the cells of the fullest rows cover, taken together."""
    most = max(len(row) for row in rows)
    lines = sorted((line for row in rows if len(row) >= 0.6 * most for line in row), key=lambda line: line.x0)
    columns = [(lines[0].x0, lines[0].x1)]
    for line in lines:
        start, end = columns[-1]
        if line.x0 < end:
            columns[-1] = (start, max(end, line.x1))
        else:
            columns.append((line.x0, line.x1))
    return columns

"""Plots of the pages as SVG, and how long recorded calls took."""

import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import accumulate
from typing import Any

from bio_mcp.evaluating.figures import Result
from bio_mcp.evaluating.page import course as course_of
from bio_mcp.evaluating.page import svg
from bio_mcp.ports.state import CallRecord

BOUNDS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000)  # milliseconds


def latencies(calls: Iterable[CallRecord]) -> dict[str, Any]:
    """How long calls took, in all and by tool; those without a latency count for nothing.

    `counts` has those up to each of `BOUNDS`, and those above the last; `half_ms` and `most_ms` are the milliseconds
    within which half of a tool's calls and 95 % of them were answered.
    """
    timed = [(each.tool, each.latency_ms, each.at) for each in calls if each.latency_ms is not None]
    counts = [0] * (len(BOUNDS) + 1)
    by_tool: dict[str, list[int]] = {}
    for tool, taken, _ in timed:
        counts[bisect_left(BOUNDS, taken)] += 1
        by_tool.setdefault(tool, []).append(taken)
    tools = []
    for tool, unsorted in sorted(by_tool.items()):
        taken_ms = sorted(unsorted)
        half, most = (taken_ms[-(-len(taken_ms) * percent // 100) - 1] for percent in (50, 95))
        row = {"tool": tool, "calls": len(taken_ms), "half_ms": half, "most_ms": most, "all_ms": taken_ms[-1]}
        tools.append(row)
    since = min((at for *_, at in timed), default=None)
    return {"calls": len(timed), "since": since and since.isoformat(), "counts": counts, "tools": tools}


WIDTH, HEIGHT = 400, 200
LEFT, RIGHT, TOP, BOTTOM = 44, 6, 10, 24
WIDEST = 24  # of a column
HALF_LETTER = 4.6  # of a name at its widest, which is on a narrow screen
GAP = 6  # between names below the axis, at least
MOST_YEARS = 40
DESIGNS = (None, 0, 1, 2, 3)  # points for study design, from the bottom of a column up
BY_DESIGN = tuple(f"design-{number}" for number in range(len(DESIGNS)))
LINES = ("", "M-1 7 7-1M-1 1 1-1M5 7 7 5", "M0 3h6", "M3 0v6", "M-1-1 7 7M-1 7 7-1")
"""What tells designs apart without their colours: lines in a square of 6 that is repeated."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its parts from the bottom up, and its name. `ticked`: the axis has the name."""

    name: str
    parts: tuple[int, ...]
    ticked: bool = False

    @property
    def total(self) -> int:
        """The height of the column."""
        return sum(self.parts)


def by_day(days: Sequence[Mapping[str, Any]]) -> str:
    """Papers that were added and that were revised, a column for each day."""
    ends = {days[0]["day"], days[-1]["day"]}
    columns = [Column(each["day"], (each["added"], each["revised"]), each["day"] in ends) for each in days]
    said = "{0.name}: {0.parts[0]:,} added, {0.parts[1]:,} revised"
    return bars(columns, ("added", "revised"), "by-day", "Papers by day", said)


def by_year(
    counts: Sequence[Mapping[str, Any]], title: str = "Papers by year and study design", width: int = WIDTH
) -> str:
    """Papers by the year of their publication and the points of their study design, a column for each year.

    Beside colours they have patterns, which a legend on the page has by the ids `by-year-0` to `by-year-4`.

    Papers without a year are left out; those of years further back than `MOST_YEARS` are one column.
    """
    dated = [each for each in counts if each["year"] is not None]
    years = {each["year"] for each in dated}
    last, first = max(years), max(min(years), max(years) - MOST_YEARS + 1)
    papers: Counter[tuple[int, int | None]] = Counter()
    for each in dated:
        papers[max(each["year"], first), each["design"]] += each["documents"]
    columns = []
    for year in range(first, last + 1):
        name = f"{year} and before" if year == first > min(years) else str(year)
        parts = tuple(papers[year, design] for design in DESIGNS)
        columns.append(Column(name, parts, year in (first, last) or year % 10 == 0))
    square = 'width="6" height="6" patternUnits="userSpaceOnUse"'
    patterns = [
        f'<pattern id="by-year-{number}" {square}><path d="{lines}"/></pattern>' for number, lines in enumerate(LINES)
    ]
    return bars(columns, BY_DESIGN, "by-year", title, width=width, patterns=patterns)


def by_latency(counts: Sequence[int]) -> str:
    """Calls by how long they took: a column for each of `BOUNDS`, and one for those that took longer than the last."""
    names = [f"{bound} ms" if bound < 1_000 else f"{bound // 1_000} s" for bound in BOUNDS]
    columns = [Column(each, (count,), True) for each, count in zip([*names, "longer"], counts, strict=True)]
    return bars(columns, ("calls",), "by-latency", "Calls by the time that they took at most")


def course(runs: Sequence[Mapping[str, Any]], name: str) -> str:
    """A figure over the runs of an evaluation, the oldest at the left, in the band of its interval."""
    results = [Result(**each["result"]) for each in runs]
    return course_of(results, [each["day"] for each in runs], name)


def bars(
    columns: Sequence[Column],
    kinds: Sequence[str],
    name: str,
    title: str,
    said: str = "{0.name}: {0.total:,}",
    *,
    width: int = WIDTH,
    patterns: Sequence[str] = (),
) -> str:
    """Columns beside each other, with an axis of counts. `kinds` are the classes of their parts, from the bottom up;
    `name` is unique on the page, `said` is what is said of each column to those who do not see it, and `patterns` are
    those of the kinds."""
    most = rounded_up(max(each.total for each in columns))
    room = (width - LEFT - RIGHT) / len(columns)
    wide = min(WIDEST, room * 0.8)
    base, *lines = (
        f'<line class="axis" x1="{LEFT}" y1="{_y(tick, most):.1f}" x2="{width - RIGHT}" y2="{_y(tick, most):.1f}"/>'
        f'<text class="muted" text-anchor="end" x="{LEFT - 6}" y="{_y(tick, most) + 4:.1f}">{short(tick)}</text>'
        for tick in dict.fromkeys((0, most // 2, most))
    )
    parts = [*patterns, *lines]
    for number, column in enumerate(columns):
        left = LEFT + room * (number + 0.5) - wide / 2
        for place, (kind, part, top) in enumerate(zip(kinds, column.parts, accumulate(column.parts), strict=True)):
            if part:
                y, height = f"{_y(top, most):.1f}", f"{part / most * (HEIGHT - TOP - BOTTOM):.1f}"
                parts.append(f'<rect class="{kind}" x="{left:.1f}" y="{y}" width="{wide:.1f}" height="{height}"/>')
                if patterns:
                    outline = f"M{left:.1f} {y}h{wide:.1f}v{height}h-{wide:.1f}z"
                    parts.append(f'<path fill="url(#{name}-{place})" d="{outline}"/>')
    parts += [base, *_ticks(columns, room, width)]
    description = "; ".join(said.format(each) for each in columns if each.total) or "None."
    return svg(name, title, description, parts, width, HEIGHT)


def _ticks(columns: Sequence[Column], room: float, width: int) -> list[str]:
    """Names below the axis, first those of both ends. None reaches beyond the plot, or into one before it."""
    ends = (0, len(columns) - 1)
    labels: dict[int, str] = {}
    taken: list[tuple[float, float]] = []
    for number in dict.fromkeys((*ends, *range(len(columns)))):
        name, half = columns[number].name, HALF_LETTER * len(columns[number].name)
        middle = min(max(LEFT + room * (number + 0.5), half), width - half)
        start, end = middle - half - GAP, middle + half + GAP
        if columns[number].ticked and all(end <= left or right <= start for left, right in taken):
            taken.append((middle - half, middle + half))
            place = f'x="{middle:.1f}" y="{HEIGHT - 8}"'
            labels[number] = f'<text class="muted" text-anchor="middle" {place}>{escape(name)}</text>'
    return [labels[number] for number in sorted(labels)]


def rounded_up(count: int) -> int:
    """The least of 2, 4, 10, 20, 40, 100 ... that is not below `count`: half of it is a whole number too."""
    power: int = 10 ** int(math.log10(max(count, 2) - 1))
    return next(each for each in (2 * power, 4 * power, 10 * power) if each >= count)


def short(count: int) -> str:
    """A count in few characters, as 12k."""
    for size, letter in ((1_000_000, "M"), (1_000, "k")):
        if count >= size:
            return f"{count / size:g}{letter}"
    return str(count)


def _y(count: int, most: int) -> float:
    """Where a count stands, on an axis that ends at `most`."""
    return HEIGHT - BOTTOM - count / most * (HEIGHT - TOP - BOTTOM)

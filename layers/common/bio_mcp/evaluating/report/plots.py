"""Plots as inline SVG, each with a title and a description for those who do not see it."""

from collections.abc import Sequence
from html import escape

from bio_mcp.evaluating.figures import Result
from bio_mcp.evaluating.measures import CalibrationBin

Point = tuple[float, float]
WIDTH, HEIGHT = 320, 200
LEFT, RIGHT, TOP, BOTTOM = 40, 12, 10, 34


def ranges(results: Sequence[Result], name: str) -> str:
    """Every figure on a scale from 0 to 1: a dot on the line of its interval."""
    row, left, width = 24, 150, 620
    height = row * len(results) + 26

    def place(share: float) -> float:
        return left + share * (width - 60 - left)

    parts = [
        f'<line class="axis" x1="{place(tick):.1f}" y1="4" x2="{place(tick):.1f}" y2="{height - 20}"/>'
        f'<text class="muted" text-anchor="middle" x="{place(tick):.1f}" y="{height - 6}">{tick:g}</text>'
        for tick in (0, 0.25, 0.5, 0.75, 1)
    ]
    for number, each in enumerate(results):
        y = row * number + 16
        parts.append(
            f'<text text-anchor="end" x="{left - 10}" y="{y + 4}">{escape(each.name)}</text>'
            f'<line class="range" x1="{place(each.low):.1f}" y1="{y}" x2="{place(each.high):.1f}" y2="{y}"/>'
            f'<circle class="dot" cx="{place(each.value):.1f}" cy="{y}" r="4"/>'
            f'<text x="{width - 48}" y="{y + 4}">{each.value:.3f}</text>'
        )
    described = "; ".join(f"{each.name} {each.value:.3f}, {each.low:.3f} to {each.high:.3f}" for each in results)
    return svg(name, "Figures with their 95 % intervals", described, parts, width, height)


def course(values: Sequence[Result], days: Sequence[str], name: str) -> str:
    """One figure over the runs, the oldest at the left, in the band of its interval."""
    steps = max(1, len(values) - 1)
    x = [_across(number / steps) for number in range(len(values))]
    band = [(at, _up(each.high)) for at, each in zip(x, values, strict=True)]
    band += reversed([(at, _up(each.low)) for at, each in zip(x, values, strict=True)])
    line = [(at, _up(each.value)) for at, each in zip(x, values, strict=True)]
    parts = [
        *_axes(f"{days[0]}", f"{days[-1]}" if len(days) > 1 else ""),
        f'<polygon class="band" points="{_points(band)}"/>',
        f'<polyline class="line" points="{_points(line)}"/>',
        *(f'<circle class="dot" cx="{at:.1f}" cy="{up:.1f}" r="3"/>' for at, up in line),
    ]
    described = "; ".join(f"{day}: {each.value:.3f}" for day, each in zip(days, values, strict=True))
    return svg(name, f"{values[0].name} over the runs", described, parts)


def calibration(bins: Sequence[CalibrationBin], name: str) -> str:
    """What confidence promises against the share that is right: on the diagonal where it is what it says."""
    most = max(each.count for each in bins)
    parts = [
        *_axes("confidence 0", "1"),
        f'<line class="ideal" x1="{_across(0)}" y1="{_up(0)}" x2="{_across(1)}" y2="{_up(1)}"/>',
        *(
            f'<circle class="dot" cx="{_across(each.confidence):.1f}" cy="{_up(each.right):.1f}" '
            f'r="{3 + 6 * (each.count / most) ** 0.5:.1f}"/>'
            for each in bins
        ),
    ]
    described = "; ".join(f"confidence {each.confidence:.2f}: {each.right:.2f} of {each.count} right" for each in bins)
    return svg(name, "Confidence and the share that is right", described, parts)


def risks(points: Sequence[Point], name: str) -> str:
    """The share that is wrong of the most confident answers, over the share of all that these are."""
    line = [(_across(coverage), _up(risk)) for coverage, risk in points]
    parts = [*_axes("answered 0", "all"), f'<polyline class="line" points="{_points(line)}"/>']
    shown = points[:: max(1, len(points) // 10)]
    described = "; ".join(f"of the first {coverage:.0%}, {risk:.0%} wrong" for coverage, risk in shown)
    return svg(name, "Risk over coverage", described, parts)


def svg(name: str, title: str, description: str, parts: Sequence[str], width: int = WIDTH, height: int = HEIGHT) -> str:
    """The plot that `parts` draw; `name` is unique on its page."""
    return (
        f'<svg viewBox="0 0 {width} {height}" role="img" aria-labelledby="{name}-title {name}-desc">'
        f'<title id="{name}-title">{escape(title)}</title><desc id="{name}-desc">{escape(description)}</desc>'
        f"{''.join(parts)}</svg>"
    )


def _axes(left_label: str, right_label: str) -> list[str]:
    """A square from 0 to 1, with the labels of its ends."""
    low, high, start, end = _up(0), _up(1), _across(0), _across(1)
    ticks = [
        f'<line class="axis" x1="{start}" y1="{_up(tick):.1f}" x2="{end}" y2="{_up(tick):.1f}"/>'
        f'<text class="muted" text-anchor="end" x="{start - 6}" y="{_up(tick) + 4:.1f}">{tick:g}</text>'
        for tick in (0, 0.5, 1)
    ]
    return [
        f'<path class="axis" d="M{start} {high}V{low}H{end}"/>',
        *ticks,
        f'<text class="muted" x="{start}" y="{HEIGHT - 10}">{escape(left_label)}</text>',
        f'<text class="muted" text-anchor="end" x="{end}" y="{HEIGHT - 10}">{escape(right_label)}</text>',
    ]


def _across(share: float) -> float:
    return LEFT + share * (WIDTH - LEFT - RIGHT)


def _up(share: float) -> float:
    return HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM)


def _points(points: Sequence[Point]) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in points)

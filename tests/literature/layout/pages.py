"""Pages set by hand: lines of text as they stand on paper."""

from collections.abc import Sequence

from bio_mcp.literature.layout.lines import PageLines, PositionedLine

WIDTH, HEIGHT = 600.0, 800.0
SIZE = 10.0
LEADING = 12.0


def line(text: str, x: float = 50.0, y: float = 100.0, size: float = SIZE, **kind: object) -> PositionedLine:
    """A line whose letters are half as wide as high."""
    return PositionedLine(text, x, x + 0.5 * size * len(text), y, size, **{"font": "Serif", **kind})


def block(text: str, x: float = 50.0, y: float = 100.0, size: float = SIZE, **kind: object) -> list[PositionedLine]:
    """The lines of `text`, one below the other; an empty one is a gap."""
    placed = ((each.strip(), y + at * 1.2 * size) for at, each in enumerate(text.strip("\n").split("\n")))
    return [line(each, x, down, size, **kind) for each, down in placed if each]


def page(*parts: Sequence[PositionedLine] | PositionedLine, number: int = 1) -> PageLines:
    lines = [each for part in parts for each in ([part] if isinstance(part, PositionedLine) else part)]
    return PageLines(number, WIDTH, HEIGHT, tuple(lines))


def prose(count: int, of: str = "word") -> str:
    """So many lines of 45 letters, numbered, the last a sentence's end."""
    lines = [f"{of} {number:02} of a text that fills its column well".ljust(45, "x")[:45] for number in range(count)]
    return "\n".join([*lines[:-1], lines[-1][:40] + "."])

"""Lines of text with their place and font on a page: what layout analysis starts from."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PositionedLine:
    """Text on one baseline without a wide gap in it. Points, from the upper left corner of the page as it is read.

    `y` is of the baseline, `size` the font's as printed. `bold` and `italic` hold for nine tenths of its letters.
    `mixed` where they do not share one font. `angle` is how many degrees it is turned against most of its page; its
    place is then that of a page so turned.
    """

    text: str
    x0: float
    x1: float
    y: float
    size: float
    font: str = ""
    bold: bool = False
    italic: bool = False
    mixed: bool = False
    angle: int = 0

    @property
    def style(self) -> tuple[float, str, bool]:
        """Size, font and weight, by which headings are told from text."""
        return self.size, self.font, self.bold


@dataclass(frozen=True, slots=True)
class PageLines:
    """The lines of one page, in the order of the file. `number` counts from 1, `width` and `height` are in points."""

    number: int
    width: float
    height: float
    lines: tuple[PositionedLine, ...] = ()


@dataclass(frozen=True, slots=True)
class FlowLine:
    """A line in reading order. `column` counts through the document; `left` and `right` are the column's edges."""

    line: PositionedLine
    page: int
    column: int
    left: float
    right: float

    @property
    def text(self) -> str:
        """The line's text."""
        return self.line.text

    @property
    def short(self) -> bool:
        """Whether the line ends well before its column does."""
        return self.line.x1 < self.right - 0.12 * (self.right - self.left)

    @property
    def indented(self) -> bool:
        """Whether the line begins within its column, not at the edge."""
        return self.line.x0 > self.left + 0.5 * self.line.size

    def gap_below(self, other: "FlowLine") -> float:
        """How far the baseline of `other` is below, in this line's font sizes; negative in the next column."""
        same = self.column == other.column and self.page == other.page
        return (other.line.y - self.line.y) / self.line.size if same else -1.0


def body_size(lines: Iterable[PositionedLine]) -> float:
    """Return the size of most letters; 10 where there are none."""
    letters: Counter[float] = Counter()
    for line in lines:
        letters[line.size] += len(line.text)
    return letters.most_common(1)[0][0] if letters else 10.0

"""Lines of a page with place and font, as PDFium finds its characters.

PDFium is called for every character of a document, so by bare function pointers: its generated bindings check and
convert each argument, which takes three times as long.
"""

import ctypes
import math
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, NamedTuple

from bio_mcp.adapters.parsers.pdf.library import Functions, functions
from bio_mcp.literature.layout.characters import readable
from bio_mcp.literature.layout.lines import PageLines, PositionedLine

_BOLD = re.compile(r"bold|black|heavy|semib|demi|medi\b|[-.,_]b[di]?$|cmb|sfbx", re.IGNORECASE)
_ITALIC = re.compile(r"ital|obli|[-.,_]b?i$|cmti|sfti", re.IGNORECASE)
_HYPHEN = 0x02  # PDFium's mark of a hyphen at the end of a line
_ENDS = frozenset({0x0A, 0x0D, _HYPHEN})
_SPACES = frozenset({0x20, 0xA0, 0x09, 0x3000})
_LINE_END = 0.15  # font sizes: where PDFium ends a line, though the same one goes on
_THAI_SPACE = 0.3  # Thai words have no space between them, and letters are set apart to fill a line
_THAI = re.compile("[ก-๛]")
_THAI_MARK = re.compile("[\u0e31\u0e34-\u0e3a\u0e47-\u0e4e]")
_LABEL = re.compile(r"[\[(]?(\d{1,3}|[a-z])[\].)]{1,2}|[•▪■●–-]|\d{1,2}(\.\d{1,2})*")
_AFTER_LABEL = 3.0  # font sizes between the number of an item, or of a heading, and its text
_LARGEST = 2_000.0  # points of a font; more than a poster has
_WIDE = 1.0  # times the font's size: a gap that words of one column do not have


class Style(NamedTuple):
    """How an object of text is printed. `angle` is 0, 90, 180 or 270, counted as the page is stored."""

    size: float
    font: str
    bold: bool
    italic: bool
    angle: int


class Word(NamedTuple):
    """Characters of one style with no space between them. `ends` if a line does with them.

    `space` is how wide the gap before them must be, in font sizes, to be a space; None if it is none.
    """

    text: str
    x0: float
    x1: float
    y: float
    style: Style
    space: float | None
    ends: bool


@dataclass(frozen=True, slots=True)
class Frame:
    """The page's box as it is stored: left, bottom, right and top."""

    left: float
    bottom: float
    right: float
    top: float

    def along(self, angle: int, low: tuple[float, float], high: tuple[float, float]) -> tuple[float, float]:
        """The start and end of a box from corner `low` to `high` along the direction of text at `angle`."""
        if angle == 90:
            return low[1] - self.bottom, high[1] - self.bottom
        if angle == 180:
            return self.right - high[0], self.right - low[0]
        if angle == 270:
            return self.top - high[1], self.top - low[1]
        return low[0] - self.left, high[0] - self.left

    def reaches(self, word: Word) -> bool:
        """Whether the word is on the page or no further from it than another page is large: damaged files place some
        at any number."""
        most = 2 * max(self.right - self.left, self.top - self.bottom)
        return all(-most < each < most for each in (word.x0, word.x1, word.y))

    def down(self, angle: int, x: float, y: float) -> float:
        """How far down a page is that has text at `angle` upright."""
        return {0: self.top - y, 90: x - self.left, 180: y - self.bottom, 270: self.right - x}[angle]


def page_lines(page: Any, number: int) -> PageLines:
    """Read the lines of a `pypdfium2.PdfPage`. Those at another angle than most letters come last, with that angle."""
    frame = Frame(*page.get_bbox())
    text_page = page.get_textpage()
    try:
        words = [word for word in _words(functions(), text_page, frame) if frame.reaches(word)]
    finally:
        text_page.close()
    upright = _angle_of_most(words) if words else (-page.get_rotation()) % 360
    lines = [_turned(line, upright) for line in _lines(words)]
    width, height = frame.right - frame.left, frame.top - frame.bottom
    if upright in (90, 270):
        width, height = height, width
    return PageLines(number, width, height, tuple(sorted(lines, key=lambda line: line.angle != 0)))


def _angle_of_most(words: list[Word]) -> int:
    letters: Counter[int] = Counter()
    for word in words:
        letters[word.style.angle] += len(word.text)
    return letters.most_common(1)[0][0]


def _turned(line: PositionedLine, upright: int) -> PositionedLine:
    return replace(line, angle=(line.angle - upright) % 360) if line.angle != upright else replace(line, angle=0)


def _words(pdfium: Functions, text_page: Any, frame: Frame) -> Iterator[Word]:
    """Every word of the page, in the order of the file."""
    handle = ctypes.cast(text_page.raw, ctypes.c_void_p).value or 0
    count = pdfium.count(handle)
    codes = [pdfium.unicode(handle, at) for at in range(count)]
    objects = [pdfium.text_object(handle, at) or 0 for at in range(count)]
    styles: dict[int, Style] = {}
    space: float | None = None
    start = 0
    while start < count:
        if codes[start] in _SPACES or codes[start] in _ENDS or not objects[start]:
            space, start = _space(pdfium, handle, codes, start), start + 1
            continue
        end = _end_of_word(codes, objects, start)
        style = styles.get(objects[start]) or styles.setdefault(objects[start], _style(pdfium, handle, start))
        ends = end < count and codes[end] in _ENDS
        text = "".join(map(chr, codes[start:end])) + ("-" if end < count and codes[end] == _HYPHEN else "")
        yield Word(text, *_place(pdfium, handle, _corners(codes, start, end), style, frame), style, space, ends)
        space, start = None, end


def _space(pdfium: Functions, handle: int, codes: list[int], at: int) -> float:
    """How wide the gap at `at` must be: more where PDFium saw it between Thai letters, and the file has no space."""
    if codes[at] in _ENDS:
        return _LINE_END
    around = codes[max(0, at - 1) : at + 2]
    thai = all(each == codes[at] or _THAI.match(chr(each)) for each in around)
    return _THAI_SPACE if thai and pdfium.is_generated(handle, at) == 1 else 0.0


def _end_of_word(codes: list[int], objects: list[int], start: int) -> int:
    end, owner = start + 1, objects[start]
    while end < len(codes) and objects[end] == owner and codes[end] not in _SPACES and codes[end] not in _ENDS:
        end += 1
    return end


def _corners(codes: list[int], start: int, end: int) -> list[int]:
    """The characters that may reach farthest: first and last, and what a last Thai mark stands on."""
    reach = end - 1
    while reach > start and _THAI_MARK.match(chr(codes[reach])):
        reach -= 1
    return [start, *range(max(reach, start + 1), end)]


def _place(
    pdfium: Functions, handle: int, corners: list[int], style: Style, frame: Frame
) -> tuple[float, float, float]:
    """Start, end and baseline of a word by its `corners`."""
    lefts, bottoms, rights, tops = zip(*(pdfium.box(handle, at) for at in corners), strict=True)
    start, end = frame.along(style.angle, (min(lefts), min(bottoms)), (max(rights), max(tops)))
    return start, end, frame.down(style.angle, *pdfium.origin(handle, corners[0]))


def _style(pdfium: Functions, handle: int, at: int) -> Style:
    a, b, c, d = (part if math.isfinite(part) else 0.0 for part in pdfium.matrix(handle, at))
    name, weight, slanted = pdfium.font(handle, at)
    drawn = pdfium.size(handle, at) * math.hypot(c, d)
    size = round(drawn, 1) or 1.0 if drawn < _LARGEST else 1.0
    angle = round(math.degrees(math.atan2(b, a)) / 90) * 90 % 360
    family = name.partition("+")[2] or name
    return Style(
        size, family, weight >= 600 or bool(_BOLD.search(family)), slanted or bool(_ITALIC.search(family)), angle
    )


def _lines(words: list[Word]) -> Iterator[PositionedLine]:
    """Words that follow each other on one baseline, with raised and lowered ones among them."""
    current: list[Word] = []
    for word in words:
        if current and not _continues(current, word):
            yield _line(current)
            current = []
        current.append(word)
    if current:
        yield _line(current)


def _continues(line: list[Word], word: Word) -> bool:
    last = line[-1]
    size = max(last.style.size, word.style.size)
    gap = word.x0 - last.x1
    widest = _AFTER_LABEL if len(line) == 1 and _LABEL.fullmatch(last.text) else _WIDE
    if last.style.angle != word.style.angle or not -0.5 * size < gap < widest * size:
        return False
    if last.text.endswith("-") and last.ends:
        return False
    return any(abs(word.y - each.y) < 0.45 * max(each.style.size, word.style.size) for each in (line[0], last))


def _line(words: list[Word]) -> PositionedLine:
    parts = [words[0].text]
    for before, word in pairwise(words):
        gap = (word.x0 - before.x1) / max(word.style.size, before.style.size)
        parts.append(" " + word.text if word.space is not None and gap > word.space else word.text)
    letters: Counter[Style] = Counter()
    for word in words:
        letters[word.style] += len(word.text)
    style = letters.most_common(1)[0][0]
    total = 0.9 * letters.total()
    of_font = sum(count for each, count in letters.items() if each.font == style.font)
    return PositionedLine(
        text=readable("".join(parts)).strip(),
        x0=min(word.x0 for word in words),
        x1=max(word.x1 for word in words),
        y=next(word.y for word in words if word.style == style),
        size=style.size,
        font=style.font,
        bold=sum(count for each, count in letters.items() if each.bold) >= total,
        italic=sum(count for each, count in letters.items() if each.italic) >= total,
        mixed=of_font < total,
        angle=style.angle,
    )

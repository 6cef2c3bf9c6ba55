"""What tesseract says of a page (hOCR): words with their boxes and confidence, to placed lines."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import NamedTuple

from lxml import etree

from bio_mcp.adapters.parsers.pdf import RecognisedPage
from bio_mcp.literature.layout.characters import readable
from bio_mcp.literature.layout.lines import PositionedLine
from bio_mcp.literature.medline.prolog import sealed_builder

_SPAN = "{http://www.w3.org/1999/xhtml}span"
_DIV = "{http://www.w3.org/1999/xhtml}div"
_LINES = frozenset(("ocr_line", "ocr_header"))
_FLOATS = frozenset(("ocr_caption", "ocr_textfloat"))
_BOX = re.compile(r"bbox (-?\d+) (-?\d+) (-?\d+) (-?\d+)")
_BASELINE = re.compile(r"baseline (-?[\d.]+) (-?[\d.]+)")
_HEIGHT = re.compile(r"x_size ([\d.]+)")
_SURENESS = re.compile(r"x_wconf (\d+)")
_RESOLUTION = re.compile(r"scan_res (\d+) (\d+)")
_WIDE = 1.2  # letter heights: a gap as between columns, or between a picture and the text
_SPACE = 0.3  # letter heights: the least gap between two Thai words; within one, tesseract parts the letters
_TALL = 1.5  # times its width: a line of several letters that is so high is turned
_SURE = 0.6  # of text; strokes of drawings have less
_SAME = (0.6, 1.35)  # times the page's median: heights that are one font's; those of Thai vary with its marks
_POINTS = 72
_COARSE = 2  # sizes are told apart by half points


class _Word(NamedTuple):
    text: str
    left: int
    right: int
    sure: float


class _Line(NamedTuple):
    words: tuple[_Word, ...]
    baseline: float
    height: float


@dataclass(frozen=True, slots=True)
class HocrPage:
    """A recognised page in pixels. `dpi` is what tesseract took its resolution for."""

    width: int
    height: int
    dpi: float
    lines: tuple[_Line, ...]

    def in_points(self, dpi: float) -> RecognisedPage:
        """The page's lines in points at this resolution, and the mean confidence of their words."""
        usual = median(line.height for line in self.lines) if self.lines else 1.0
        parts = [(line, words) for line in self.lines if (words := _without_strokes(line.words, usual))]
        placed = tuple(_placed(line, words, usual, _POINTS / dpi) for line, words in parts)
        sure = [word.sure for _, words in parts for word in words]
        return RecognisedPage(placed, sum(sure) / len(sure) if sure else 0.0)


def pages_of(hocr: bytes) -> list[HocrPage]:
    """Read tesseract's answer; no pages where it is cut off."""
    try:
        root = etree.fromstring(hocr, sealed_builder())
    except etree.XMLSyntaxError:
        return []
    return [_page(each) for each in root.iter(_DIV) if each.get("class") == "ocr_page"]


def _page(page: etree._Element) -> HocrPage:
    title = page.get("title") or ""
    _, _, width, height = _box(title)
    resolution = _RESOLUTION.search(title)
    dpi = float(resolution[1]) if resolution and int(resolution[1]) else 300.0
    lines = [line for each in page.iter(_SPAN) if each.get("class") in _LINES and (line := _line(each)).words]
    floats = [line for each in page.iter(_SPAN) if each.get("class") in _FLOATS and (line := _line(each)).words]
    return HocrPage(width, height, dpi, (*lines, *_below(floats, lines)))


def _below(floats: Sequence[_Line], lines: Sequence[_Line]) -> Iterator[_Line]:
    """What stands beside the text, such as a picture's caption, put below it so that it interrupts no sentence."""
    lowest = max((line.baseline for line in lines), default=0.0)
    highest = min((line.baseline for line in floats), default=0.0)
    for line in floats:
        yield line._replace(baseline=lowest + 2 * line.height + line.baseline - highest)


def _line(line: etree._Element) -> _Line:
    """The line; one that is turned, such as the name of a diagram's axis, has no words."""
    title, words = line.get("title") or "", tuple(_words(line))
    left, top, right, bottom = _box(title)
    baseline, height = _BASELINE.search(title), _HEIGHT.search(title)
    is_tall = bottom - top > _TALL * (right - left) and sum(len(word.text) for word in words) > 1
    return _Line(
        () if is_tall or baseline is None else words,
        bottom + (float(baseline[2]) if baseline else 0.0),
        float(height[1]) if height else 1.0,
    )


def _words(line: etree._Element) -> Iterator[_Word]:
    for word in line.iter(_SPAN):
        title, text = word.get("title") or "", "".join(map(str, word.itertext())).strip()
        sure = _SURENESS.search(title)
        if word.get("class") == "ocrx_word" and text and sure:
            left, _, right, _ = _box(title)
            yield _Word(text, left, right, int(sure[1]) / 100)


def _box(title: str) -> tuple[int, int, int, int]:
    found = _BOX.search(title)
    return (int(found[1]), int(found[2]), int(found[3]), int(found[4])) if found else (0, 0, 0, 0)


def _without_strokes(words: Sequence[_Word], height: float) -> list[_Word]:
    """The words of a line without parts, set apart by wide gaps, that are strokes of a drawing and not text."""
    parts: list[list[_Word]] = []
    for word in words:
        if parts and word.left - parts[-1][-1].right < _WIDE * height:
            parts[-1].append(word)
        else:
            parts.append([word])
    return [word for part in parts if _is_text(part) for word in part]


def _is_text(words: Sequence[_Word]) -> bool:
    letters = sum(len(word.text) for word in words)
    sure = sum(word.sure * len(word.text) for word in words) / letters
    return sure >= _SURE and any(character.isalnum() for word in words for character in word.text)


def _placed(line: _Line, words: Sequence[_Word], usual: float, scale: float) -> PositionedLine:
    height = usual if _SAME[0] < line.height / usual < _SAME[1] else line.height
    text = words[0].text
    for before, word in pairwise(words):
        close = _is_thai(before.text[-1]) and _is_thai(word.text[0]) and word.left - before.right < _SPACE * usual
        text += word.text if close else f" {word.text}"
    return PositionedLine(
        text=readable(text),
        x0=words[0].left * scale,
        x1=words[-1].right * scale,
        y=line.baseline * scale,
        size=max(1.0, round(height * scale * _COARSE) / _COARSE),
    )


def _is_thai(character: str) -> bool:
    return "\u0e00" <= character <= "\u0e7f"

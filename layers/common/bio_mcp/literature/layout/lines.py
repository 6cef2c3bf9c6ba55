"""Lines of text with their place and font on a page, their characters, and how they are joined."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PositionedLine:
    """Text on one baseline without a wide gap in it. Points, from the upper left corner of the page as it is read.

    `y` is of the baseline, `size` the font's as printed. `bold` and `italic` hold for nine tenths of its letters.
    `mixed` where they do not share one font. `angle` is how many degrees it is turned against most of its page; its
    place is then that of a page so turned. `lead` counts the characters at its start that are bold or italic where
    others follow that are set otherwise.
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
    lead: int = 0

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
        return self.line.text

    @property
    def short(self) -> bool:
        return self.line.x1 < self.right - 0.12 * (self.right - self.left)

    @property
    def indented(self) -> bool:
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


_LIGATURES = {0xFB00: "ff", 0xFB01: "fi", 0xFB02: "fl", 0xFB03: "ffi", 0xFB04: "ffl", 0xFB05: "st", 0xFB06: "st"}
_SPACES = dict.fromkeys([0x09, 0xA0, *range(0x2000, 0x200B), 0x202F, 0x205F, 0x3000], " ")
_INVISIBLE = dict.fromkeys([*range(0x09), *range(0x0A, 0x20), *range(0x7F, 0xA0), 0x200B, 0x2060, 0xFEFF, 0xFFFE])
# From U+F700: Thai letters without their foot, and marks shifted to the left or down, as fonts encode them privately.
_THAI = dict(enumerate("ฐิีึื่้๊๋์่้๊๋์ญัํ็่้๊๋์ฺุู", 0xF700))
_TABLE: dict[int, str | None] = {**_LIGATURES, **_SPACES, **_INVISIBLE, **_THAI, 0x2010: "-", 0x2011: "-"}
_UNUSUAL = re.compile("[^\x20-\x7e–—‘’“”]")

_ACCENTS = {"¨": "\u0308", "´": "\u0301", "ˆ": "\u0302", "˜": "\u0303", "ˇ": "\u030c"}
_ACCENTED = re.compile(r"(?<![\d\s]) ?([¨´ˆ˜ˇ]) ?([aeiouAEIOUnNcCsSzZ\u0131])")
_CEDILLA = re.compile("([cCsS]) ?¸")

_SARA_AM = re.compile("([ก-ฮ])([\u0e48-\u0e4b]?) ?(?:\u0e4d|[^\\W\\d_\u0e00-\u0e7f]) ?([\u0e48-\u0e4b]?)า")
_BEFORE_MARK = re.compile("(?<=[ก-๎]) +(?=[\u0e30-\u0e3a\u0e47-\u0e4e])|(?<=[เ-ไ]) +(?=[ก-ฮ])")


def readable(text: str) -> str:
    """Return `text` with ligatures taken apart, accents on their letters, Thai marks in place, odd spaces as spaces."""
    if not _UNUSUAL.search(text):
        return text
    text = _ACCENTED.sub(lambda each: each[2].replace("\u0131", "i") + _ACCENTS[each[1]], text.translate(_TABLE))
    text = unicodedata.normalize("NFC", _CEDILLA.sub("\\1\u0327", text))
    # Thai: no spaces within a syllable, and SARA AM whole where a font draws its ring apart, under any name.
    return _SARA_AM.sub(r"\1\2\3ำ", _BEFORE_MARK.sub("", text)) if re.search("[ก-๛]", text) else text


_ODD = re.compile("[\ufffd\ue000-\uf8ff\U000f0000-\U0010ffff\x00-\x08]")
_MOST_ODD = 0.2  # of the characters
_LATIN = re.compile("[A-Za-z]")
_VOWEL = re.compile("[AEIOUYaeiouy]")
_LETTERS = 200  # by fewer, nothing is judged
_VOWELS = 0.22  # of the letters, at least: texts have above 0.3, letters shifted by a font's own numbering some 0.15


def letters(lines: Sequence[PositionedLine]) -> int:
    return sum(sum(map(str.isalnum, line.text)) for line in lines)


def is_garbled(lines: Sequence[PositionedLine]) -> bool:
    """Whether the file gives its characters wrong codes: for private use, or shifted so that vowels are rare."""
    text = "".join(line.text for line in lines)
    if len(_ODD.findall(text)) > _MOST_ODD * len(text):
        return True
    bare = unicodedata.normalize("NFD", text)
    latin = len(_LATIN.findall(bare))
    return latin >= _LETTERS and latin > 0.5 * letters(lines) and len(_VOWEL.findall(bare)) < _VOWELS * latin


_WORD = re.compile(r"[^\W_]+(?:[-'’][^\W_]+)*")
_LAST = re.compile(r"([^\W_]+(?:-[^\W_]+)*)-$")
_FIRST = re.compile(r"[^\W_]+(?:-[^\W_]+)*")
_LINK = re.compile(r"(https?://|www\.|doi\.org/|\b10\.\d{4,9}/)\S*$", re.IGNORECASE)
_THAI_ENDS = re.compile("[ก-๎]")  # written without spaces
_SUSPENDED = frozenset("and or to und oder bis bzw et ou y o".split())  # "pre- and post-"
_HYPHENATED = frozenset(  # before these, a hyphen belongs to the word
    """non self all half quasi well ill cross alpha beta gamma delta high low long short double single triple two
    three four five six one first second third left right full open near follow time dose age sex""".split()
)
_LINKING = frozenset("to of by in the and on a de".split())  # within a compound, as in center-to-center
_CLOSED = frozenset("over under there where with some any every how more out in on up fore here further with".split())

Words = Counter[str]


def words_of(lines: Iterable[str]) -> Words:
    """Count the words of the lines, in small letters, but for those that the end of a line parts."""
    words: Words = Counter()
    parted = False
    for line in lines:
        found = [word.casefold() for word in _WORD.findall(line)]
        words.update(found[parted : len(found) - line.endswith("-")])
        parted = line.endswith("-")
    return words


def joined(text: str, line: str, words: Words) -> str:
    """Return `text` with `line` after it: a space between, or none where a word, a link or a range goes on.

    `words` are the document's, which tell whether a word is written with its hyphen.
    """
    if not text or not line:
        return text + line
    if text.endswith("\u00ad"):
        return text[:-1] + line
    if text.endswith("-"):
        return _hyphenated(text, line, words)
    if (  # `finger/`, a link, `10–`; not a dash between spaces
        text[-1] in "/–—_=&"
        and text[-2:-1].isalnum()
        and line[0].isalnum()
        and (text[-1] == "/" or text[-2].isdigit() == line[0].isdigit())
    ):
        return text + line
    if _THAI_ENDS.match(text[-1]) and _THAI_ENDS.match(line):
        return text + line
    return f"{text} {line}"


def _hyphenated(text: str, line: str, words: Words) -> str:
    before, after = _LAST.search(text), _FIRST.match(line)
    if not before or not after:
        return text + line if text[-2:-1].isalnum() and line[0].isalnum() else f"{text} {line}"
    if after[0].casefold() in _SUSPENDED:
        return f"{text} {line}"
    if _LINK.search(text) or _keeps_hyphen(before[1], after[0], words):
        return text + line
    return text[:-1] + line


def _keeps_hyphen(before: str, after: str, words: Words) -> bool:
    last, first = before.rpartition("-")[2], after.partition("-")[0]
    if not first[0].islower() or not last[-1].islower() or (len(last) == 1 and last == before):
        return True
    with_hyphen, without = words[f"{before}-{after}".casefold()], words[(before + after).casefold()]
    if with_hyphen != without:
        return with_hyphen > without
    if last != before and last.casefold() in _LINKING:
        return True
    if last.casefold() in _CLOSED:
        return False
    if last.casefold() in _HYPHENATED:
        return True
    return min(len(last), len(first)) >= 4 and bool(words[last.casefold()] and words[first.casefold()])

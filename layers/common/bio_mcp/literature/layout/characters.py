"""Text as PDF files encode it, in the characters that a reader would type."""

import re
import unicodedata

_LIGATURES = {0xFB00: "ff", 0xFB01: "fi", 0xFB02: "fl", 0xFB03: "ffi", 0xFB04: "ffl", 0xFB05: "st", 0xFB06: "st"}
_SPACES = dict.fromkeys([0x09, 0xA0, *range(0x2000, 0x200B), 0x202F, 0x205F, 0x3000], " ")
_INVISIBLE = dict.fromkeys([*range(0x09), *range(0x0A, 0x20), *range(0x7F, 0xA0), 0x200B, 0x2060, 0xFEFF, 0xFFFE])
# From U+F700: Thai letters without their foot, and marks shifted to the left or down, as fonts encode them privately.
_THAI = dict(enumerate("ฐิีึื่้๊๋์่้๊๋์ญัํ็่้๊๋์ฺุู", 0xF700))
_TABLE: dict[int, str | None] = {**_LIGATURES, **_SPACES, **_INVISIBLE, **_THAI, 0x2010: "-", 0x2011: "-"}
_UNUSUAL = re.compile("[^\x20-\x7e–—‘’“”]")

_ACCENTS = {"¨": "\u0308", "´": "\u0301", "ˆ": "\u0302", "˜": "\u0303", "ˇ": "\u030c"}
_ACCENTED = re.compile(r"(?<![\d\s]) ?([¨´ˆ˜ˇ]) ?([aeiouAEIOUnNcCsSzZ\u0131])|^([¨´ˆ˜ˇ]) ?([aeiouAEIOU])")
_CEDILLA = re.compile("([cCsS]) ?¸")

_SARA_AM = re.compile("([ก-ฮ])([\u0e48-\u0e4b]?) ?(?:\u0e4d|[^\\W\\d_\u0e00-\u0e7f]) ?([\u0e48-\u0e4b]?)า")
_BEFORE_MARK = re.compile("(?<=[ก-๎]) +(?=[\u0e30-\u0e3a\u0e47-\u0e4e])|(?<=[เ-ไ]) +(?=[ก-ฮ])")


def readable(text: str) -> str:
    """Return `text` with ligatures taken apart, accents on their letters, Thai marks in place, odd spaces as spaces."""
    if not _UNUSUAL.search(text):
        return text
    text = unicodedata.normalize("NFC", text.translate(_TABLE))
    text = _CEDILLA.sub(lambda found: unicodedata.normalize("NFC", found[1] + "\u0327"), _ACCENTED.sub(_accented, text))
    return _thai(text) if re.search("[ก-๛]", text) else text


def _accented(found: re.Match[str]) -> str:
    accent, letter = (found[1], found[2]) if found[1] else (found[3], found[4])
    return unicodedata.normalize("NFC", letter.replace("\u0131", "i") + _ACCENTS[accent])


def _thai(text: str) -> str:
    """Without spaces within a syllable, and with SARA AM whole where a font draws its ring apart, under any name."""
    text = _BEFORE_MARK.sub("", text)
    return _SARA_AM.sub(r"\1\2\3ำ", text)

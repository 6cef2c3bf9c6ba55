"""Whether the text of a page is what a reader sees there, or in codes that mean nothing."""

import re
import unicodedata
from collections.abc import Sequence

from bio_mcp.literature.layout.lines import PositionedLine

_ODD = re.compile("[\ufffd\ue000-\uf8ff\U000f0000-\U0010ffff\x00-\x08]")
_MOST_ODD = 0.2  # of the characters
_LATIN = re.compile("[A-Za-z]")
_VOWEL = re.compile("[AEIOUYaeiouy]")
_LETTERS = 200  # by fewer, nothing is judged
_VOWELS = 0.22  # of the letters, at least: texts have above 0.3, letters shifted by a font's own numbering some 0.15


def letters(lines: Sequence[PositionedLine]) -> int:
    """Count letters and digits."""
    return sum(sum(map(str.isalnum, line.text)) for line in lines)


def is_garbled(lines: Sequence[PositionedLine]) -> bool:
    """Whether the file gives its characters wrong codes: for private use, or shifted so that vowels are rare."""
    text = "".join(line.text for line in lines)
    if len(_ODD.findall(text)) > _MOST_ODD * len(text):
        return True
    bare = unicodedata.normalize("NFD", text)
    latin = len(_LATIN.findall(bare))
    return latin >= _LETTERS and latin > 0.5 * letters(lines) and len(_VOWEL.findall(bare)) < _VOWELS * latin

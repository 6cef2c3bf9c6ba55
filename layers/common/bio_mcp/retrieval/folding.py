"""One form of each character, for the analysis of texts: width, accents, super- and subscripts, hyphens, Greek letters.

What this module does decides which terms a text has: a change of it is a change of `ANALYSIS_VERSION`.
"""

import re
import unicodedata
from contextlib import suppress
from functools import lru_cache
from unicodedata import category

from bio_mcp.retrieval.spelling import GREEK, SEPARATORS

FEW = 32  # characters of a text that are not ASCII, each replaced in the whole of it

_NOT_ASCII = re.compile(r"[^\x00-\x7f]")
_POSSESSIVE = re.compile(r"'[sS]\b")
_GREEK_LETTER = re.compile("[α-ω]", re.IGNORECASE)
_MICRO = re.compile(r"[µμ](?=[a-zA-Z])")
_GLUED = ("alpha", "beta", "gamma", "delta", "kappa")
_GLUED_GREEK = re.compile(rf"([A-Z0-9])-?({'|'.join(_GLUED)})(?![a-z])")
_HYPHENS = re.compile(r"--+")
_ACCENTS = re.compile("[\u0300-\u036f]+")


def fold(text: str) -> str:
    """Fold `text` to one form of each character; Greek letters are spelled and set off by hyphens, case is left."""
    if not text.isascii():
        text = _fold_others(text.replace("`", "'"))
    if any(map(text.__contains__, _GLUED)):
        text = _GLUED_GREEK.sub(r"\1-\2-", text)
    if "--" in text:
        text = _HYPHENS.sub("-", text)
    return _POSSESSIVE.sub("", text) if "'" in text else text


def _fold_others(text: str) -> str:
    """Fold each character that is not ASCII, or the pieces between spaces that have one where those beside it matter:
    nothing that this looks at reaches across a space."""
    characters = set(_NOT_ASCII.findall(text))
    if len(characters) <= FEW:
        with suppress(LookupError):
            for character, to in [(each, _FOLDED[ord(each)]) for each in characters]:
                text = text.replace(character, to)
            return text
    folded, done = list[str](), 0
    for found in _NOT_ASCII.finditer(text):
        if found.start() >= done:
            start, end = text.rfind(" ", done, found.start()) + 1 or done, text.find(" ", found.end())
            end = len(text) if end < 0 else end
            folded += text[done:start], _fold_piece(text[start:end])
            done = end
    return "".join([*folded, text[done:]])


class _Folded(dict[int, str]):
    """What characters become whatever is beside them: ASCII, punctuation or symbols. `str.translate` leaves the
    others."""

    def __missing__(self, character: int) -> str:
        folded = _fold_any(chr(character))
        if chr(character) in "µμ" or not all(each.isascii() or category(each)[0] in "PS" for each in folded):
            raise LookupError
        self[character] = folded
        return folded


_FOLDED = _Folded({character: chr(character) for character in range(128)})


@lru_cache(maxsize=1 << 14)
def _fold_piece(text: str) -> str:
    folded = text.translate(_FOLDED)
    return folded if folded.isascii() else _fold_any(text)


def _fold_any(text: str) -> str:
    text = _MICRO.sub("micro", text)
    text = unicodedata.normalize("NFKD", text.translate(SEPARATORS))
    text = unicodedata.normalize("NFC", _ACCENTS.sub("", text)).translate(SEPARATORS)
    return _GREEK_LETTER.sub(lambda letter: f"-{GREEK[letter.group().lower()]}-", text)

"""Names in one form to compare them by: English, Latin and Thai, however they are written."""

import re
import unicodedata
from collections.abc import Iterator

from bio_mcp.graph.nodes import Node
from bio_mcp.retrieval.spelling import GREEK

_ACCENTS = re.compile("[\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]+")
_APOSTROPHES = re.compile("['`\u2018\u2019\u201b\u02bc\u02b9\u2032]")
_ASCII_WORD = re.compile("[a-z0-9]+")
_GREEK_LETTER = re.compile("[α-ω]")
_LETTERS = {"æ": "ae", "œ": "oe", "ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "ı": "i"}
_LETTER = re.compile(f"[{''.join(_LETTERS)}]")
_HYBRID = re.compile(r"(?<=\w)(?: x)+ (?=\w)")  # Mentha x piperita
_THAI_MARKS = re.compile("[\u0e31\u0e34-\u0e3a\u0e47-\u0e4e]{2,}")
_THAI_SPACE = re.compile("(?<=[\u0e00-\u0e7f]) (?=[\u0e00-\u0e7f])")


def fold_name(name: str) -> str:
    """Fold `name` to what names are compared by; "" if it has no letter and no digit.

    Case, accents, marks of length, punctuation, apostrophes and the sign of a hybrid do not count; Greek letters are
    spelled ("β-Carotene" = "beta carotene"). In Thai, vowels and tones count, as they tell words apart; their order,
    spaces and a sara ae typed as two sara e do not.
    """
    text = unicodedata.normalize("NFKD", name).casefold()
    if not text.isascii():
        text = _ACCENTS.sub("", unicodedata.normalize("NFKD", text))
        text = _GREEK_LETTER.sub(lambda letter: f" {GREEK[letter.group()]} ", text)
        text = _LETTER.sub(lambda letter: _LETTERS[letter.group()], text)
        text = _THAI_MARKS.sub(lambda marks: "".join(sorted(marks.group())), text.replace("เเ", "แ"))
    text = _APOSTROPHES.sub("", text)
    words = _ASCII_WORD.findall(text) if text.isascii() else _spaced(text).split()
    text = " ".join(words)
    return _THAI_SPACE.sub("", _HYBRID.sub(" ", text))


def _spaced(text: str) -> str:
    """The text with a space for each character that does not count."""
    return "".join(each if _counts(each) else _space(each) for each in text)


def _counts(character: str) -> bool:
    """Whether a character is a letter, a digit, or a vowel or tone of a script that writes them as marks."""
    return character.isalnum() or unicodedata.category(character) in ("Mn", "Mc")


def _space(character: str) -> str:
    """A space, but for characters that have no width."""
    return "" if unicodedata.category(character) == "Cf" else " "


def names_of(node: Node) -> Iterator[str]:
    """Yield every name and synonym of `node` as it is written, once."""
    yield from dict.fromkeys((*node.names.values(), *node.synonyms))


def folded_names(node: Node) -> Iterator[str]:
    """Yield what `node` is found by: its names and synonyms, folded, each once."""
    yield from dict.fromkeys(filter(None, map(fold_name, names_of(node))))

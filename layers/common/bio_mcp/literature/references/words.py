"""Words of titles, names and journals, in the form in which two spellings of one are equal."""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

_WORD = re.compile(r"[^\W_]+")
_GREEK = re.compile(r"[α-ωΑ-Ωϵϕ]")
_PLAIN = str.maketrans({"ß": "ss", "ø": "o", "æ": "ae", "œ": "oe", "ł": "l", "đ": "d", "ı": "i", "þ": "th", "ð": "d"})
SMALL = frozenset(
    "a an the of in on for and or to with by at from as is are its their into via der die das und".split()
)
_LONG = 5  # letters from which on one may be mistyped


def folded(text: str) -> str:
    """Lower case, without accents; Greek letters by name, raised and lowered figures as figures."""
    if text.isascii():
        return text.lower()
    plain = unicodedata.normalize("NFKD", _GREEK.sub(_named, text.casefold()).translate(_PLAIN)).casefold()
    return plain if plain.isascii() else "".join(each for each in plain if not unicodedata.combining(each))


def words_of(text: str) -> list[str]:
    """The words and numbers of `text`, folded."""
    return _WORD.findall(folded(text))


def _named(letter: re.Match[str]) -> str:
    name = unicodedata.name(letter[0], "").split()
    return f" {name[-1].lower()} " if name else letter[0]


def alike(one: str, other: str) -> bool:
    """Whether two words are equal, but for a letter more, less or other in a long one."""
    if one == other:
        return True
    short, long = sorted((one, other), key=len)
    if len(short) < _LONG or len(long) - len(short) > 1 or any(each.isdigit() for each in one + other):
        return False
    at = next((place for place, (a, b) in enumerate(zip(short, long, strict=False)) if a != b), len(short))
    return short[at:] == long[at + 1 :] or short[at + 1 :] == long[at + 1 :]


def aligned(ours: Sequence[str], theirs: Sequence[str]) -> Iterator[tuple[Sequence[str], Sequence[str]]]:
    """Yield what differs between two lists of words, pair by pair; nothing for lists that say the same.

    Words parted otherwise (`micro RNA`) and words with a typing error are equal.
    """
    matcher = SequenceMatcher(None, ours, theirs, autojunk=False)
    for kind, a, b, c, d in matcher.get_opcodes():
        left, right = ours[a:b], theirs[c:d]
        if kind == "equal" or "".join(left) == "".join(right) or _same(left, right):
            continue
        yield left, right


def _same(left: Sequence[str], right: Sequence[str]) -> bool:
    return len(left) == len(right) and all(alike(one, other) for one, other in zip(left, right, strict=True))

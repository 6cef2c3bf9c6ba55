"""Words of a text with their places, in the form by which names are compared."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from bio_mcp.graph.names import fold_name

# a cluster of Thai letters: vowel before, consonant, vowels and tones above, below and after
_WORD = re.compile(
    "(?P<thai>[เแโใไ]{0,2}[ก-ฮ][ะ-ฺๅ็-๎]*|[\u0e00-\u0e7f])"
    "|(?P<word>[^\\W_\u0e00-\u0e7f]+)"
    "|(?P<mark>[^\\s\\w'`´‘’‐-―−/·×®™\u00ad\u200b-\u200d-])"
)


@dataclass(frozen=True, slots=True)
class Word:
    """A word, a cluster of Thai letters (`thai`) or a punctuation mark, from `start` to `end` of its text."""

    folded: str
    start: int
    end: int
    thai: bool = False


def words_of(text: str) -> list[Word]:
    """The words in order. Spaces, hyphens, apostrophes and slashes part words; other marks are words of their own.

    The sign of a hybrid ("Mentha x piperita") is left out, as names are compared without it.
    """
    words = list(_words(text))
    return [each for place, each in enumerate(words) if not _is_hybrid(words, place)]


def _is_hybrid(words: list[Word], place: int) -> bool:
    between = 0 < place < len(words) - 1 and words[place].folded == "x"
    return between and words[place - 1].folded.isalpha() and words[place + 1].folded.isalpha()


def _words(text: str) -> Iterator[Word]:
    for found in _WORD.finditer(text):
        start, end, thai = *found.span(), found.lastgroup == "thai"
        if found.lastgroup == "mark":
            yield Word(found.group(), start, end)
        else:
            yield from (Word(part, start, end, thai) for part in _parts(found.group()))


@lru_cache(maxsize=1 << 15)
def _parts(word: str) -> list[str]:
    """The word folded; a Greek letter in it is a part of its own."""
    return fold_name(word).split()

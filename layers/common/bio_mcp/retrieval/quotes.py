"""Find a quoted passage in a text, letter by letter or nearly, and show where the two differ.

What typesetting and copying change does not count: spaces and line breaks, hyphenation, ligatures and other
compatibility characters, and the kinds of quotation marks and dashes. A minus and a range of numbers do count.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache

NEARLY = 0.8  # the least similarity of a passage that is nearly the quote
MOST_DIFFERENCES = 20

_DASHES = "-\u00ad\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe58\ufe63\uff0d"
_LETTER = r"[^\W\d_]"
_HYPHENATION = re.compile(rf"(?<={_LETTER})\s*[{_DASHES}]\s*(?={_LETTER})")
_BROKEN_WORD = re.compile(rf"(?<={_LETTER})(?:[-\u2010]\s+|\u00ad\s*)(?={_LETTER})")
_ALIKE = str.maketrans(
    {each: "-" for each in _DASHES} | dict.fromkeys("“”„‟«»″＂", '"') | dict.fromkeys("‘’‚‛′`´‹›", "'")
)
_EDGES = " \t\n\r\"'“”„«»‘’‚‹›.,;:…()[]"
_GRAM = 6  # characters that vote for where the quote stands
_BLOCK = 4  # characters of a match that count towards the ends of the passage
_VOTES = 50  # places of a gram that are counted


@dataclass(frozen=True, slots=True)
class Comparable:
    """The characters of `text` that count, and the place of each in it. `folded` is without their case."""

    text: str
    characters: str
    folded: str
    places: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Span:
    """A passage of a text, by its offsets, and how similar it is to the quote: 1 is equal, but for typesetting."""

    start: int
    end: int
    similarity: float


@dataclass(frozen=True, slots=True)
class Difference:
    """Words of the quote, and those that the text has in their place; either may be empty."""

    quote: str
    text: str


def trimmed(quote: str) -> str:
    """The quote without what stands around it: quotation marks, brackets and punctuation."""
    return quote.strip(_EDGES)


def joined_words(quote: str) -> str:
    """The quote with words that were broken at the end of a line put together, to look them up."""
    return _BROKEN_WORD.sub("", quote)


def comparable(text: str) -> Comparable:
    """Prepare a text, or a quote, for comparison."""
    dropped = {at for broken in _HYPHENATION.finditer(text) for at in range(*broken.span())}
    counted = [(plain, at) for at, each in enumerate(text) if at not in dropped for plain in _plain(each)]
    characters = "".join(plain for plain, _ in counted)
    return Comparable(text, characters, "".join(map(_lower, characters)), tuple(at for _, at in counted))


@lru_cache(maxsize=4096)
def _plain(character: str) -> str:
    """What counts of a character: nothing of white space and of invisible ones."""
    plain = unicodedata.normalize("NFKD", character.translate(_ALIKE)).translate(_ALIKE)
    return "".join(each for each in plain if not each.isspace() and unicodedata.category(each) not in ("Cf", "Cc"))


def _lower(character: str) -> str:
    lower = character.lower()
    return lower if len(lower) == 1 else character


def equal_spans(quote: Comparable, text: Comparable) -> list[Span]:
    """Every place in the text that is equal to the quote but for typesetting and case."""
    return [_span(quote, text, at, at + len(quote.folded)) for at in _places(text.folded, quote.folded)]


def shared(quote: Comparable, text: Comparable) -> float:
    """The share of the quote's runs of characters that stand near each other in the text; at once, where `nearest_span`
    takes time."""
    return _window(quote.folded, text.folded)[0]


def nearest_span(quote: Comparable, text: Comparable) -> Span | None:
    """The passage that is most similar to the quote; None if none is similar enough."""
    votes, start, end = _window(quote.folded, text.folded)
    nearest = _aligned(quote, text, start, end) if votes else None
    return nearest if nearest and nearest.similarity >= NEARLY else None


def differences(quote: str, passage: str) -> list[Difference]:
    """Where the passage differs from the quote, in whole words; the first `MOST_DIFFERENCES`."""
    one, other = comparable(quote), comparable(passage)
    changed: list[tuple[int, int, int, int]] = []
    for kind, *bounds in _matcher(one.characters, other.characters).get_opcodes():
        if kind != "equal":
            widened = _whole_words(one, other, *bounds)
            if changed and widened[0] <= changed[-1][1] and widened[2] <= changed[-1][3]:
                widened = (changed[-1][0], widened[1], changed[-1][2], widened[3])
                changed.pop()
            changed.append(widened)
    return [Difference(_slice(one, *each[:2]), _slice(other, *each[2:])) for each in changed[:MOST_DIFFERENCES]]


def _places(text: str, part: str) -> Iterator[int]:
    at = text.find(part) if part else -1
    while at >= 0:
        yield at
        at = text.find(part, at + 1)


def _matcher(one: str, other: str) -> "SequenceMatcher[str]":
    return SequenceMatcher(None, one, other, autojunk=False)


def _span(quote: Comparable, text: Comparable, start: int, end: int) -> Span:
    """The passage of these characters of the text. A difference of case counts half."""
    characters, folded = text.characters[start:end], text.folded[start:end]
    similarity = 1.0
    if characters != quote.characters:
        ratios = (_matcher(quote.characters, characters).ratio(), _matcher(quote.folded, folded).ratio())
        similarity = sum(ratios) / len(ratios)
    return Span(text.places[start], text.places[end - 1] + 1, similarity)


def _window(quote: str, text: str) -> tuple[float, int, int]:
    """The part of the text that shares the most of the quote's runs of characters, at like distances, and what share
    of them."""
    width = max(24, len(quote) // 5)
    grams = len(quote) - _GRAM + 1
    votes: Counter[int] = Counter()
    for at in range(grams):
        for place, _ in zip(_places(text, quote[at : at + _GRAM]), range(_VOTES), strict=False):
            votes[(place - at) // width] += 1
    if not votes:
        return 0.0, 0, 0
    best = max(votes, key=lambda each: (votes[each] + votes[each + 1], -each))
    share = min(1.0, (votes[best] + votes[best + 1]) / grams)
    return share, max(0, (best - 1) * width), min(len(text), (best + 3) * width + len(quote))


def _aligned(quote: Comparable, text: Comparable, start: int, end: int) -> Span | None:
    """The passage between `start` and `end` that the quote corresponds to, in whole words."""
    blocks = [
        each for each in _matcher(quote.folded, text.folded[start:end]).get_matching_blocks() if each.size >= _BLOCK
    ]
    if not blocks:
        return None
    main = max(blocks, key=lambda each: each.size)
    drift = max(24, len(quote.folded) // 4)
    blocks = [each for each in blocks if abs((each.b - each.a) - (main.b - main.a)) <= drift]
    first, last = blocks[0], blocks[-1]
    begin = max(0, start + first.b - first.a)
    rest = len(quote.folded) - last.a - last.size
    finish = min(len(text.folded), start + last.b + last.size + rest)
    return _span(quote, text, _word_start(text, begin), _word_end(text, finish))


def _whole_words(
    one: Comparable, other: Comparable, start: int, end: int, other_start: int, other_end: int
) -> tuple[int, int, int, int]:
    """Both ranges, with what is equal around them, until neither parts a word."""
    while min(start, other_start) > 0 and (_parts_word(one, start) or _parts_word(other, other_start)):
        start, other_start = start - 1, other_start - 1
    ends = len(one.places), len(other.places)
    while end < ends[0] and other_end < ends[1] and (_parts_word(one, end) or _parts_word(other, other_end)):
        end, other_end = end + 1, other_end + 1
    return start, end, other_start, other_end


def _slice(of: Comparable, start: int, end: int) -> str:
    return of.text[of.places[start] : of.places[end - 1] + 1] if start < end else ""


def _parts_word(of: Comparable, at: int) -> bool:
    """Whether a word goes on from the character before `at`."""
    if not 0 < at < len(of.places):
        return False
    before, after = of.places[at - 1], of.places[at]
    return after - before <= 1 and of.text[before].isalnum() and of.text[after].isalnum()


def _word_start(text: Comparable, at: int) -> int:
    while _parts_word(text, at):
        at -= 1
    return at


def _word_end(text: Comparable, at: int) -> int:
    while _parts_word(text, at):
        at += 1
    return at

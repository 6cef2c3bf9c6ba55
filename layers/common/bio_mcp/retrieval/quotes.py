"""Whether a text has a quote, exactly or nearly, over neighbouring passages, and what two texts repeat."""

import re
import unicodedata
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache, partial
from itertools import groupby, islice

from bio_mcp.literature.documents import SEPARATOR, PageSpan
from bio_mcp.retrieval.project_chunks import ProjectChunk, Work
from bio_mcp.untrusted import REPLACED, unseen


@dataclass(frozen=True, slots=True)
class Passage:
    """A part of a document's text; `start` is its offset there, None where unknown."""

    text: str
    start: int | None = None
    section: str | None = None
    section_path: tuple[str, ...] = ()
    page_span: PageSpan | None = None


@dataclass(frozen=True, slots=True)
class Joined:
    """The text of neighbouring passages; what several of them repeat stands in it once.

    `starts` has where each passage begins in `text`, and `shifts` what is added to a place to be an offset in the
    document.
    """

    text: str
    passages: tuple[Passage, ...]
    starts: tuple[int, ...]
    shifts: tuple[int | None, ...]

    def between(self, start: int, end: int) -> tuple[Passage, ...]:
        """The passages that have a part of the text from `start` to `end`; that of `start` is the first."""
        return self.passages[self._at(start) : self._at(end - 1) + 1]

    def offset(self, place: int) -> int | None:
        """The offset in the document of a place in the text; None where unknown."""
        shift = self.shifts[self._at(place)]
        return None if shift is None else place + shift

    def end_offset(self, end: int) -> int | None:
        """The offset in the document of the end of a part of the text; None where unknown."""
        last = self.offset(end - 1)
        return None if last is None else last + 1

    def _at(self, place: int) -> int:
        return bisect_right(self.starts, place) - 1


def runs(passages: Sequence[Passage], chosen: set[int], reach: int) -> Iterator[Sequence[Passage]]:
    """Yield each run of neighbouring passages that are chosen, or at most `reach` from one that is."""
    wanted = {near for at in chosen for near in range(at - reach, at + reach + 1)}
    for is_wanted, run in groupby(range(len(passages)), wanted.__contains__):
        if is_wanted:
            yield [passages[at] for at in run]


def joined(passages: Sequence[Passage]) -> Joined:
    """Put the passages together, in their order; there is at least one."""
    text, end = "", None
    parts: list[tuple[Passage, int, int | None]] = []
    for each in passages:
        repeated = 0 if end is None or each.start is None else max(0, end - each.start)
        if repeated and repeated >= len(each.text):
            continue
        gap = _gap(end, each.start) if parts else ""
        shift = None if each.start is None else each.start + repeated - len(text) - len(gap)
        parts.append((each, len(text) + len(gap), shift))
        text += gap + each.text[repeated:]
        end = None if each.start is None else each.start + len(each.text)
    found, starts, shifts = zip(*parts, strict=True)
    return Joined(text, found, starts, shifts)


def _gap(end: int | None, start: int | None) -> str:
    """What stands between a passage that ends at `end` and one that begins at `start`, neither of which has it."""
    if end is None or start is None or start > end + 1:
        return SEPARATOR
    return " " if start == end + 1 else ""


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
_matcher = partial(SequenceMatcher[str], None, autojunk=False)
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
    lower = [each.lower() for each in characters]
    folded = "".join(one if len(one) == 1 else each for each, one in zip(characters, lower, strict=True))
    return Comparable(text, characters, folded, tuple(at for _, at in counted))


@lru_cache(maxsize=4096)
def _plain(character: str) -> str:
    """What counts of a character: nothing of white space, of what nobody sees, and of what answers have in its
    place."""
    plain = unicodedata.normalize("NFKD", character.translate(_ALIKE)).translate(_ALIKE)
    return "".join(each for each in plain if not each.isspace() and not unseen(each) and each != REPLACED)


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
        for place in islice(_places(text, quote[at : at + _GRAM]), _VOTES):
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
    while _parts_word(text, begin):
        begin -= 1
    while _parts_word(text, finish):
        finish += 1
    return _span(quote, text, begin, finish)


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


LEAST_SHARED = 12  # letters; fewer may end one passage and begin another by chance
LEAST_NEW = 1 / 3  # of a chunk's text; one with less to add is left out
LEFT_OUT = " […] "
CACHED_TEXTS = 1024


def new_text(chunk: ProjectChunk, better: Iterable[ProjectChunk]) -> str | None:
    """The text of `chunk` without what `better` chunks of its work have of it; None where they have most of it.

    Compares texts, since chunks that a client stored have no offsets.
    """
    left = unrepeated(chunk.text, (other.text for other in better if is_same_work(chunk.work, other.work)))
    return left if left and len(left) >= LEAST_NEW * len(chunk.text.strip()) else None


def is_same_work(one: Work, other: Work) -> bool:
    """Whether both are one document, or one paper by its PMID or DOI."""
    pmid, doi = one.pmid is not None and one.pmid == other.pmid, one.doi is not None and one.doi == other.doi
    return one.doc_id == other.doc_id or pmid or doi


def unrepeated(text: str, others: Iterable[str]) -> str:
    """`text` without what the others have of it whole, at its beginning or at its end; "" where nothing is left."""
    letters, places = _letters(text)
    repeated = [span for other in others for span in _repeated(letters, _letters(other)[0])]
    if not repeated:
        return text.strip()
    pieces = (_piece(text, places, *span) for span in _between(sorted(repeated), len(letters)))
    return LEFT_OUT.join(piece for piece in pieces if piece)


def _repeated(letters: str, other: str) -> list[tuple[int, int]]:
    """Where `other` has a part of `letters`: all of it, its two ends, or a part that is all of `other`."""
    if letters in other:
        return [(0, len(letters))]
    start, end = _joint(other, letters), len(letters) - _joint(letters, other)
    spans = [(0, start), (end, len(letters))]
    if len(other) >= LEAST_SHARED and (at := letters.find(other)) >= 0:
        spans.append((at, at + len(other)))
    return [(first, last) for first, last in spans if first < last]


def _joint(first: str, second: str) -> int:
    """How many letters at the end of `first` begin `second`; 0 where they are fewer than `LEAST_SHARED`."""
    at = first.find(second[:LEAST_SHARED])
    while 0 <= at <= len(first) - LEAST_SHARED:
        if second.startswith(first[at:]):
            return len(first) - at
        at = first.find(second[:LEAST_SHARED], at + 1)
    return 0


def _between(repeated: Iterable[tuple[int, int]], end: int) -> Iterable[tuple[int, int]]:
    """What spans in order leave of a text that ends at `end`."""
    at = 0
    for first, last in repeated:
        if first > at:
            yield at, first
        at = max(at, last)
    if at < end:
        yield at, end


def _piece(text: str, places: tuple[int, ...], first: int, last: int) -> str:
    """The part of the text with these letters, with the marks that stand next to them, up to a space."""
    start = 0
    if first:
        spaces = (at + 1 for at in range(places[first - 1] + 1, places[first]) if text[at].isspace())
        start = max(spaces, default=places[first])
    begin, limit = places[last - 1] + 1, places[last] if last < len(places) else len(text)
    end = next((at for at in range(begin, limit) if text[at].isspace()), limit)
    return text[start:end].strip()


@lru_cache(CACHED_TEXTS)
def _letters(text: str) -> tuple[str, tuple[int, ...]]:
    """The letters of a text, and where each stands in it."""
    places = tuple(at for at, letter in enumerate(text) if letter.isalnum())
    return "".join(text[at].lower()[:1] for at in places), places

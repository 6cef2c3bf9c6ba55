"""Which names stand in a text: all names of the graph, looked for at once."""

import re
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import cache, lru_cache

from bio_mcp.graph.nodes import Node, fold_name
from bio_mcp.retrieval import question as synonyms
from bio_mcp.retrieval.analysis import STOP_WORDS, analyse

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
    words: list[Word] = []
    for found in _WORD.finditer(text):
        kind, (start, end) = found.lastgroup, found.span()
        parts = [found.group()] if kind == "mark" else _parts(found.group())
        words += [Word(part, start, end, kind == "thai") for part in parts]
    hybrids = {
        at + 1
        for at, (before, sign, after) in enumerate(zip(words, words[1:], words[2:], strict=False))
        if sign.folded == "x" and before.folded.isalpha() and after.folded.isalpha()
    }
    return [each for at, each in enumerate(words) if at not in hybrids]


@lru_cache(maxsize=1 << 15)
def _parts(word: str) -> list[str]:
    """The word folded; a Greek letter in it is a part of its own."""
    return fold_name(word).split()


class Phrases:
    """Recognises phrases, each a sequence of words. An empty one is never found."""

    def __init__(self, phrases: Iterable[Sequence[Hashable]]) -> None:
        self._next: dict[tuple[int, Hashable], int] = {}  # the state after a word, from 0 at the start of a phrase
        self._ending: dict[int, list[int]] = {}  # phrases that end in a state
        for place, phrase in enumerate(phrases):
            state = 0
            for word in phrase:
                state = self._next.setdefault((state, word), len(self._next) + 1)
            if state:
                self._ending.setdefault(state, []).append(place)

    def matches(self, words: Sequence[Hashable]) -> Iterator[tuple[int, int, int]]:
        """Yield (first word, one past the last word, phrase) of every occurrence, overlapping ones too."""
        for start in range(len(words)):
            state, end = 0, start
            while end < len(words) and (state := self._next.get((state, words[end]), 0)):
                end += 1
                for phrase in self._ending.get(state, ()):
                    yield start, end, phrase


ABBREVIATION = 3  # letters up to which a name in capitals is found in capitals only
SHORT_THAI = 3  # clusters from which a Thai name counts within other Thai letters
SHORT = 4  # letters of a word that is no MeSH name by itself, unless the graph has it
_VERB = re.compile("(?:ed|ing|ly|at(?:e|es|ed))$", re.IGNORECASE)
_INSIDE_NAMES = frozenset({"of", "the"})
_BEFORE_THAI = tuple("และ หรือ กับ ใช้ ของ ใน ด้วย จาก คือ เป็น รักษา โรค ยา อาการ มี ที่ ว่า".split())
_AFTER_THAI = tuple("และ หรือ กับ ใช้ ห้าม ใน มี เป็น ช่วย รักษา ไม่ ที่ ซึ่ง อาจ ควร".split())

Key = tuple[str, ...]


class Naming(IntEnum):
    """How a node is named, the surest first."""

    NAME = 0
    SYNONYM = 1
    CONCEPT = 2  # another name of its MeSH concept


@dataclass(frozen=True, slots=True)
class Entry:
    """A node that a phrase may stand for, by its name `name`."""

    node: Node
    name: str
    naming: Naming


@dataclass(frozen=True, slots=True)
class Match:
    """A name in a text, from `start` to `end`, with every node that it may stand for; a MeSH name may have none."""

    start: int
    end: int
    entries: tuple[Entry, ...] = ()


class Gazetteer:
    """Finds the names of a graph, each given with its node, and those of MeSH."""

    def __init__(self, names: Iterable[tuple[str, Node]]) -> None:
        self._entries: list[Entry] = []
        self._of_concepts: dict[Key, list[Entry]] = {}
        phrases: list[Key] = []
        for name, node in sorted(names, key=lambda each: (each[1].node_id, each[0])):
            naming = Naming.NAME if name in node.names.values() else Naming.SYNONYM
            words = words_of(name)
            for phrase in _forms(words):
                self._entries.append(Entry(node, name, naming))
                phrases.append(phrase)
            if stems := _stems(words, name):
                concept = Entry(node, name, Naming.CONCEPT)
                self._of_concepts.setdefault(tuple(sorted(each for _, each in stems)), []).append(concept)
        self._names = Phrases(phrases)

    def find(self, text: str) -> list[Match]:
        """The names in `text`, in order, none of which overlap. Of two as long the graph's counts."""
        words = words_of(text)
        found: dict[tuple[int, int], dict[str, Entry]] = {}
        for first, last, place in self._names.matches([each.folded for each in words]):
            entry, start, end = self._entries[place], words[first].start, words[last - 1].end
            if _stands_alone(text, words[first:last]) and (
                len(entry.name) > ABBREVIATION or not entry.name.isupper() or text[start:end].isupper()
            ):
                nodes = found.setdefault((start, end), {})
                other = nodes.get(entry.node.node_id, entry)
                nodes[entry.node.node_id] = min(entry, other, key=lambda each: (each.naming, each.name))
        for start, end, row in _concepts_in(text, words):
            keys = (tuple(sorted(variant)) for variant in synonyms.rows()[row])
            nodes = {each.node.node_id: each for key in keys for each in self._of_concepts.get(key, ())}
            name = text[start:end]
            # By its ending it may be a name: stems do not tell "indicated" from a drug, Indicate.
            if nodes or " " in name or (len(name) > SHORT and not _VERB.search(name)):
                found.setdefault((start, end), nodes)
        return list(_longest(found))


def _longest(found: dict[tuple[int, int], dict[str, Entry]]) -> Iterator[Match]:
    """Yield the matches from left to right, at each place the longest, none that overlaps one before."""
    end = 0
    for span in sorted(found, key=lambda each: (each[0], -each[1])):
        if span[0] >= end:
            end = span[1]
            yield Match(*span, tuple(sorted(found[span].values(), key=lambda each: (each.naming, each.node.node_id))))


def _forms(name: Sequence[Word]) -> list[Key]:
    """The forms in which a name is found: as it is, and with its last word in the singular or the plural."""
    words = tuple(each.folded for each in name)
    if not words or (len(words) == 1 and (words[0] in STOP_WORDS or words[0].isdecimal() or len(words[0]) < 2)):
        return []
    *first, last = words
    return [words, *((*first, other) for other in _other_numbers(last))]


def _other_numbers(word: str) -> list[str]:
    """An English noun in the plural, or in the singular where it may be a plural."""
    if not word.isascii() or not word.isalpha() or len(word) <= ABBREVIATION:
        return []
    if word.endswith("ies"):
        return [f"{word[:-3]}y"]
    if word.endswith("s"):
        return [] if word.endswith(("ss", "is", "us")) else [word[:-1]]
    return [f"{word[:-1]}ies"] if word.endswith("y") and word[-2] not in "aeou" else [f"{word}s"]


def _stands_alone(text: str, words: Sequence[Word]) -> bool:
    """Whether a short Thai name is no part of a longer word, as far as the letters around it show."""
    if not words[0].thai or len(words) >= SHORT_THAI:
        return True
    before, after = text[: words[0].start], text[words[-1].end :]
    begins = not "\u0e00" < before[-1:] <= "\u0e7f" or before.endswith(_BEFORE_THAI)
    return begins and (not "\u0e00" < after[:1] <= "\u0e7f" or after.startswith(_AFTER_THAI))


def _stems(words: Sequence[Word], text: str) -> list[tuple[Word, str]]:
    """The words that count in the table of MeSH names, with their stems."""
    counting = (each for each in words if not each.thai and each.folded not in STOP_WORDS and each.folded[0].isalnum())
    return [(each, stem) for each in counting for stem in analyse(text[each.start : each.end])[:1]]


def _concepts_in(text: str, words: Sequence[Word]) -> Iterator[tuple[int, int, int]]:
    """Yield (start, end, row) of the MeSH names in a text; "of the" may stand between their words, nothing else."""
    phrases, rows = mesh()
    stems = _stems(words, text)
    between = {each.start for each in words if each.folded not in _INSIDE_NAMES}
    for first, last, place in phrases.matches([stem for _, stem in stems]):
        inside = [each for each, _ in stems[first:last]]
        start, end = inside[0].start, inside[-1].end
        if sum(start <= each < end for each in between) == len({each.start for each in inside}):
            yield start, end, rows[place]


@cache
def mesh() -> tuple[Phrases, Sequence[int]]:
    """The names of MeSH, those of two words in either order ("cancer of the liver"), and the row of each."""
    names = [(name, row) for row, named in enumerate(synonyms.rows()) for name in named]
    names += [(name[::-1], row) for name, row in names if len(name) == 2]
    return Phrases([name for name, _ in names]), [row for _, row in names]

"""Names of nodes and of MeSH concepts in a text: whole words, the longest name at each place.

A MeSH name stands for a node where another name of the same concept is a name of it. One that stands for none is found
all the same, so that its words are not taken for a shorter name: "liver cancer" is not "cancer".
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import cache

from bio_mcp.extracting.automaton import Automaton
from bio_mcp.extracting.words import Word, words_of
from bio_mcp.graph.nodes import Node
from bio_mcp.retrieval import synonyms
from bio_mcp.retrieval.analysis import analyse
from bio_mcp.retrieval.spelling import STOP_WORDS

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
        self._names = Automaton(phrases)

    def find(self, text: str) -> list[Match]:
        """The names in `text`, in order, none of which overlap. Of two as long the graph's counts."""
        words = words_of(text)
        found: dict[tuple[int, int], dict[str, Entry]] = {}
        for first, last, place in self._names.matches([each.folded for each in words]):
            entry, start, end = self._entries[place], words[first].start, words[last - 1].end
            if _stands_alone(text, words[first:last]) and _is_written(entry.name, text[start:end]):
                nodes = found.setdefault((start, end), {})
                nodes[entry.node.node_id] = min(entry, nodes.get(entry.node.node_id, entry), key=_surest)
        for start, end, row in _concepts_in(text, words):
            nodes = {each.node.node_id: each for each in self._nodes_of(row)}
            if nodes or _is_noun(text[start:end]):
                found.setdefault((start, end), nodes)
        return list(_longest(found))

    def _nodes_of(self, row: int) -> Iterator[Entry]:
        for variant in synonyms.rows()[row]:
            yield from self._of_concepts.get(tuple(sorted(variant)), ())


def _is_noun(text: str) -> bool:
    """Whether it may be a name, as far as its ending shows: stems do not tell "indicated" from a drug, Indicate."""
    return " " in text or (len(text) > SHORT and not _VERB.search(text))


def _surest(entry: Entry) -> tuple[int, str]:
    return entry.naming, entry.name


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


def _is_written(name: str, text: str) -> bool:
    """Whether the case fits: an abbreviation stands in capitals, or ALL would be "all"."""
    return len(name) > ABBREVIATION or not name.isupper() or text.isupper()


def _stands_alone(text: str, words: Sequence[Word]) -> bool:
    """Whether a short Thai name is no part of a longer word, as far as the letters around it show."""
    if not words[0].thai or len(words) >= SHORT_THAI:
        return True
    before, after = text[: words[0].start], text[words[-1].end :]
    begins = not _is_thai(before[-1:]) or before.endswith(_BEFORE_THAI)
    return begins and (not _is_thai(after[:1]) or after.startswith(_AFTER_THAI))


def _is_thai(character: str) -> bool:
    return "\u0e00" < character <= "\u0e7f"


def _stems(words: Sequence[Word], text: str) -> list[tuple[Word, str]]:
    """The words that count in the table of MeSH names, with their stems."""
    counting = (each for each in words if not each.thai and each.folded not in STOP_WORDS and each.folded[0].isalnum())
    return [(each, stem) for each in counting for stem in analyse(text[each.start : each.end])[:1]]


def _concepts_in(text: str, words: Sequence[Word]) -> Iterator[tuple[int, int, int]]:
    """Yield (start, end, row) of the MeSH names in a text; "of the" may stand between their words, nothing else."""
    automaton, rows = mesh()
    stems = _stems(words, text)
    between = {each.start for each in words if each.folded not in _INSIDE_NAMES}
    for first, last, place in automaton.matches([stem for _, stem in stems]):
        inside = [each for each, _ in stems[first:last]]
        start, end = inside[0].start, inside[-1].end
        if sum(start <= each < end for each in between) == len({each.start for each in inside}):
            yield start, end, rows[place]


@cache
def mesh() -> tuple[Automaton, Sequence[int]]:
    """The names of MeSH, those of two words in either order ("cancer of the liver"), and the row of each."""
    names = [(name, row) for row, named in enumerate(synonyms.rows()) for name in named]
    names += [(name[::-1], row) for name, row in names if len(name) == 2]
    return Automaton([name for name, _ in names]), [row for _, row in names]

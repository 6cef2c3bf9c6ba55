"""Find every one of many phrases in one pass over a text (Aho and Corasick 1975), by words instead of letters.

A state is a number, and all transitions stand in one dictionary, so that a hundred thousand names take some 30 MB.
"""

from array import array
from collections.abc import Hashable, Iterator, Sequence

BITS = 24  # of a transition's key that are its word's number


class Automaton:
    """Recognises `phrases`, each a sequence of words. An empty phrase is never found."""

    def __init__(self, phrases: Sequence[Sequence[Hashable]]) -> None:
        self._numbers: dict[Hashable, int] = {}
        self._next: dict[int, int] = {}
        self._phrases: dict[int, list[int]] = {}  # that end in a state
        self._lengths = array("l", map(len, phrases))
        parents, words, depths = array("l", [0]), array("l", [0]), array("l", [0])
        for place, phrase in enumerate(phrases):
            state = 0
            for word in phrase:
                key = state << BITS | self._numbers.setdefault(word, len(self._numbers))
                if key not in self._next:
                    self._next[key] = len(parents)
                    parents.append(state)
                    words.append(key & (1 << BITS) - 1)
                    depths.append(depths[state] + 1)
                state = self._next[key]
            if state:
                self._phrases.setdefault(state, []).append(place)
        self._link(parents, words, depths)

    def _link(self, parents: "array[int]", words: "array[int]", depths: "array[int]") -> None:
        """Find, for each state, the longest other one that ends like it, and the longest of those that is a phrase."""
        self._fallback = array("l", bytes(parents.itemsize * len(parents)))
        self._shorter = array("l", bytes(parents.itemsize * len(parents)))
        for state in sorted(range(1, len(parents)), key=depths.__getitem__):
            if parents[state]:
                self._fallback[state] = self._step(self._fallback[parents[state]], words[state])
            back = self._fallback[state]
            self._shorter[state] = back if back in self._phrases else self._shorter[back]

    def _step(self, state: int, word: int) -> int:
        """The state after `word`."""
        while (following := self._next.get(state << BITS | word)) is None and state:
            state = self._fallback[state]
        return following or 0

    def matches(self, words: Sequence[Hashable]) -> Iterator[tuple[int, int, int]]:
        """Yield (first word, one past the last word, phrase) of every occurrence, overlapping ones too."""
        state = 0
        for place, word in enumerate(words, start=1):
            number = self._numbers.get(word)
            state = 0 if number is None else self._step(state, number)
            ending = state if state in self._phrases else self._shorter[state]
            while ending:
                for phrase in self._phrases[ending]:
                    yield place - self._lengths[phrase], place, phrase
                ending = self._shorter[ending]

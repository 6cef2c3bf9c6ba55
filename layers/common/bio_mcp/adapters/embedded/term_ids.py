"""Numbers of the terms and facets that rows of the index refer to, and how often each document has them; and the words
that documents have."""

import sqlite3
from collections.abc import Iterable, Sequence
from itertools import chain, pairwise

import numpy as np
import orjson
from numpy.typing import NDArray

Facet = tuple[str, str]
MOST = 1 << 18  # terms, facets and words remembered by a connection: some 45 MB


class Numbers:
    """Numbers that one connection has read or given, and words that it has written, remembered for its next
    transactions.

    They hold as long as no other connection writes, and the transaction that gave them was committed. Beyond `most` all
    are forgotten.
    """

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._facets: dict[Facet, int] = {}
        self._terms: dict[str, int] = {}
        self._words: set[str] = set()
        self._version = self._change = 0

    def begin(self, connection: sqlite3.Connection, change: int) -> None:
        """Begin the write transaction whose number is `change`, which the next one has again if this is rolled back."""
        version: int = connection.execute("PRAGMA data_version").fetchone()[0]  # another connection's commit changes it
        if version != self._version or change <= self._change or self._count > self._most:
            for each in (self._facets, self._terms, self._words):
                each.clear()
        self._version, self._change = version, change

    @property
    def _count(self) -> int:
        return len(self._facets) + len(self._terms) + len(self._words)

    def of_terms(self, connection: sqlite3.Connection, documents: Sequence[Sequence[str]]) -> NDArray[np.int64]:
        """The numbers of the terms of documents, one after the other; new terms are numbered in alphabetical order."""
        if unknown := set(chain.from_iterable(documents)).difference(self._terms):
            stored = "SELECT term, id FROM terms WHERE term IN (SELECT value FROM json_each(?))"
            self._terms.update(connection.execute(stored, (orjson.dumps(sorted(unknown)).decode(),)))
            if new := sorted(unknown.difference(self._terms)):
                (last,) = connection.execute("SELECT coalesce(max(id), 0) FROM terms").fetchone()
                numbers = dict(zip(new, range(last + 1, last + 1 + len(new)), strict=True))
                connection.executemany("INSERT INTO terms (term, id) VALUES (?, ?)", numbers.items())
                self._terms.update(numbers)
        return np.fromiter(map(self._terms.__getitem__, chain.from_iterable(documents)), np.int64)

    def of_facets(self, connection: sqlite3.Connection, facets: Iterable[Facet]) -> dict[Facet, int]:
        """Facet -> number, for these facets and maybe others; new facets are numbered in alphabetical order."""
        unknown = sorted(set(facets).difference(self._facets))
        connection.executemany("INSERT OR IGNORE INTO facets (kind, value) VALUES (?, ?)", unknown)
        for facet in unknown:
            found = connection.execute("SELECT id FROM facets WHERE kind = ? AND value = ?", facet)
            self._facets[facet] = found.fetchone()[0]
        return self._facets

    def add_words(self, connection: sqlite3.Connection, words: Iterable[str]) -> None:
        """Add those words that are not among the known ones yet."""
        unknown = sorted(set(words).difference(self._words))
        connection.executemany("INSERT OR IGNORE INTO known_words VALUES (?)", zip(unknown))
        self._words.update(unknown)


MAX_FREQUENCY = 0xFFFF


def term_counts(numbers: NDArray[np.int64], lengths: Sequence[int]) -> list[tuple[bytes, bytes]]:
    """For each document its distinct terms, ascending (uint32), and how often it has each (uint16, at most
    `MAX_FREQUENCY`).

    `numbers` are those of the terms of all documents, one after the other; `lengths` says how many each document has.
    """
    documents = np.repeat(np.arange(len(lengths)), lengths)
    keys, counts = np.unique(documents << 32 | numbers, return_counts=True)
    bounds = np.searchsorted(keys, np.arange(len(lengths) + 1) << 32).tolist()
    terms, frequencies = keys.astype("<u4"), np.minimum(counts, MAX_FREQUENCY).astype("<u2")
    return [(terms[a:b].tobytes(), frequencies[a:b].tobytes()) for a, b in pairwise(bounds)]

"""Numbers of the terms and facets that rows of the index refer to."""

import sqlite3
from collections.abc import Iterable, Sequence

import numpy as np
import orjson
from numpy.typing import NDArray

from bio_mcp.retrieval.vocabulary import Terms, Vocabulary, current

Facet = tuple[str, str]
MOST = 1 << 17  # facets remembered by a connection: some 20 MB


class Numbers:
    """Numbers that one connection has read or given, remembered for its next transactions.

    They hold as long as no other connection writes, and the transaction that gave them was committed. Beyond `most`
    numbers all are forgotten.
    """

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._facets: dict[Facet, int] = {}
        self._vocabulary, self._terms = Vocabulary(), np.empty(0, np.int64)
        self._version = self._change = 0

    def begin(self, connection: sqlite3.Connection, change: int) -> None:
        """Begin the write transaction whose number is `change`, which the next one has again if this is rolled back."""
        version: int = connection.execute("PRAGMA data_version").fetchone()[0]  # another connection's commit changes it
        if version != self._version or change <= self._change or len(self._facets) > self._most:
            self._facets.clear()
            self._terms = np.empty(0, np.int64)
        self._version, self._change = version, change

    def of_terms(self, connection: sqlite3.Connection, documents: Sequence[Sequence[str]]) -> NDArray[np.int64]:
        """The numbers of the terms of documents, one after the other; new terms are numbered in alphabetical order."""
        vocabulary = current()  # one for all: when it is full, `current` becomes another
        places = np.frombuffer(b"".join([Terms.of(terms, vocabulary).numbers for terms in documents]), np.uint32)
        known = self._terms_of(vocabulary)
        if unknown := np.unique(places[known[places] == 0]).tolist():  # SQLite numbers from 1 on
            wanted = [vocabulary.terms[place] for place in unknown]
            numbers = dict(_read(connection, wanted))
            numbers |= _numbered(connection, sorted(set(wanted).difference(numbers)))
            known[unknown] = [numbers[term] for term in wanted]
        return known[places]

    def _terms_of(self, vocabulary: Vocabulary) -> NDArray[np.int64]:
        """The numbers that are known, by those of this vocabulary; 0 where none is."""
        if vocabulary is not self._vocabulary:
            self._vocabulary, self._terms = vocabulary, np.empty(0, np.int64)
        if len(self._terms) < len(vocabulary.terms):
            more = np.zeros(2 * len(vocabulary.terms) - len(self._terms), np.int64)
            self._terms = np.concatenate([self._terms, more])
        return self._terms

    def of_facets(self, connection: sqlite3.Connection, facets: Iterable[Facet]) -> dict[Facet, int]:
        """Facet -> number, for these facets and maybe others; new facets are numbered in alphabetical order."""
        unknown = sorted(set(facets).difference(self._facets))
        connection.executemany("INSERT OR IGNORE INTO facets (kind, value) VALUES (?, ?)", unknown)
        for facet in unknown:
            found = connection.execute("SELECT id FROM facets WHERE kind = ? AND value = ?", facet)
            self._facets[facet] = found.fetchone()[0]
        return self._facets


def _read(connection: sqlite3.Connection, terms: Iterable[str]) -> Iterable[tuple[str, int]]:
    return connection.execute(
        "SELECT term, id FROM terms WHERE term IN (SELECT value FROM json_each(?))",
        (orjson.dumps(sorted(terms)).decode(),),
    )


def _numbered(connection: sqlite3.Connection, new: Sequence[str]) -> dict[str, int]:
    """Add terms, which have the numbers that follow the highest one."""
    (last,) = connection.execute("SELECT coalesce(max(id), 0) FROM terms").fetchone()
    numbers = dict(zip(new, range(last + 1, last + 1 + len(new)), strict=True))
    connection.executemany("INSERT INTO terms (term, id) VALUES (?, ?)", numbers.items())
    return numbers

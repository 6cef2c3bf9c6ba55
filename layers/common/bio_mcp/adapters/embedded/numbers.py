"""Numbers of the terms and facets that rows of the index refer to."""

import sqlite3
from collections.abc import Iterable, Sequence
from itertools import repeat

import numpy as np
import orjson
from numpy.typing import NDArray

Facet = tuple[str, str]
MOST = 1 << 18  # remembered by a connection: some 40 MB


class Numbers:
    """Numbers that one connection has read or given, remembered for its next transactions.

    They hold as long as no other connection writes, and the transaction that gave them was committed. Beyond `most`
    numbers all are forgotten.
    """

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._known: dict[str | Facet, int] = {}
        self._version = self._change = 0

    def begin(self, connection: sqlite3.Connection, change: int) -> None:
        """Begin the write transaction whose number is `change`, which the next one has again if this is rolled back."""
        version: int = connection.execute("PRAGMA data_version").fetchone()[0]  # another connection's commit changes it
        if version != self._version or change <= self._change or len(self._known) > self._most:
            self._known.clear()
        self._version, self._change = version, change

    def of_terms(self, connection: sqlite3.Connection, terms: Sequence[str]) -> NDArray[np.int64]:
        """The number of each term; new terms are numbered in alphabetical order."""
        numbers = np.fromiter(map(self._known.get, terms, repeat(0)), np.int64, len(terms))
        places = np.flatnonzero(numbers == 0).tolist()  # SQLite numbers from 1 on
        if unknown := {terms[place] for place in places}:
            self._known.update(_read(connection, unknown))
            if new := sorted(unknown.difference(self._known)):
                self._known.update(_numbered(connection, new))
            numbers[places] = [self._known[terms[place]] for place in places]
        return numbers

    def of_facets(self, connection: sqlite3.Connection, facets: Iterable[Facet]) -> dict[str | Facet, int]:
        """Facet -> number, for these facets and maybe others; new facets are numbered in alphabetical order."""
        unknown = sorted(set(facets).difference(self._known))
        connection.executemany("INSERT OR IGNORE INTO facets (kind, value) VALUES (?, ?)", unknown)
        for facet in unknown:
            found = connection.execute("SELECT id FROM facets WHERE kind = ? AND value = ?", facet)
            self._known[facet] = found.fetchone()[0]
        return self._known


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

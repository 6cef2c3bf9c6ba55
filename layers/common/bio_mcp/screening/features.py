"""Texts as rows of TF-IDF: words and pairs of words, each row of length 1."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

CHARACTERS = 20_000  # of a text that are read
_WORD = re.compile(r"\w\w+")
_STRIDE = 1 << 31  # above the number of any word; a pair of words is first * _STRIDE + second

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Rows:
    """A sparse matrix of `width` columns: row i has `values` in `columns`, from `starts[i]` to `starts[i + 1]`."""

    starts: Ints
    columns: Ints
    values: Floats
    width: int

    def __len__(self) -> int:
        return len(self.starts) - 1

    @property
    def owners(self) -> Ints:
        """The row of each value."""
        return np.repeat(np.arange(len(self)), np.diff(self.starts))

    def take(self, rows: Sequence[int] | Ints) -> "Rows":
        """These rows, in this order."""
        chosen = np.asarray(rows, dtype=np.int64)
        lengths = np.diff(self.starts)[chosen]
        starts = np.concatenate([[0], np.cumsum(lengths)])
        at = np.arange(starts[-1]) + np.repeat(self.starts[chosen] - starts[:-1], lengths)
        return Rows(starts, self.columns[at], self.values[at], self.width)


class Linear:
    """Products of `rows`, each with the unit vector in `vectors` beside it, with weights and with residuals.

    `vectors` has shape (len(rows), dim); dim may be 0. A weight vector has `rows.width` numbers and then dim.
    """

    def __init__(self, rows: Rows, vectors: Floats) -> None:
        self._rows, self._vectors = rows, vectors
        self._owners = rows.owners

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def width(self) -> int:
        """Numbers in a weight vector."""
        return self._rows.width + int(self._vectors.shape[1])

    def times(self, weights: Floats) -> Floats:
        """Each row's product with the weights."""
        words = weights[self._rows.columns] * self._rows.values
        of_words = np.bincount(self._owners, words, minlength=len(self))
        return np.asarray(of_words + self._vectors @ weights[self._rows.width :])

    def transposed_times(self, residuals: Floats) -> Floats:
        """The sum of the rows, each times its residual."""
        words = self._rows.values * residuals[self._owners]
        of_words = np.bincount(self._rows.columns, words, minlength=self._rows.width)
        return np.concatenate([of_words, residuals @ self._vectors])


class Vocabulary:
    """The words and pairs of words of some texts, and the texts as `rows`.

    A word or pair of one text alone is left out: no other text could be found by it. A count c weighs 1 + ln c, and a
    term of n of N texts ln((1 + N) / (1 + n)) + 1.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        self._numbers: dict[str, int] = {}
        owners, terms, counts = self._counted(texts)
        found, columns, texts_with = np.unique(terms, return_inverse=True, return_counts=True)
        shared = texts_with > 1
        self._terms = found[shared]
        renumbered = np.cumsum(shared) - 1
        held = shared[columns]
        idf = np.log((1 + len(texts)) / (1 + texts_with[shared])) + 1
        columns = renumbered[columns[held]]
        values = (1 + np.log(counts[held])) * idf[columns]
        starts = np.concatenate([[0], np.cumsum(np.bincount(owners[held], minlength=len(texts)))])
        self.rows = _unit(Rows(starts, columns, values, len(self._terms)))

    def term(self, column: int) -> str:
        """The word or pair of words of a column."""
        first, second = divmod(int(self._terms[column]), _STRIDE)
        return f"{self._words[first - 1]} {self._words[second]}" if first else self._words[second]

    @cached_property
    def _words(self) -> list[str]:
        return list(self._numbers)

    def _counted(self, texts: Sequence[str]) -> tuple[Ints, Ints, Floats]:
        """Text, term and count of each term of each text, by text and term."""
        pieces = [self._terms_of(text) for text in texts]
        lengths = [len(each) for each in pieces]
        owners = np.repeat(np.arange(len(texts)), lengths)
        terms = np.concatenate(pieces) if pieces else np.zeros(0, np.int64)
        order = np.lexsort((terms, owners))
        owners, terms = owners[order], terms[order]
        new = np.ones(len(terms), dtype=bool)
        new[1:] = (owners[1:] != owners[:-1]) | (terms[1:] != terms[:-1])
        at = np.flatnonzero(new)
        counts = np.diff(np.concatenate([at, [len(terms)]])).astype(float)
        return owners[at], terms[at], counts

    def _terms_of(self, text: str) -> Ints:
        """The words of a text by number, then its pairs of words that follow each other."""
        numbers = self._numbers
        found = [numbers.setdefault(word, len(numbers)) for word in _WORD.findall(text[:CHARACTERS].lower())]
        words = np.array(found, dtype=np.int64)
        return np.concatenate([words, (words[:-1] + 1) * _STRIDE + words[1:]])


def _unit(rows: Rows) -> Rows:
    """The rows, each divided by its length; one without values stays empty."""
    squares = np.bincount(rows.owners, rows.values**2, minlength=len(rows))
    lengths = np.sqrt(np.where(squares > 0, squares, 1.0))
    return Rows(rows.starts, rows.columns, rows.values / lengths[rows.owners], rows.width)

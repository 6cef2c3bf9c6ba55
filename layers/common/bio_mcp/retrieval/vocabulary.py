"""Terms as numbers: those of a document are stored by numbers, and strings would be looked up once for each word."""

import sys
from collections.abc import Iterable, Iterator, Sequence
from threading import Lock
from typing import Any, overload

MOST = 1 << 18  # terms of one vocabulary: some 40 MB


class Vocabulary(dict[str, bytes]):
    """The terms that this process has met, each with its number, of four bytes; `terms` has them by their numbers."""

    def __init__(self) -> None:
        super().__init__()
        self.terms: list[str] = []
        self._lock = Lock()

    def __missing__(self, term: str) -> bytes:
        with self._lock:
            if term not in self:
                self.terms.append(term)
                self[term] = (len(self.terms) - 1).to_bytes(4, sys.byteorder)
        return self[term]

    def numbered(self, terms: Iterable[str]) -> bytes:
        """The numbers of terms, which get one if they are new, one after the other."""
        return b"".join(map(self.__getitem__, terms))


_current = Vocabulary()


def current() -> Vocabulary:
    """The vocabulary in use; another one once it has `MOST` terms."""
    global _current
    if len(_current) > MOST:
        _current = Vocabulary()
    return _current


class Terms(Sequence[str]):
    """The terms of a document, in its order and with repetitions, as `numbers` of a vocabulary, four bytes each."""

    __slots__ = ("numbers", "vocabulary")

    def __init__(self, vocabulary: Vocabulary, numbers: bytes) -> None:
        self.vocabulary, self.numbers = vocabulary, numbers

    @staticmethod
    def of(terms: Iterable[str], vocabulary: Vocabulary | None = None) -> "Terms":
        """These terms, the same object if they have numbers of that vocabulary; by default of the one in use.

        Documents that are handled together need one named: a full one may be replaced between them.
        """
        vocabulary = current() if vocabulary is None else vocabulary
        if isinstance(terms, Terms) and terms.vocabulary is vocabulary:
            return terms
        return Terms(vocabulary, vocabulary.numbered(terms))

    def __len__(self) -> int:
        return len(self.numbers) // 4

    def __iter__(self) -> Iterator[str]:
        return map(self.vocabulary.terms.__getitem__, memoryview(self.numbers).cast("I"))

    @overload
    def __getitem__(self, at: int) -> str: ...

    @overload
    def __getitem__(self, at: slice) -> list[str]: ...

    def __getitem__(self, at: int | slice) -> str | list[str]:
        return list(self)[at]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]  # as lists have none

    def __repr__(self) -> str:
        return repr(list(self))

    def __reduce__(self) -> tuple[Any, ...]:
        return Terms.of, (list(self),)  # another process has other numbers

"""Keeping for a while what took long to ask for: the port, and the count of what a call found kept."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Protocol


@dataclass(frozen=True, slots=True)
class CacheEntry:
    """A value, put `age_s` seconds ago."""

    value: bytes
    age_s: float


class Cache(Protocol):
    """Values by key, each until its lifetime ends or room is needed: whatever is kept may be gone.

    A key is text of at most 200 characters. Raises `StoreFailed`.
    """

    def get(self, keys: Sequence[str]) -> dict[str, CacheEntry]:
        """What is kept under these keys (each once) and is not past its lifetime."""
        ...

    def put(self, values: Mapping[str, bytes], lifetime_s: float) -> None:
        """Keep each value from now on, in place of what is there; those that are too large are not kept.

        One whose lifetime is 0 is forgotten.
        """
        ...


@dataclass(slots=True)
class Lookups:
    """What a call looked for in a cache. `oldest_s`: age in seconds of the oldest piece that it used."""

    hits: int = 0
    misses: int = 0
    oldest_s: float = 0.0

    @property
    def told(self) -> dict[str, Any] | None:
        """As JSON, None when nothing was looked for: `status` is hit, miss or mixed; `age_s` comes with a hit."""
        if not self.hits + self.misses:
            return None
        status = "miss" if not self.hits else "mixed" if self.misses else "hit"
        age = {"age_s": int(self.oldest_s)} if self.hits else {}
        return {"status": status, "hits": self.hits, "misses": self.misses, **age}


_OF_THIS_CALL: ContextVar[Lookups | None] = ContextVar("lookups", default=None)


@contextmanager
def counting() -> Iterator[Lookups]:
    """Counts what this thread looks for in a cache until the block ends."""
    lookups = Lookups()
    token = _OF_THIS_CALL.set(lookups)
    try:
        yield lookups
    finally:
        _OF_THIS_CALL.reset(token)


def count(hits: int, misses: int, oldest_s: float) -> None:
    """Add to the count of the call that runs in this thread, if one does."""
    if (lookups := _OF_THIS_CALL.get()) is not None:
        lookups.hits += hits
        lookups.misses += misses
        lookups.oldest_s = max(lookups.oldest_s, oldest_s)

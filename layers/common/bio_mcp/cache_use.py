"""How much of a call's answer came from a cache, and as of when the index is that was searched."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any


@dataclass(slots=True)
class CacheUse:
    """Hits and misses of one call. `oldest_s`: age in seconds of the oldest piece that it used.

    `index_as_of`: when the last change was made (ISO 8601) to the copy of an index that it searched; None where there
    are no copies.
    """

    hits: int = 0
    misses: int = 0
    oldest_s: float = 0.0
    index_as_of: str | None = None

    @property
    def index(self) -> dict[str, Any]:
        """As of when the index is, as JSON; empty where no copy was searched."""
        return {"index": {"as_of": self.index_as_of}} if self.index_as_of else {}

    @property
    def summary(self) -> dict[str, Any] | None:
        """As JSON; None when no cache was asked. `status` is hit, miss or mixed; `age_s` (seconds) comes with a hit."""
        if not self.hits + self.misses:
            return None
        status = "miss" if not self.hits else "mixed" if self.misses else "hit"
        age = {"age_s": int(self.oldest_s)} if self.hits else {}
        return {"status": status, "hits": self.hits, "misses": self.misses, **age}


_OF_THIS_CALL: ContextVar[CacheUse | None] = ContextVar("cache_use", default=None)


@contextmanager
def counting() -> Iterator[CacheUse]:
    """Count the cache lookups of this thread until the block ends; each thread has its own count."""
    use = CacheUse()
    token = _OF_THIS_CALL.set(use)
    try:
        yield use
    finally:
        _OF_THIS_CALL.reset(token)


def count(hits: int, misses: int, oldest_s: float) -> None:
    """Add to the count of the call that runs in this thread; without one, do nothing."""
    if (use := _OF_THIS_CALL.get()) is not None:
        use.hits += hits
        use.misses += misses
        use.oldest_s = max(use.oldest_s, oldest_s)


def searched(as_of: str | None) -> None:
    """Note as of when the copy of an index is that the call which runs in this thread searches."""
    if (use := _OF_THIS_CALL.get()) is not None:
        use.index_as_of = max(use.index_as_of or "", as_of or "") or None

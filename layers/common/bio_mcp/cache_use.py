"""How many pieces of a call's answer came from a cache."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any


@dataclass(slots=True)
class CacheUse:
    """Hits and misses of one call. `oldest_s`: age in seconds of the oldest piece that it used."""

    hits: int = 0
    misses: int = 0
    oldest_s: float = 0.0

    @property
    def summary(self) -> dict[str, Any] | None:
        """As JSON, None when nothing was looked for: `status` is hit, miss or mixed; `age_s` comes with a hit."""
        if not self.hits + self.misses:
            return None
        status = "miss" if not self.hits else "mixed" if self.misses else "hit"
        age = {"age_s": int(self.oldest_s)} if self.hits else {}
        return {"status": status, "hits": self.hits, "misses": self.misses, **age}


_OF_THIS_CALL: ContextVar[CacheUse | None] = ContextVar("cache_use", default=None)


@contextmanager
def counting() -> Iterator[CacheUse]:
    """Count what this thread looks for in a cache until the block ends."""
    use = CacheUse()
    token = _OF_THIS_CALL.set(use)
    try:
        yield use
    finally:
        _OF_THIS_CALL.reset(token)


def count(hits: int, misses: int, oldest_s: float) -> None:
    """Add to the count of the call that runs in this thread, if one does."""
    if (use := _OF_THIS_CALL.get()) is not None:
        use.hits += hits
        use.misses += misses
        use.oldest_s = max(use.oldest_s, oldest_s)

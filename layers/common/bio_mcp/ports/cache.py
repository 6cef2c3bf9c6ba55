"""A cache of NCBI's answers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class CacheEntry:
    """A cached value and its age in seconds."""

    value: bytes
    age_s: float


class Cache(Protocol):
    """Values by key, each until its lifetime ends or room is needed: any of them may be gone at any time.

    A key is text of at most 200 characters. Raises `StoreFailed`.
    """

    def get(self, keys: Sequence[str]) -> dict[str, CacheEntry]:
        """Return the live values under these keys (each once); missing and expired keys are absent."""
        ...

    def put(self, values: Mapping[str, bytes], lifetime_s: float) -> None:
        """Store each value from now on, in place of what is there; values that are too large are dropped.

        A lifetime of 0 deletes the keys.
        """
        ...

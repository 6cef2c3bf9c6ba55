"""A thing made on first use, by one thread, for all."""

from collections.abc import Callable
from threading import Lock
from typing import Generic, TypeVar

Made = TypeVar("Made")


class Lazy(Generic[Made]):
    """Calls `make` on the first call and gives what it made on every call; a failure is not remembered.

    `functools.cached_property` would let two threads load the same 90 MB.
    """

    def __init__(self, make: Callable[[], Made]) -> None:
        self._make = make
        self._lock = Lock()
        self._made: list[Made] = []

    def __call__(self) -> Made:
        if not self._made:
            with self._lock:
                if not self._made:
                    self._made.append(self._make())
        return self._made[0]

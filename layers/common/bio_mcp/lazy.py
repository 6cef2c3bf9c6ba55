"""Values made on first use, once, whichever threads ask."""

from collections.abc import Callable
from threading import Lock
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class Lazy(Generic[T]):
    """Calls `make` on the first call and returns its result on every call. A failure is not remembered: the next call
    retries.

    `functools.cached_property` would let two threads load the same 90 MB.
    """

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._lock = Lock()
        self._made: list[T] = []

    def __call__(self) -> T:
        if not self._made:
            with self._lock:
                if not self._made:
                    self._made.append(self._make())
        return self._made[0]


class lazily(Generic[T]):  # noqa: N801  used as a decorator, as `property` is
    """A read-only attribute made by `Lazy` on first use: once per object, and again after a failure."""

    def __init__(self, make: Callable[[Any], T]) -> None:
        self._make = make
        self.__doc__ = make.__doc__

    def __set_name__(self, _owner: type, name: str) -> None:
        self._slot = f"{name} lazily"

    def __get__(self, instance: Any, _owner: type | None = None) -> T:
        lazy: Lazy[T] | None = vars(instance).get(self._slot)
        if lazy is None:  # of two threads that come here, both get the first one's
            lazy = vars(instance).setdefault(self._slot, Lazy(lambda: self._make(instance)))
        return lazy()

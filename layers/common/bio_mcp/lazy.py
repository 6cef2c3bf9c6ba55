"""Values made on first use, once, whichever threads ask; and regular expressions compiled on first use."""

import re
from collections.abc import Callable
from threading import Lock
from typing import Any, Generic, TypeVar, cast

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


def compiled_later(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """`re.compile(pattern, flags)` at the first use of the expression, for a large one that many processes never use.

    A wrong expression is an error of that use, so each needs a test that uses it.
    """
    return cast("re.Pattern[str]", _Expression(pattern, flags))


class _Expression:
    def __init__(self, pattern: str, flags: int) -> None:
        self.pattern, self.flags = pattern, flags

    def __getattr__(self, name: str) -> Any:
        """Called until the expression is compiled; all that it then has is this object's own."""
        compiled = re.compile(self.pattern, self.flags)
        self.__dict__.update({each: getattr(compiled, each) for each in dir(compiled) if not each.startswith("__")})
        return getattr(compiled, name)

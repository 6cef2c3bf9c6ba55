"""One index and one model for the whole of a call, whatever is switched meanwhile."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

T = TypeVar("T")

_FOUND: ContextVar[dict[object, Any] | None] = ContextVar("one_index", default=None)


@contextmanager
def one_index() -> Iterator[None]:
    """Until the block ends, this thread searches the index that it looks up first, by the model of that index.

    A block within another looks it up anew, as what writes for hours does for each of its steps.
    """
    token = _FOUND.set({})
    try:
        yield
    finally:
        _FOUND.reset(token)


def found_once(owner: object, find: Callable[[], T]) -> T:
    """What `find` returns for `owner`: looked up once within `one_index`, and each time outside."""
    found = _FOUND.get()
    if found is None:
        return find()
    if owner not in found:
        found[owner] = find()
    made: T = found[owner]
    return made

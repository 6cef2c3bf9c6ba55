"""Many cases in one test: each test of its own costs pytest more than most cases take."""

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def case(name: object) -> Iterator[None]:
    """A failure inside names the case."""
    try:
        yield
    except Exception as failure:
        failure.add_note(f"in the case {name}")
        raise

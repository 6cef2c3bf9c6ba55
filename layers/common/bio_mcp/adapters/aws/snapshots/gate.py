"""Lets any number of transactions in, or one thread that replaces the file when none is open."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Condition

from bio_mcp.errors import IndexUnavailable

WAIT_S = 30.0
BUSY = "The index is being replaced and searched without a pause; try again."


class Gate:
    """Who is inside may enter again. Threads may share it."""

    def __init__(self) -> None:
        self._condition = Condition()
        self._inside = 0

    @contextmanager
    def entered(self) -> Iterator[None]:
        """Be inside until the block ends; waits for whoever is alone."""
        with self._condition:
            self._inside += 1
        try:
            yield
        finally:
            with self._condition:
                self._inside -= 1
                self._condition.notify_all()

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Wait until nobody is inside, and keep everybody out. Raises `IndexUnavailable`."""
        with self._condition:
            if not self._condition.wait_for(lambda: not self._inside, WAIT_S):
                raise IndexUnavailable(BUSY)
            yield

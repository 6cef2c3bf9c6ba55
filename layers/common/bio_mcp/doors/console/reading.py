"""Pages of several parts, each from another store."""

from collections.abc import Callable
from typing import TypeVar

from bio_mcp.errors import Failure

T = TypeVar("T")


class Reading:
    """Reads one part after the other; a part whose store fails is None, and the others are shown all the same."""

    def __init__(self) -> None:
        self.problems: list[str] = []

    def of(self, read: Callable[[], T]) -> T | None:
        """What `read` returns; None where it fails."""
        try:
            return read()
        except Failure as failure:
            self.problems = list(dict.fromkeys([*self.problems, str(failure)]))
            return None

"""How far a piece of work has come."""

from collections.abc import Callable

Progress = Callable[[int, int | None, str], None]
"""(done, total, note): `done` of `total` pieces, None where nobody knows the total; `note` is for people."""


def silent(_done: int, _total: int | None, _note: str) -> None:
    """Tell nobody."""

"""Progress of a piece of work."""

from collections.abc import Callable

Progress = Callable[[int, int | None, str], None]
"""(done, total, note): `done` of `total` pieces, None where nobody knows the total; `note` is for people."""


def silent(_done: int, _total: int | None, _note: str) -> None:
    """Report to nobody."""

"""Deadlines: limited time, passed down with a call."""

import time
from collections.abc import Callable

from bio_mcp.errors import DeadlineExceeded

Progress = Callable[[int, int | None, str], None]
"""(done, total, note): `done` of `total` pieces, None where nobody knows the total; `note` is for people."""


def silent(_done: int, _total: int | None, _note: str) -> None:
    """Report to nobody."""


Clock = Callable[[], float]


class Deadline:
    """A point in time, `seconds` from now by `clock` (monotonic seconds); None: no end."""

    def __init__(
        self, seconds: float | None = None, clock: Clock = time.monotonic, *, within: "Deadline | None" = None
    ) -> None:
        """With `within`, this deadline is never later than that one, even if that one expires early."""
        self._clock = clock
        self._end = None if seconds is None else clock() + seconds
        self._within = within

    @property
    def remaining(self) -> float:
        """Seconds left, never below 0; infinite without an end."""
        left = float("inf") if self._end is None else max(0.0, self._end - self._clock())
        return min(left, self._within.remaining) if self._within else left

    def share(self, seconds: float) -> "Deadline":
        """A deadline `seconds` from now, or this one if it comes sooner."""
        return Deadline(seconds, self._clock, within=self)

    def expire(self) -> None:
        """End the time now: the caller has left. May be called from another thread."""
        self._end = self._clock()

    def pause(self, seconds: float) -> None:
        """Wait, but no longer than there is time."""
        time.sleep(min(seconds, self.remaining))

    def check(self, doing: str) -> None:
        """Raise `DeadlineExceeded`, which names `doing` as not done, if no time is left."""
        if self.remaining <= 0:
            raise DeadlineExceeded(f"out of time before {doing}; ask for less or try again")


NEVER = Deadline()

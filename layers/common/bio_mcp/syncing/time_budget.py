"""Time budget of a run: is there time for one more slice?"""

import time

from bio_mcp.deadline import Clock, Deadline

FIRST_S = 6.0  # assumed time of a slice before one has been timed: 32 abstracts on one slow core
RESERVE_S = 1.0  # for saving the cursor and answering


class TimeBudget:
    """Measures the seconds between two calls of `allows`, and requires 1.5 times the longest."""

    def __init__(self, clock: Clock = time.monotonic) -> None:
        self._clock = clock
        self._last: float | None = None
        self._longest = 0.0

    def allows(self, deadline: Deadline) -> bool:
        """Whether the deadline leaves time for another slice and `RESERVE_S` for saving and answering."""
        now = self._clock()
        if self._last is not None:
            self._longest = max(self._longest, now - self._last)
        self._last = now
        return deadline.remaining > RESERVE_S + (1.5 * self._longest or FIRST_S)

"""Is there time for one more slice?"""

import time

from bio_mcp.deadline import Clock, Deadline

FIRST_S = 6.0  # what a slice is allowed for before one has been timed: 32 abstracts on one slow core
RESERVE_S = 1.0  # for saving the cursor and answering


class TimeBudget:
    """Times the stretches between two questions and asks for one and a half of the longest."""

    def __init__(self, clock: Clock = time.monotonic) -> None:
        self._clock = clock
        self._last: float | None = None
        self._longest = 0.0

    def allows(self, deadline: Deadline) -> bool:
        now = self._clock()
        if self._last is not None:
            self._longest = max(self._longest, now - self._last)
        self._last = now
        return deadline.remaining > RESERVE_S + (1.5 * self._longest or FIRST_S)

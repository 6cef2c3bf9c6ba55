"""How many calls a token's subject may make."""

import time
from collections import OrderedDict
from collections.abc import Callable
from threading import Lock

MINUTE_S = 60.0
SUBJECTS = 10_000  # remembered; those that were heard of longest ago are forgotten


class RateLimiter:
    """`per_minute` calls of each subject, all at once or evenly, refilled evenly (GCRA); 0: without a limit.

    `clock` is in seconds, and by default the time of day: a frozen Lambda environment's monotonic clock stands still.
    """

    def __init__(self, per_minute: int, clock: Callable[[], float] = time.time) -> None:
        self._interval = MINUTE_S / per_minute if per_minute else 0.0
        self._clock = clock
        self._full_at: OrderedDict[str, float] = OrderedDict()  # when a subject has all of its calls again
        self._lock = Lock()

    def wait_s(self, subject: str) -> float:
        """0 where one more call is allowed, which then counts; else the seconds until one is."""
        if not self._interval:
            return 0.0
        with self._lock:
            now = self._clock()
            full_at = min(max(self._full_at.pop(subject, now), now), now + MINUTE_S)
            wait = full_at + self._interval - now - MINUTE_S
            self._full_at[subject] = full_at if wait > 1e-6 else full_at + self._interval
            if len(self._full_at) > SUBJECTS:
                self._full_at.popitem(last=False)
            return wait if wait > 1e-6 else 0.0

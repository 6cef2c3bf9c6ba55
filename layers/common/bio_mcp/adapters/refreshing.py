"""Something that is read from elsewhere, kept for a while, and read anew when it does not fit."""

import logging
import time
from collections.abc import Callable
from threading import Lock
from typing import Generic, TypeVar

from bio_mcp.errors import Failure

T = TypeVar("T")

KEEP_S = 300.0
GUARD_S = 60.0  # between two readings for what did not fit: whoever sends nonsense causes no more than these
OUTAGE_S = 5.0  # between two readings that failed
STALE_S = 3600.0  # how long what was read is still good when it cannot be read again

log = logging.getLogger(__name__)


class RefreshingValue(Generic[T]):
    """What `read` gives. Threads may share it; one reads and the others wait.

    `clock` is in seconds, and by default the time of day: a frozen Lambda environment's monotonic clock stands still.
    """

    def __init__(self, read: Callable[[], T], clock: Callable[[], float] = time.time) -> None:
        self._read = read
        self._clock = clock
        self._lock = Lock()
        self._held: tuple[T, float] | None = None  # with the time of reading
        self._failed: tuple[Failure, float] | None = None
        self._renewed = float("-inf")

    def now(self) -> T:
        """At most `KEEP_S` old, or `STALE_S` in an outage. Raises what `read` raises."""
        with self._lock:
            if self._held and self._within(self._held[1], KEEP_S):
                return self._held[0]
            try:
                return self._reread()
            except Failure as failure:
                if self._held and self._within(self._held[1], STALE_S):
                    log.warning("going on with what could not be read again: %s", failure)
                    return self._held[0]
                raise

    def anew(self) -> T | None:
        """Read again because nothing in `now()` fitted; None when that was done less than `GUARD_S` ago."""
        with self._lock:
            if self._within(self._renewed, GUARD_S):
                return None
            held = self._reread()
            self._renewed = self._clock()
            return held

    def _reread(self) -> T:
        if self._failed and self._within(self._failed[1], OUTAGE_S):
            raise self._failed[0]
        try:
            self._held = self._read(), self._clock()
        except Failure as failure:
            self._failed = failure, self._clock()
            raise
        self._failed = None
        return self._held[0]

    def _within(self, since: float, seconds: float) -> bool:
        return 0 <= self._clock() - since < seconds

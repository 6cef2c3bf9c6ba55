"""A value read from elsewhere, cached for a while, and refreshed when it may be outdated."""

import logging
import time
from collections.abc import Callable
from threading import Lock
from typing import Generic, TypeVar

from bio_mcp.errors import Failure

T = TypeVar("T")

FRESH_S = 300.0  # a value is returned without reading it again
GUARD_S = 60.0  # between two forced refreshes, so that invalid tokens cannot cause more reads
OUTAGE_S = 5.0  # between two failed reads
STALE_S = 3600.0  # an old value may serve while reading fails

log = logging.getLogger(__name__)


class RefreshingValue(Generic[T]):
    """The cached result of `read`. Threads may share it: one reads while the others wait.

    A value is fresh for `FRESH_S`; if it cannot be read again, the old one serves for up to `STALE_S`. `clock` is in
    seconds and defaults to the time of day, as the monotonic clock of a frozen Lambda environment stands still.
    """

    def __init__(self, read: Callable[[], T], clock: Callable[[], float] = time.time) -> None:
        self._read = read
        self._clock = clock
        self._lock = Lock()
        self._cached: tuple[T, float] | None = None  # with the time of reading
        self._failed: tuple[Failure, float] | None = None
        self._refreshed = float("-inf")

    def get(self) -> T:
        """The value, at most `FRESH_S` old, or `STALE_S` in an outage. Raises what `read` raises."""
        with self._lock:
            if self._cached and self._within(self._cached[1], FRESH_S):
                return self._cached[0]
            try:
                return self._reread()
            except Failure as failure:
                if self._cached and self._within(self._cached[1], STALE_S):
                    log.warning("using a stale value, which could not be refreshed: %s", failure)
                    return self._cached[0]
                raise

    def refresh(self) -> T | None:
        """Read again because `get()` did not fit; None if that was done less than `GUARD_S` ago."""
        with self._lock:
            if self._within(self._refreshed, GUARD_S):
                return None
            value = self._reread()
            self._refreshed = self._clock()
            return value

    def _reread(self) -> T:
        if self._failed and self._within(self._failed[1], OUTAGE_S):
            raise self._failed[0]
        try:
            self._cached = self._read(), self._clock()
        except Failure as failure:
            self._failed = failure, self._clock()
            raise
        self._failed = None
        return self._cached[0]

    def _within(self, since: float, seconds: float) -> bool:
        return 0 <= self._clock() - since < seconds

"""A cache that fails open: while the store fails, it is empty."""

import logging
import threading
import time
from collections.abc import Callable, Mapping, Sequence

from bio_mcp.errors import StoreFailed
from bio_mcp.ports.cache import Cache, CacheEntry

log = logging.getLogger(__name__)

COOL_DOWN_S = 30.0  # without a try after a failure, so that a store that hangs costs little time


class FailOpenCache:
    """The port `Cache` over `cache` that never raises: it is empty while `cache` fails, and logs why.

    After a failure `cache` is not used for `COOL_DOWN_S`. `clock` is in seconds and defaults to the time of day, as the
    monotonic clock of a frozen Lambda environment stands still.
    """

    def __init__(self, cache: Cache, clock: Callable[[], float] = time.time) -> None:
        self._cache = cache
        self._clock = clock
        self._failed_at = float("-inf")
        self._lock = threading.Lock()

    def get(self, keys: Sequence[str]) -> dict[str, CacheEntry]:
        if self._is_cooling():
            return {}
        try:
            return self._cache.get(keys)
        except StoreFailed as failure:
            self._failed(failure)
            return {}

    def put(self, values: Mapping[str, bytes], lifetime_s: float) -> None:
        if self._is_cooling():
            return
        try:
            self._cache.put(values, lifetime_s)
        except StoreFailed as failure:
            self._failed(failure)

    def _is_cooling(self) -> bool:
        with self._lock:
            return 0 <= self._clock() - self._failed_at < COOL_DOWN_S

    def _failed(self, failure: StoreFailed) -> None:
        with self._lock:
            self._failed_at = self._clock()
        log.warning("the cache failed and is not used for %d s: %s", COOL_DOWN_S, failure)

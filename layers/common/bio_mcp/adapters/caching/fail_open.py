"""A cache that fails is an empty one."""

import logging
import threading
import time
from collections.abc import Callable, Mapping, Sequence

from bio_mcp.cache import Cache, CacheEntry
from bio_mcp.errors import StoreFailed

log = logging.getLogger(__name__)

COOL_DOWN_S = 30.0  # that a cache is left alone after it failed, so that one that hangs costs little time


class FailOpenCache:
    """`Cache` over `cache` that never fails: it holds nothing then, and the log says why. `clock` is monotonic."""

    def __init__(self, cache: Cache, clock: Callable[[], float] = time.monotonic) -> None:
        self._cache = cache
        self._clock = clock
        self._rests_until = float("-inf")
        self._lock = threading.Lock()

    def get(self, keys: Sequence[str]) -> dict[str, CacheEntry]:
        if self._rests():
            return {}
        try:
            return self._cache.get(keys)
        except StoreFailed as failure:
            self._failed(failure)
            return {}

    def put(self, values: Mapping[str, bytes], lifetime_s: float) -> None:
        if self._rests():
            return
        try:
            self._cache.put(values, lifetime_s)
        except StoreFailed as failure:
            self._failed(failure)

    def _rests(self) -> bool:
        with self._lock:
            return self._clock() < self._rests_until

    def _failed(self, failure: StoreFailed) -> None:
        with self._lock:
            self._rests_until = self._clock() + COOL_DOWN_S
        log.warning("the cache failed and is left alone for %d s: %s", COOL_DOWN_S, failure)

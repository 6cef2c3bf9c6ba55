"""Time that passes only when everybody sleeps."""

import heapq
import threading
from itertools import count


class Clock:
    """For one thread: sleeping moves the time and is written down in `pauses`."""

    def __init__(self, now: float = 0.0) -> None:
        self.now = now
        self.pauses: list[float] = []

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.now += seconds


class SharedClock:
    """For `threads` threads: once all of them sleep or are done, time jumps to the next one's waking."""

    def __init__(self, threads: int) -> None:
        self.now = 0.0
        self._awake = threads
        self._sleepers: list[tuple[float, int, threading.Event]] = []
        self._number = count()
        self._lock = threading.Lock()

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        woken = threading.Event()
        with self._lock:
            heapq.heappush(self._sleepers, (self.now + seconds, next(self._number), woken))
            self._rest()
        assert woken.wait(timeout=60)

    def leave(self) -> None:
        """The calling thread is done."""
        with self._lock:
            self._rest()

    def _rest(self) -> None:
        self._awake -= 1
        if self._awake == 0 and self._sleepers:
            self.now, _, woken = heapq.heappop(self._sleepers)
            self._awake += 1
            woken.set()

"""Tracks how this process's requests to NCBI go."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime

from bio_mcp.adapters.entrez.answer import Answer
from bio_mcp.literature.clock import utc_now
from bio_mcp.ports.pubmed import ConnectionStatus


class StatusTracker:
    """The `ConnectionStatus` of one process, updated by every request. Threads may share it."""

    def __init__(self, current: ConnectionStatus, now: Callable[[], datetime] = utc_now) -> None:
        self._current = current
        self._now = now
        self._lock = threading.Lock()

    @property
    def current(self) -> ConnectionStatus:
        """The current status."""
        return self._current

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Count one more waiting request while the block runs."""
        self._wait(1)
        try:
            yield
        finally:
            self._wait(-1)

    def answered(self, answer: Answer) -> None:
        """Record a good answer."""
        with self._lock:
            self._current = replace(self._with_remaining(answer), answered=self._now())

    def failed(self, answer: Answer | None = None) -> None:
        """Record a failure; `answer` is None if none came."""
        with self._lock:
            self._current = replace(self._with_remaining(answer), failed=self._now())

    def _wait(self, change: int) -> None:
        with self._lock:
            self._current = replace(self._current, waiting=self._current.waiting + change)

    def _with_remaining(self, answer: Answer | None) -> ConnectionStatus:
        """The status with the number of requests left in this second, if the answer's headers say."""
        left = answer.headers.get("x-ratelimit-remaining", "") if answer else ""
        return replace(self._current, left=int(left)) if left.isdecimal() else self._current

"""What a process remembers of its dealings with NCBI."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime

from bio_mcp.adapters.entrez.answer import Answer
from bio_mcp.ports.pubmed import ConnectionStatus


def utc_now() -> datetime:
    """The time it is."""
    return datetime.now(UTC)


class StatusTracker:
    """The `ConnectionStatus` of one process, kept up by those who ask NCBI; threads may share it."""

    def __init__(self, contact: ConnectionStatus, now: Callable[[], datetime] = utc_now) -> None:
        self._contact = contact
        self._now = now
        self._lock = threading.Lock()

    @property
    def contact(self) -> ConnectionStatus:
        return self._contact

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """One request more waits for its turn while the block runs."""
        self._wait(1)
        try:
            yield
        finally:
            self._wait(-1)

    def answered(self, answer: Answer) -> None:
        """NCBI gave what it was asked for."""
        with self._lock:
            self._contact = replace(self._told(answer), answered=self._now())

    def failed(self, answer: Answer | None = None) -> None:
        """NCBI did not answer, or not with what it was asked for."""
        with self._lock:
            self._contact = replace(self._told(answer), failed=self._now())

    def _wait(self, change: int) -> None:
        with self._lock:
            self._contact = replace(self._contact, waiting=self._contact.waiting + change)

    def _told(self, answer: Answer | None) -> ConnectionStatus:
        """With what NCBI says is left of this second, where it says so."""
        left = answer.headers.get("x-ratelimit-remaining", "") if answer else ""
        return replace(self._contact, left=int(left)) if left.isdecimal() else self._contact

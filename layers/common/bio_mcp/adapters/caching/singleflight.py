"""One asks, all who want the same wait for it."""

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from bio_mcp.deadline import Deadline

T = TypeVar("T")
GLANCE_S = 0.25  # between two looks at a deadline, which may be over sooner than it was to be


@dataclass(slots=True)
class _Call:
    over: threading.Event = field(default_factory=threading.Event)
    landed: bool = False
    answer: Any = None


class SingleFlight:
    """Questions that are being asked in this process at the moment, by key."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._in_flight: dict[str, _Call] = {}

    def once(self, key: str, ask: Callable[[], T], deadline: Deadline) -> T:
        """The answer of whoever asks this already, or of `ask`. Another's failure is not ours: we ask then.

        Raises `DeadlineExceeded` when the time is over before the other one has its answer.
        """
        with self._lock:
            flight = self._in_flight.get(key)
            if leads := flight is None:
                flight = self._in_flight[key] = _Call()
        if leads:
            return self._lead(key, flight, ask)
        while not flight.over.wait(min(GLANCE_S, deadline.remaining)):
            deadline.check("NCBI had answered somebody who asked the same")
        answer: T = flight.answer
        return answer if flight.landed else ask()

    def _lead(self, key: str, flight: _Call, ask: Callable[[], T]) -> T:
        try:
            flight.answer = answer = ask()
            flight.landed = True
            return answer
        finally:
            with self._lock:
                del self._in_flight[key]
            flight.over.set()

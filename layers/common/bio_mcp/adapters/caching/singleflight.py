"""Single flight: of several callers that want the same answer at once, one fetches it and the others wait for it."""

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from bio_mcp.deadline import Deadline

T = TypeVar("T")
POLL_S = 0.25  # between two looks at a deadline, which may be cut short while we wait


@dataclass(slots=True)
class _Call:
    done: threading.Event = field(default_factory=threading.Event)
    succeeded: bool = False
    answer: Any = None


class SingleFlight:
    """The calls in flight in this process, by key. Threads share it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._in_flight: dict[str, _Call] = {}

    def do(self, key: str, fetch: Callable[[], T], deadline: Deadline) -> T:
        """The answer of the call in flight for `key`, else of `fetch`. If the call in flight fails, we fetch ourselves.

        Raises `DeadlineExceeded` if the deadline passes while the other call is in flight.
        """
        with self._lock:
            call = self._in_flight.get(key)
            if leads := call is None:
                call = self._in_flight[key] = _Call()
        if leads:
            return self._lead(key, call, fetch)
        while not call.done.wait(min(POLL_S, deadline.remaining)):
            deadline.check("NCBI had answered somebody who asked the same")
        answer: T = call.answer
        return answer if call.succeeded else fetch()

    def _lead(self, key: str, call: _Call, fetch: Callable[[], T]) -> T:
        try:
            call.answer = answer = fetch()
            call.succeeded = True
            return answer
        finally:
            with self._lock:
                del self._in_flight[key]
            call.done.set()

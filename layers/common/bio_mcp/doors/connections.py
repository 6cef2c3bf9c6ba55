"""HTTP connections of the local server: how long a client may take, and how many may be open.

uvicorn by itself waits for ever for the rest of a request, and accepts connections until the process has no file left.
"""

import asyncio
import logging
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

PATIENCE_S = 30.0  # for a whole request to arrive, and for an answer to be read on
MOST = 1_000  # connections of one process
QUIET_S = 60.0  # between two log lines on connections that could not be served
TIMED_OUT = b"HTTP/1.1 408 Request Timeout\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"
FULL = b"HTTP/1.1 503 Service Unavailable\r\nconnection: close\r\nretry-after: 5\r\ncontent-length: 0\r\n\r\n"

log = logging.getLogger(__name__)


def room() -> int:
    """How many connections this process may hold: half of the files that it may open, the rest being the corpus's."""
    try:
        import resource
    except ImportError:  # Windows, which has no such limit
        return MOST
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return MOST if files == resource.RLIM_INFINITY else min(MOST, files // 2)


class Seldom:
    """Warns at most once in `QUIET_S`."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._last = float("-inf")

    def warn(self, message: str, *details: object) -> None:
        if self._clock() - self._last >= QUIET_S:
            self._last = self._clock()
            log.warning(message, *details)


@dataclass
class Connections:
    """The open connections of one server. `waiting`: those that are not being answered, the longest first."""

    limit: int = field(default_factory=room)
    patience_s: float = PATIENCE_S
    warned: Seldom = field(default_factory=Seldom)
    open: set["BoundedProtocol"] = field(default_factory=set)
    waiting: dict["BoundedProtocol", None] = field(default_factory=dict)

    def admit(self, new: "BoundedProtocol") -> bool:
        """Count `new`, and close the one that has waited longest where that is one too many. False when all others
        are being answered."""
        if len(self.open) >= self.limit:
            self.warned.warn("over %d connections are open; those that have waited longest are closed", self.limit)
            if not self.waiting:
                return False
            next(iter(self.waiting)).drop()
        self.open.add(new)
        return True

    def forget(self, gone: "BoundedProtocol") -> None:
        self.open.discard(gone)
        self.waiting.pop(gone, None)


class BoundedProtocol(H11Protocol):
    """HTTP/1.1 with a client that must send its request, and read its answer, in bounded time."""

    def __init__(self, *uvicorns: Any, connections: Connections, **more: Any) -> None:
        super().__init__(*uvicorns, **more)
        self._all = connections
        self._late: asyncio.TimerHandle | None = None  # closes a connection whose request does not become whole
        self._stalled: asyncio.TimerHandle | None = None  # closes one whose client reads no more
        self._heard = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn's
        super().connection_made(transport)
        transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if self._all.admit(self):
            self._expect()
        else:
            self._end(FULL)

    def connection_lost(self, exc: Exception | None) -> None:
        self._all.forget(self)
        self._in_time()
        self.resume_writing()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        self._heard = True
        super().data_received(data)
        if self._answering():
            self._in_time()
            self._all.waiting.pop(self, None)
        elif self._late is None:
            self._expect()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if not self._answering() and not self.transport.is_closing():
            self._heard = False
            self._all.waiting[self] = None  # until uvicorn's keep-alive ends, or more is received

    def pause_writing(self) -> None:
        super().pause_writing()
        self._stalled = self.loop.call_later(self._all.patience_s, self.transport.abort)

    def resume_writing(self) -> None:
        super().resume_writing()
        if self._stalled:
            self._stalled.cancel()

    def drop(self) -> None:
        """Close at once; nobody is being answered."""
        self._all.forget(self)
        self.transport.abort()

    def _answering(self) -> bool:
        """Whether a request has come whole and its answer is not finished."""
        cycle = self.cycle
        return cycle is not None and not cycle.response_complete and not cycle.more_body

    def _expect(self) -> None:
        self._all.waiting[self] = None
        self._late = self.loop.call_later(self._all.patience_s, self._time_out)

    def _time_out(self) -> None:
        self._end(TIMED_OUT if self._heard else b"")

    def _end(self, answer: bytes) -> None:
        cycle = self.cycle
        if cycle is None or cycle.response_complete or not cycle.response_started:
            self.transport.write(answer)
        self.transport.close()

    def _in_time(self) -> None:
        if self._late:
            self._late.cancel()
        self._late = None

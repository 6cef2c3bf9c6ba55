"""Bounds the HTTP connections of the local server: their number, and how long a client may take.

uvicorn by itself waits forever for the rest of a request and accepts connections until the process has no file
descriptors left.
"""

import asyncio
import logging
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

TIMEOUT_S = 30.0  # for a request to arrive completely, and for a client that stops reading an answer
MAX_CONNECTIONS = 1_000  # per process
QUIET_S = 60.0  # between two log lines on connections that could not be served
TIMED_OUT = b"HTTP/1.1 408 Request Timeout\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"
FULL = b"HTTP/1.1 503 Service Unavailable\r\nconnection: close\r\nretry-after: 5\r\ncontent-length: 0\r\n\r\n"

log = logging.getLogger(__name__)


def connection_limit() -> int:
    """The number of connections that this process may have: half of its file descriptors, as the corpus needs the
    others."""
    try:
        import resource
    except ImportError:  # Windows, which has no such limit
        return MAX_CONNECTIONS
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return MAX_CONNECTIONS if files == resource.RLIM_INFINITY else min(MAX_CONNECTIONS, files // 2)


class OccasionalWarning:
    """Logs a warning at most once in `QUIET_S`."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._last = float("-inf")

    def warn(self, message: str, *details: object) -> None:
        """Log `message` unless one was logged within `QUIET_S`."""
        if self._clock() - self._last >= QUIET_S:
            self._last = self._clock()
            log.warning(message, *details)


@dataclass
class Connections:
    """The open connections of one server. `waiting` are those without a request in progress, longest first."""

    limit: int = field(default_factory=connection_limit)
    timeout_s: float = TIMEOUT_S
    warnings: OccasionalWarning = field(default_factory=OccasionalWarning)
    open: set["BoundedProtocol"] = field(default_factory=set)
    waiting: dict["BoundedProtocol", None] = field(default_factory=dict)

    def admit(self, new: "BoundedProtocol") -> bool:
        """Count `new`, closing the longest waiting connection if that exceeds the limit. False if all others are
        busy."""
        if len(self.open) >= self.limit:
            self.warnings.warn("over %d connections are open; those that have waited longest are closed", self.limit)
            if not self.waiting:
                return False
            next(iter(self.waiting)).drop()
        self.open.add(new)
        return True

    def discard(self, closed: "BoundedProtocol") -> None:
        """Stop counting a closed connection."""
        self.open.discard(closed)
        self.waiting.pop(closed, None)


class BoundedProtocol(H11Protocol):
    """HTTP/1.1 with time limits on sending a request and on reading its answer."""

    def __init__(self, *uvicorns: Any, connections: Connections, **more: Any) -> None:
        super().__init__(*uvicorns, **more)
        self._connections = connections
        self._request_timer: asyncio.TimerHandle | None = None  # closes a connection whose request stays incomplete
        self._write_timer: asyncio.TimerHandle | None = None  # closes a connection whose client stopped reading
        self._received = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn's
        """Admit the connection and start its time limit, or answer 503 if the server is full."""
        super().connection_made(transport)
        transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if self._connections.admit(self):
            self._start_timer()
        else:
            self._close_with(FULL)

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop counting the connection."""
        self._connections.discard(self)
        self._cancel_timer()
        self.resume_writing()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Cancel the time limit once the request is complete."""
        self._received = True
        super().data_received(data)
        if self._answering():
            self._cancel_timer()
            self._connections.waiting.pop(self, None)
        elif self._request_timer is None:
            self._start_timer()

    def on_response_complete(self) -> None:
        """Count the connection as waiting, so that a new one may replace it."""
        super().on_response_complete()
        if not self._answering() and not self.transport.is_closing():
            self._received = False
            self._connections.waiting[self] = None  # until uvicorn's keep-alive ends, or more is received

    def pause_writing(self) -> None:
        """Give the client `timeout_s` seconds to read on."""
        super().pause_writing()
        self._write_timer = self.loop.call_later(self._connections.timeout_s, self.transport.abort)

    def resume_writing(self) -> None:
        """Cancel the limit on reading."""
        super().resume_writing()
        if self._write_timer:
            self._write_timer.cancel()

    def drop(self) -> None:
        """Close the connection at once; no request is in progress."""
        self._connections.discard(self)
        self.transport.abort()

    def _answering(self) -> bool:
        """Whether a complete request has arrived whose answer is not finished."""
        cycle = self.cycle
        return cycle is not None and not cycle.response_complete and not cycle.more_body

    def _start_timer(self) -> None:
        self._connections.waiting[self] = None
        self._request_timer = self.loop.call_later(self._connections.timeout_s, self._time_out)

    def _time_out(self) -> None:
        self._close_with(TIMED_OUT if self._received else b"")

    def _close_with(self, answer: bytes) -> None:
        cycle = self.cycle
        if cycle is None or cycle.response_complete or not cycle.response_started:
            self.transport.write(answer)
        self.transport.close()

    def _cancel_timer(self) -> None:
        if self._request_timer:
            self._request_timer.cancel()
        self._request_timer = None

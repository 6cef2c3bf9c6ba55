"""Serves an ASGI application on this machine until it is stopped."""

import asyncio
import errno
import logging
import os
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from ipaddress import ip_network
from typing import Any

import uvicorn
from sse_starlette.sse import AppStatus
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from bio_mcp.doors.auth.access import is_loopback
from bio_mcp.doors.auth.bearer import NO_TOKENS, refused
from bio_mcp.errors import Misconfigured

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


@dataclass
class Connections:
    """The open connections of one server. `waiting` are those without a request in progress, longest first."""

    limit: int = field(default_factory=connection_limit)
    timeout_s: float = TIMEOUT_S
    clock: Callable[[], float] = time.monotonic
    warned: float = float("-inf")
    open: set["BoundedProtocol"] = field(default_factory=set)
    waiting: dict["BoundedProtocol", None] = field(default_factory=dict)

    def admit(self, new: "BoundedProtocol") -> bool:
        """Count `new`, closing the longest waiting connection if that exceeds the limit. False if all others are
        busy."""
        if len(self.open) >= self.limit:
            self.warn("over %d connections are open; those that have waited longest are closed", self.limit)
            if not self.waiting:
                return False
            longest = next(iter(self.waiting))
            self.discard(longest)
            longest.transport.abort()
        self.open.add(new)
        return True

    def warn(self, message: str, *details: object) -> None:
        """Log a warning, at most one in `QUIET_S`."""
        if self.clock() - self.warned >= QUIET_S:
            self.warned = self.clock()
            log.warning(message, *details)

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

    def _answering(self) -> bool:
        """Whether a complete request has arrived whose answer is not finished."""
        cycle = self.cycle
        return cycle is not None and not cycle.response_complete and not cycle.more_body

    def _start_timer(self) -> None:
        self._connections.waiting[self] = None
        self._request_timer = self.loop.call_later(
            self._connections.timeout_s, lambda: self._close_with(TIMED_OUT if self._received else b"")
        )

    def _close_with(self, answer: bytes) -> None:
        cycle = self.cycle
        if cycle is None or cycle.response_complete or not cycle.response_started:
            self.transport.write(answer)
        self.transport.close()

    def _cancel_timer(self) -> None:
        if self._request_timer:
            self._request_timer.cancel()
        self._request_timer = None


LENGTHS = {b"content-length", b"transfer-encoding"}
TWO_LENGTHS = refused(
    400, "invalid_request", "Content-Length and Transfer-Encoding do not go together", {"connection": "close"}
)


@dataclass(frozen=True)
class OneLength:
    """Passes requests on to `app` whose end is told in one way. Another one is answered 400 and its connection closed
    (RFC 9112, 6.1): a proxy may have seen its end elsewhere, and would take what is behind it for another's request."""

    app: ASGIApp

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        told = LENGTHS.intersection(name for name, _ in scope["headers"])
        await (TWO_LENGTHS if len(told) > 1 else self.app)(scope, receive, send)


RESTART_S = 1.0  # between two looks for processes that died


@contextmanager
def processes(count: int, listener: socket.socket, command: Callable[[int], Sequence[str]]) -> Iterator[None]:
    """`count` processes that run `command`, restarted when they die; at the end of the block they are told to finish
    their requests, and `listener` is closed.

    `command` receives the socket's file descriptor. A process's standard input ends when this process does, however it
    ends.
    """
    number, stopping = listener.fileno(), threading.Event()
    start = partial(subprocess.Popen[bytes], command(number), stdin=subprocess.PIPE, pass_fds=[number])

    def supervise() -> None:
        while not stopping.wait(RESTART_S):
            for index, each in enumerate(running):
                if (code := each.poll()) is not None:
                    log.warning("a serving process ended (%d) and is restarted", code)
                    each.communicate()  # closes its input
                    with suppress(OSError):  # it is tried again at the next look
                        running[index] = start()

    running = [start() for _ in range(count)]
    supervisor = threading.Thread(target=supervise, daemon=True)
    supervisor.start()
    try:
        yield
    finally:
        stopping.set()
        supervisor.join()
        for each in running:
            each.terminate()
        for each in running:
            each.communicate()
        listener.close()


GRACE_S = 10  # for the requests in flight when stopped
BACKLOG = 128  # connections queued by the operating system until they are accepted


def serve_locally(
    app: ASGIApp,
    host: str,
    port: int,
    announce: Callable[[str], None],
    workers: int = 1,
    worker: Callable[[int], Sequence[str]] = lambda _: (),
    proxies: Sequence[str] = (),
) -> None:
    """Serve until SIGTERM or SIGINT, then finish the requests in flight and return. Port 0 takes any free port.

    `announce` receives the base URL once the port is open. Of `workers` processes this is the first; `worker` returns
    the command of the others, given the number of the open socket. `proxies` are addresses and networks that are
    believed whom they forward.
    """
    opened = _open(host, port)
    name = f"[{host}]" if ":" in host else host
    base = f"http://{name}:{opened.getsockname()[1]}"
    server = Server(app, lambda: announce(base), proxies=proxies)
    with opened, _signals_stop(server), processes(workers - 1, opened.dup(), worker):
        server.run(sockets=[opened])


def serve_on_socket(app: ASGIApp, number: int, proxies: Sequence[str] = ()) -> None:
    """Serve on an inherited socket, by its file descriptor, until stopped or until the parent process ends."""
    server = Server(app, lambda: None, proxies=proxies)

    def stop_with_parent() -> None:
        while os.read(0, 1_024):  # not through `sys.stdin`, which Python cannot close while a thread reads
            pass
        server.stop()

    threading.Thread(target=stop_with_parent, daemon=True).start()
    with socket.socket(fileno=number) as opened, _signals_stop(server):
        server.run(sockets=[opened])


class Server(uvicorn.Server):
    """uvicorn over bounded connections. `ready` is called once signals stop it and it accepts connections."""

    def __init__(
        self,
        app: ASGIApp,
        ready: Callable[[], None],
        connections: Connections | None = None,
        proxies: Sequence[str] = (),
    ) -> None:
        self._ready = ready
        self._connections = connections or Connections()
        super().__init__(
            uvicorn.Config(
                OneLength(app),
                http=partial(BoundedProtocol, connections=self._connections),  # type: ignore[arg-type]  # makes one
                log_config=None,
                access_log=False,
                lifespan="off",
                proxy_headers=bool(proxies),
                forwarded_allow_ips=list(proxies),  # or the environment would name them
                timeout_graceful_shutdown=GRACE_S,
                backlog=1,  # asyncio accepts as many at once, and complains as often when there are no files left
            )
        )
        AppStatus.enable_automatic_graceful_drain = False  # or event streams are cut off as soon as the signal comes

    def stop(self) -> None:
        """End the server after the requests in flight."""
        self.should_exit = True

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen, accept many connections at once, and call `ready`."""
        asyncio.get_running_loop().set_exception_handler(self._complain)
        await super().startup(sockets)
        for listener in sockets or []:
            listener.listen(BACKLOG)
        self._ready()

    def _complain(self, loop: asyncio.AbstractEventLoop, problem: dict[str, Any]) -> None:
        if isinstance(problem.get("exception"), OSError) and "accept" in problem["message"]:
            self._connections.warn("connections cannot be accepted: %s", problem["exception"].strerror)
        else:
            loop.default_exception_handler(problem)


def must_require_tokens(host: str, requires_tokens: bool) -> None:
    """Raise unless only this machine can connect or access tokens are required."""
    if not requires_tokens and not is_loopback(host):
        raise Misconfigured(f"{host} is not a loopback address and {NO_TOKENS}; or serve on 127.0.0.1")


def must_be_addresses(proxies: Sequence[str]) -> None:
    """Raise unless each is an address or a network of some: whoever is named is believed about who calls."""
    for each in proxies:
        try:
            named = ip_network(each).prefixlen
        except ValueError:
            named = 0
        if not named:
            raise Misconfigured(
                f"MCP_TRUSTED_PROXIES holds {each!r}; it takes addresses and networks of proxies, such as 127.0.0.1 or "
                "10.0.3.0/24"
            )


def _open(host: str, port: int) -> socket.socket:
    if not 0 <= port <= 65_535:
        raise Misconfigured(f"port {port} does not exist; take one from 0 (any) to 65535")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise Misconfigured(
                f"port {port} on {host} is taken, perhaps by another bio-mcp serve; stop that one or choose another "
                "port with --port or MCP_HTTP_PORT"
            ) from None
        raise Misconfigured(f"cannot listen on {host} port {port}: {error.strerror}") from None


@contextmanager
def _signals_stop(server: Server) -> Iterator[None]:
    """Stop `server` at a signal, also at one that comes before it runs.

    uvicorn raises the signal that stopped it again at its end; that is swallowed here, so that enclosing contexts are
    closed.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    before = {
        number: signal.signal(number, lambda _number, _frame: server.stop())
        for number in (signal.SIGTERM, signal.SIGINT)
    }
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)

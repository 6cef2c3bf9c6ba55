"""Serves an ASGI application on this machine until it is stopped."""

import asyncio
import errno
import signal
import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import uvicorn
from sse_starlette.sse import AppStatus
from starlette.types import ASGIApp

from bio_mcp.doors.auth.bearer import NO_TOKENS
from bio_mcp.doors.connections import BoundedProtocol, Connections
from bio_mcp.doors.loopback import is_loopback
from bio_mcp.doors.processes import Processes, when_parent_ends
from bio_mcp.errors import Misconfigured

GRACE_S = 10  # for the requests in flight when stopped
BACKLOG = 128  # connections queued by the operating system until they are accepted


def serve_locally(
    app: ASGIApp,
    host: str,
    port: int,
    announce: Callable[[str], None],
    *,
    requires_tokens: bool = False,
    workers: int = 1,
    worker: Callable[[int], Sequence[str]] = lambda _: (),
) -> None:
    """Serve until SIGTERM or SIGINT, then finish the requests in flight and return. Port 0 takes any free port.

    `announce` receives the base URL once the port is open. `requires_tokens`: `app` accepts only access tokens. Of
    `workers` processes this is the first; `worker` returns the command of the others, given the number of the open
    socket.
    """
    must_require_tokens(host, requires_tokens)
    opened = _open(host, port)
    name = f"[{host}]" if ":" in host else host
    base = f"http://{name}:{opened.getsockname()[1]}"
    server = Server(app, lambda: announce(base))
    with opened, _signals_stop(server), Processes(workers - 1, opened.dup(), worker):
        server.run(sockets=[opened])


def serve_on_socket(app: ASGIApp, number: int) -> None:
    """Serve on an inherited socket, by its file descriptor, until stopped or until the parent process ends."""
    server = Server(app, lambda: None)
    when_parent_ends(server.stop)
    with socket.socket(fileno=number) as opened, _signals_stop(server):
        server.run(sockets=[opened])


class Server(uvicorn.Server):
    """uvicorn over bounded connections. `ready` is called once signals stop it and it accepts connections."""

    def __init__(self, app: ASGIApp, ready: Callable[[], None], connections: Connections | None = None) -> None:
        self._ready = ready
        self._connections = connections or Connections()
        super().__init__(
            uvicorn.Config(
                app,
                http=partial(BoundedProtocol, connections=self._connections),  # type: ignore[arg-type]  # makes one
                log_config=None,
                access_log=False,
                lifespan="off",
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
            self._connections.warnings.warn("connections cannot be accepted: %s", problem["exception"].strerror)
        else:
            loop.default_exception_handler(problem)


def must_require_tokens(host: str, requires_tokens: bool) -> None:
    """Raise unless only this machine can connect or access tokens are required."""
    if not requires_tokens and not is_loopback(host):
        raise Misconfigured(f"{host} is not a loopback address and {NO_TOKENS}; or serve on 127.0.0.1")


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

"""What handlers of forms have in common: small bodies, so many a minute, and failures that are answered as such."""

import logging
from collections.abc import Awaitable, Callable

from mcp.server.transport_security import RequestBodyLimitMiddleware
from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from bio_mcp.doors.auth.bearer import too_many, unavailable
from bio_mcp.doors.auth.rate import RateLimiter, network_of
from bio_mcp.errors import Failure

MAX_BODY = 32 << 10  # bytes
MAX_FIELDS = 40
Handler = Callable[[Request], Awaitable[Response]]

log = logging.getLogger(__name__)


class Answering:
    """`handler` as an ASGI application that answers 503 while the store or a key cannot be read."""

    def __init__(self, handler: Handler) -> None:
        self._handler = handler

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        try:
            response = await self._handler(request)
        except Failure as failure:
            log.error("a request to sign in or to connect failed: %s", failure)
            response = unavailable("this is not possible at the moment; try again later", retry_after_s=5)
        await response(scope, receive, send)


class Limited:
    """Passes as many requests of each address on to `app` as `rate` allows; answers 429 to more."""

    def __init__(self, app: ASGIApp, rate: RateLimiter) -> None:
        self._app = app
        self._rate = rate

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        address, _ = scope.get("client") or ("", 0)
        wait_s = self._rate.wait_s(network_of(address))
        await (too_many(wait_s) if wait_s else self._app)(scope, receive, send)


def guarded(handler: Handler, rate: RateLimiter) -> ASGIApp:
    """`handler` behind limits of its requests' number and length."""
    return Limited(RequestBodyLimitMiddleware(Answering(handler), MAX_BODY), rate)


async def read_form(request: Request) -> FormData:
    """The form that was sent. One with a file is answered 400: none of ours has one."""
    return await request.form(max_files=0, max_fields=MAX_FIELDS)


def field(form: FormData, name: str) -> str:
    """A field of a form; "" for a missing one."""
    value = form.get(name)
    return value if isinstance(value, str) else ""

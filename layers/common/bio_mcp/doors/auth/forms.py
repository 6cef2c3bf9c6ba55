"""What handlers of forms have in common: small bodies, and failures that are answered as such."""

import logging
from collections.abc import Awaitable, Callable

from mcp.server.transport_security import RequestBodyLimitMiddleware
from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from bio_mcp.doors.auth.bearer import unavailable
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


def guarded(handler: Handler) -> ASGIApp:
    """`handler` behind a limit of its requests' length."""
    return RequestBodyLimitMiddleware(Answering(handler), MAX_BODY)


async def read_form(request: Request) -> FormData:
    """The form that was sent. One with a file is answered 400: none of ours has one."""
    return await request.form(max_files=0, max_fields=MAX_FIELDS)


def field(form: FormData, name: str) -> str:
    """A field of a form; "" for a missing one."""
    value = form.get(name)
    return value if isinstance(value, str) else ""

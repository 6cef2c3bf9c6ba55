"""The pages by which people sign in and out: small forms, and failures that are answered as such."""

import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from types import MappingProxyType
from typing import Any
from urllib.parse import parse_qs, urlsplit

from anyio.to_thread import run_sync
from mcp.server.transport_security import RequestBodyLimitMiddleware
from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route
from starlette.types import Receive, Scope, Send

from bio_mcp.callers import MEANING, SCOPES
from bio_mcp.doors.auth.bearer import RateLimiter, network_of, too_many, unavailable
from bio_mcp.doors.auth.sessions import SIGN_IN, People, Sessions, is_same_origin, safe_next
from bio_mcp.doors.auth.tokens import KEY
from bio_mcp.doors.console.rendering import POLICY, PRIVATE, render
from bio_mcp.errors import Failure

IN_A_POPUP: Mapping[str, str] = MappingProxyType({**PRIVATE, "cross-origin-opener-policy": "unsafe-none"})
"""A program's page may have opened ours in a window of its own, and waits for that to come back to it."""
LEADS_AWAY: Mapping[str, str] = MappingProxyType(
    {**IN_A_POPUP, "content-security-policy": POLICY.replace(" form-action 'self';", "")}
)
"""Browsers compare `form-action` with where the answer to a form leads too, which is the client's address."""


def page(
    request: Request,
    template: str,
    status: int = HTTPStatus.OK,
    *,
    headers: Mapping[str, str] = IN_A_POPUP,
    **values: Any,
) -> Response:
    """The page that `template` makes of `values`."""
    shell = {"menu": (), "path": request.url.path, "caller": request.scope.get(KEY)}
    return HTMLResponse(render(template, **shell, **values), status, headers)


def problem(request: Request, message: str, status: int = HTTPStatus.BAD_REQUEST) -> Response:
    """A page that says why it cannot be done."""
    return page(request, "failure.html", status, error={"message": message, "details": {}})


MAX_BODY = 32 << 10  # bytes
MAX_FIELDS = 40
Handler = Callable[[Request], Awaitable[Response]]

log = logging.getLogger(__name__)


class Guarded:
    """`handler` as an ASGI application with limits of its requests' length, and of their number by `rate`: more are
    answered 429, and all of them 503 while the store or a key cannot be read."""

    def __init__(self, handler: Handler, rate: RateLimiter) -> None:
        self._handler = handler
        self._rate = rate
        self._bounded = RequestBodyLimitMiddleware(self._answer, MAX_BODY)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        address, _ = scope.get("client") or ("", 0)
        wait_s = self._rate.wait_s(network_of(address))
        await (too_many(wait_s) if wait_s else self._bounded)(scope, receive, send)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            response = await self._handler(Request(scope, receive))
        except Failure as failure:
            log.error("a request to sign in or to connect failed: %s", failure)
            response = unavailable("this is not possible")
        await response(scope, receive, send)


async def read_form(request: Request) -> FormData:
    """The form that was sent. One with a file is answered 400: none of ours has one."""
    return await request.form(max_files=0, max_fields=MAX_FIELDS)


def field(form: FormData, name: str) -> str:
    """A field of a form; "" for a missing one."""
    value = form.get(name)
    return value if isinstance(value, str) else ""


SIGN_OUT = "/sign-out"
GONE = "This code was used already, is too old, or is not whole. Ask whoever runs this server for another."


def sign_in_routes(people: People, sessions: Sessions, rate: RateLimiter) -> list[BaseRoute]:
    """`/sign-in`, which only shows what a link is for, as programs that preview links open them too, and a form that
    uses it; and `/sign-out`."""
    pages = SignInPages(people, sessions)
    return [
        Route(SIGN_IN, Guarded(pages.show, rate), methods=["GET"]),
        Route(SIGN_IN, Guarded(pages.sign_in, rate), methods=["POST"]),
        Route(SIGN_OUT, Guarded(pages.sign_out, rate), methods=["POST"]),
    ]


@dataclass(frozen=True)
class SignInPages:
    """The handlers of these pages."""

    people: People
    sessions: Sessions

    async def show(self, request: Request) -> Response:
        """The form; for a link with a good code also whom it signs in."""
        code = code_in(request.query_params.get("code", ""))
        back = safe_next(request.query_params.get("next", "/"))
        return await self._page(request, code, back, GONE if code else "")

    async def sign_in(self, request: Request) -> Response:
        """Use the code up and begin a session."""
        form = await read_form(request)
        code, back = code_in(field(form, "code")), safe_next(field(form, "next"))
        if not is_same_origin(request.headers):
            return await self._page(request, "", back, "This form came from another site's page.", 403)
        caller = await run_sync(self.people.accept, code) if code else None
        if caller is None:
            return await self._page(request, "", back, GONE, 400)
        response = RedirectResponse(back, HTTPStatus.SEE_OTHER, {"cache-control": "no-store"})
        if before := request.cookies.get(self.sessions.cookie):
            await run_sync(self.sessions.end, before)
        await run_sync(self.sessions.begin, caller, response)
        log.info("signed in", extra={"subject": caller.subject})
        return response

    async def sign_out(self, request: Request) -> Response:
        """End the session."""
        response = RedirectResponse(SIGN_IN, HTTPStatus.SEE_OTHER, {"cache-control": "no-store"})
        secret = request.cookies.get(self.sessions.cookie, "")
        if secret and is_same_origin(request.headers):
            await run_sync(self.sessions.end, secret)
            self.sessions.forget(response)
        return response

    async def _page(self, request: Request, code: str, back: str, problem: str, status: int = 200) -> Response:
        person = await run_sync(self.people.invited, code) if code else None
        return page(
            request,
            "sign_in.html",
            status,
            person=person,
            may=[MEANING[scope] for scope in SCOPES if person and scope in person.scopes],
            code=code if person else "",
            next=back,
            problem="" if person else problem,
        )


def code_in(given: str) -> str:
    """The code in what somebody typed or pasted: the code itself, or the whole link."""
    text = given.strip()[:2_000]
    try:
        return parse_qs(urlsplit(text).query).get("code", [text])[0]
    except ValueError:
        return text

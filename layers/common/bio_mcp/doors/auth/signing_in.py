"""The pages on which people sign in, by a code that they were given, and out."""

import logging
from http import HTTPStatus
from urllib.parse import parse_qs, urlsplit

from anyio.to_thread import run_sync
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from bio_mcp.callers import MEANING, SCOPES
from bio_mcp.doors.auth.forms import field, guarded, read_form
from bio_mcp.doors.auth.pages import page
from bio_mcp.doors.auth.people import People
from bio_mcp.doors.auth.rate import RateLimiter
from bio_mcp.doors.auth.sessions import SIGN_IN, Sessions, is_same_origin, safe_next

SIGN_OUT = "/sign-out"
GONE = "This code was used already, is too old, or is not whole. Ask whoever runs this server for another."

log = logging.getLogger(__name__)


def routes(people: People, sessions: Sessions, rate: RateLimiter) -> list[BaseRoute]:
    """`/sign-in`, which only shows what a link is for, as programs that preview links open them too, and a form that
    uses it; and `/sign-out`."""
    pages = SignInPages(people, sessions)
    return [
        Route(SIGN_IN, guarded(pages.show, rate), methods=["GET"]),
        Route(SIGN_IN, guarded(pages.sign_in, rate), methods=["POST"]),
        Route(SIGN_OUT, guarded(pages.sign_out, rate), methods=["POST"]),
    ]


class SignInPages:
    """The handlers of these pages."""

    def __init__(self, people: People, sessions: Sessions) -> None:
        self._people = people
        self._sessions = sessions

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
        caller = await run_sync(self._people.accept, code) if code else None
        if caller is None:
            return await self._page(request, "", back, GONE, 400)
        response = RedirectResponse(back, HTTPStatus.SEE_OTHER, {"cache-control": "no-store"})
        if before := request.cookies.get(self._sessions.cookie):
            await run_sync(self._sessions.end, before)
        await run_sync(self._sessions.begin, caller, response)
        log.info("signed in", extra={"subject": caller.subject})
        return response

    async def sign_out(self, request: Request) -> Response:
        """End the session."""
        response = RedirectResponse(SIGN_IN, HTTPStatus.SEE_OTHER, {"cache-control": "no-store"})
        secret = request.cookies.get(self._sessions.cookie, "")
        if secret and is_same_origin(request.headers):
            await run_sync(self._sessions.end, secret)
            self._sessions.forget(response)
        return response

    async def _page(self, request: Request, code: str, back: str, problem: str, status: int = 200) -> Response:
        person = await run_sync(self._people.invited, code) if code else None
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

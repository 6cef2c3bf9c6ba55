"""The page People: what a person has open and what they have used, and for administrators everybody of their tenant."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from http import HTTPStatus
from typing import Any
from urllib.parse import urlencode

from anyio.to_thread import run_sync
from starlette.datastructures import FormData
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from bio_mcp.callers import MEANING, SCOPES, Caller, Scope, may
from bio_mcp.doors.auth.access import TOKEN, Access
from bio_mcp.doors.auth.bearer import RateLimiter
from bio_mcp.doors.auth.server import REQUESTS_A_MINUTE, Guarded, field, page, problem, read_form
from bio_mcp.doors.auth.sessions import (
    GRANT,
    INVITATION,
    LIFETIME,
    SESSION,
    CookieRequired,
    OwnForms,
    People,
    Sessions,
    hashed,
    sign_in_link,
)
from bio_mcp.doors.auth.tokens import KEY
from bio_mcp.doors.console.rendering import ADMIN, MENU, PRIVATE
from bio_mcp.doors.web import endpoint_of
from bio_mcp.errors import InvalidInput, StoreFailed
from bio_mcp.literature.clock import instant
from bio_mcp.ports.state import Allowance, Authorization, Authorizations
from bio_mcp.scope import UNITS, Limits

PATH = "/admin/people"
LINK_DAYS, TOKEN_DAYS = (1, 7, 30), (7, 30, 90, 365)  # for how long a link and a token may be good
LINK_FOR, TOKEN_FOR = 7, 30  # days, unless others are chosen
LONGEST_NAME = 64  # of a token
ID = 12  # characters of a key that name what is open
KINDS = {SESSION: "Browser", GRANT: "Program", TOKEN: "Token", INVITATION: "Link not used yet"}


@dataclass(frozen=True)
class PeoplePage:
    """The handlers of the page, which people reach who are signed in. An access token is not enough: a program that
    has one invites nobody and makes no other tokens."""

    access: Access
    people: People
    sessions: Sessions
    limits: Callable[[], Limits | None]

    async def show(self, request: Request) -> Response:
        """What is open in somebody's name: the reader's own or, to administrators, that of who is asked for."""
        person = self._person(request, request.query_params.get("subject", ""))
        if person is None:
            return page(request, "missing.html", HTTPStatus.NOT_FOUND, headers=PRIVATE)
        return await self._shown(request, person)

    async def change(self, request: Request) -> Response:
        """Do what a button of the page says. What it made is shown once, in the answer."""
        form, caller = await read_form(request), _caller(request)
        person = self._person(request, field(form, "subject"))
        wanted = field(form, "do")
        if wanted == "invite" and may(caller, "admin"):
            return await self._invite(request, form, caller)
        if person is None or wanted not in ("token", "end", "revoke"):
            return page(request, "missing.html", HTTPStatus.NOT_FOUND, headers=PRIVATE)
        if wanted == "token":
            return await self._give_token(request, form, caller)
        if wanted == "revoke":
            await run_sync(self.people.revoke, person)
        elif len(field(form, "id")) >= ID:
            await run_sync(self.people.end, person, field(form, "id"))
        own = person.subject == caller.subject
        address = PATH if own else f"{PATH}?{urlencode({'subject': person.subject})}"
        return RedirectResponse(address, HTTPStatus.SEE_OTHER, {"cache-control": "no-store"})

    def _person(self, request: Request, subject: str) -> Caller | None:
        """Whom the page is about; None where the reader may not see them. It is never somebody of another tenant."""
        caller = _caller(request)
        if subject in ("", caller.subject):
            return caller
        return Caller(subject, tenant=caller.tenant) if may(caller, "admin") else None

    async def _invite(self, request: Request, form: FormData, caller: Caller) -> Response:
        invited = Caller(field(form, "name").strip(), _scopes(form, caller), caller.tenant)
        days = _days(form, LINK_DAYS, LINK_FOR)
        if not invited.scopes:
            return problem(request, "Choose at least one thing that they may do.")
        try:
            code = await run_sync(self.people.invite, invited, timedelta(days=days))
        except InvalidInput:
            return problem(request, "A name is 1 to 64 letters, digits and . _ @ + -")
        link = sign_in_link(endpoint_of(request, self.access.resource), code)
        return await self._shown(request, caller, link=link, invited=invited.subject, days=days)

    async def _give_token(self, request: Request, form: FormData, caller: Caller) -> Response:
        name = " ".join(field(form, "name").split())
        holder = Caller(caller.subject, _scopes(form, caller), caller.tenant)
        if not self.access.signs_tokens or not 0 < len(name) <= LONGEST_NAME or not holder.scopes:
            return problem(request, "A token has a name of 1 to 64 characters, and at least one thing that it may do.")
        lifetime = timedelta(days=_days(form, TOKEN_DAYS, TOKEN_FOR))
        token, expiry = await run_sync(self.people.give_token, self.access, holder, name, lifetime)
        return await self._shown(request, caller, token=token, named=name, until=instant(expiry))

    async def _shown(self, request: Request, person: Caller, **made: Any) -> Response:
        """The page about a person, with what was `made` for it just now."""
        caller = _caller(request)
        here = hashed(request.cookies.get(self.sessions.cookie, ""))
        administers = may(caller, "admin")
        everyone = await run_sync(self.people.everyone) if administers else []
        opened = await run_sync(self.people.open_for, person)
        return page(
            request,
            "people.html",
            headers=PRIVATE,
            menu=MENU,
            admin=ADMIN,
            person=person,
            own=person.subject == caller.subject,
            administers=administers,
            everyone=[
                {"subject": each.subject, "may": [scope for scope in SCOPES if scope in each.scopes]}
                for each in everyone
                if each.tenant == caller.tenant
            ],
            open=[_row(kind, each, here) for kind in KINDS for each in opened[kind]],
            budgets=await run_sync(self._budgets, person),
            makes_tokens=self.access.signs_tokens,
            scopes=[(scope, MEANING[scope]) for scope in SCOPES if scope in caller.scopes],
            link_days=(LINK_DAYS, LINK_FOR),
            token_days=(TOKEN_DAYS, TOKEN_FOR),
            made=made,
        )

    def _budgets(self, person: Caller) -> list[dict[str, Any]] | None:
        """What was used today of each budget; None where that cannot be read."""
        try:
            limits = self.limits()
            return [_used(each) for each in limits.today(person)] if limits else []
        except StoreFailed:
            return None


def _caller(request: Request) -> Caller:
    """Who is signed in."""
    caller: Caller = request.scope[KEY]
    return caller


def _scopes(form: FormData, caller: Caller) -> frozenset[Scope]:
    """The scopes that are ticked, of those that the caller has."""
    return frozenset(scope for scope in SCOPES if scope in caller.scopes and scope in form.getlist("scope"))


def _days(form: FormData, choices: tuple[int, ...], default: int) -> int:
    """The days that are chosen."""
    given = field(form, "days")
    return int(given) if given in map(str, choices) else default


def _row(kind: str, found: Authorization, here: str) -> dict[str, Any]:
    """What the page shows of something that is open; `here` is the key of the session that asks."""
    content: Mapping[str, Any] = found.content
    since = content.get("at") or (instant(found.expires - LIFETIME) if kind == SESSION else "")
    return {
        "id": found.key[:ID],
        "kind": KINDS[kind],
        "name": content.get("client") or content.get("name") or "",
        "here": kind == SESSION and found.key == here,
        "may": [scope for scope in SCOPES if scope in content["scopes"]],
        "since": since,
        "until": instant(found.expires),
    }


def _used(left: Allowance) -> dict[str, Any]:
    charge = left.charge
    return {
        "whose": "tenant" if charge.account.startswith("tenant:") else "own",
        "what": UNITS[charge.unit][1].removesuffix(" a day"),
        "used": charge.most - left.left,
        "most": charge.most,
    }


def routes(
    access: Access | None,
    sessions: Sessions,
    authorizations: Callable[[], Authorizations],
    limits: Callable[[], Limits | None],
) -> list[BaseRoute]:
    """The page wherever people sign in. It comes before the console's, which says that nobody does."""
    if access is None:
        return []
    shown = PeoplePage(access, People(authorizations), sessions, limits)
    rate = RateLimiter(REQUESTS_A_MINUTE)
    behind = [Middleware(OwnForms), Middleware(partial(CookieRequired, sessions=sessions))]
    handlers = {"GET": shown.show, "POST": shown.change}
    return [Route(PATH, Guarded(each, rate), methods=[method], middleware=behind) for method, each in handlers.items()]

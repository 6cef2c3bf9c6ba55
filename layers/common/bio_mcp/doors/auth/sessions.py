"""People: who they are, their sessions by a cookie, and the middleware that lets them in."""

import hashlib
import hmac
import logging
import re
import secrets
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from urllib.parse import quote, urlsplit

import anyio.to_thread
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from bio_mcp.callers import SCOPES, Caller
from bio_mcp.doors.auth.access import TOKEN, Access
from bio_mcp.doors.auth.bearer import TokenRequired, unavailable
from bio_mcp.doors.auth.tokens import KEY
from bio_mcp.errors import Failure, InvalidInput
from bio_mcp.literature.clock import utc_now
from bio_mcp.ports.state import Authorization, Authorizations


def new_secret() -> str:
    """A secret of 256 random bits, in characters of URLs."""
    return secrets.token_urlsafe(32)


def hashed(secret: str) -> str:
    """What is stored of a secret. It is random, so that no slow hash is needed."""
    return hashlib.sha256(secret.encode(errors="replace")).hexdigest()


def owner_of(caller: Caller) -> str:
    """The owner of a person's sessions, invitations and grants, by tenant and subject."""
    return f"person:{len(caller.tenant)}:{caller.tenant}:{caller.subject}"


def derived(secret: str, purpose: str) -> bytes:
    """A key for one purpose, from the secret that signs access tokens: what one signs is nothing to another."""
    return hmac.digest(secret.encode(), f"bio-mcp: {purpose}".encode(), "sha256")


SIGN_IN = "/sign-in"
SESSION = "session"
LIFETIME = timedelta(days=14)
READING = ("GET", "HEAD")

log = logging.getLogger(__name__)


class Sessions:
    """Sessions of people, each named by a secret in a cookie, of which the store has the hash.

    `https` is whether browsers reach this server by https: the cookie is then sent by https alone.
    """

    def __init__(self, authorizations: Callable[[], Authorizations], *, https: bool) -> None:
        self._authorizations = authorizations
        self._https = https
        self.cookie = "__Host-bio-mcp" if https else "bio-mcp"

    def begin(self, caller: Caller, response: Response) -> None:
        """Sign the caller in, by a cookie of `response`."""
        secret = new_secret()
        self._authorizations().put(naming(caller, SESSION, hashed(secret), owner_of(caller), utc_now() + LIFETIME))
        seconds = int(LIFETIME.total_seconds())
        response.set_cookie(self.cookie, secret, seconds, secure=self._https, httponly=True, samesite="lax")

    def caller(self, secret: str) -> Caller | None:
        """The caller whom a cookie signs in; None if its session has ended."""
        found = self._authorizations().get(SESSION, hashed(secret))
        return caller_in(found) if found else None

    def end(self, secret: str) -> None:
        """End the session of a cookie, if there is one."""
        self._authorizations().take(SESSION, hashed(secret))

    def forget(self, response: Response) -> None:
        """Have the browser forget the cookie."""
        response.delete_cookie(self.cookie, secure=self._https, httponly=True, samesite="lax")


def naming(caller: Caller, kind: str, key: str, owner: str, ends: datetime) -> Authorization:
    """What `caller_in` reads the caller of."""
    content = {"subject": caller.subject, "scopes": sorted(caller.scopes), "tenant": caller.tenant}
    return Authorization(kind, key, owner, ends, content)


def caller_in(authorization: Authorization) -> Caller:
    """The caller whom a session, an invitation or a grant names. Scopes that this version does not know are left
    out."""
    content = authorization.content
    return Caller(content["subject"], frozenset(SCOPES) & frozenset(content["scopes"]), content["tenant"])


class SignedIn:
    """Passes requests of people who are signed in, and of holders of an access token, on to `app`, with their `Caller`.

    Without `access` there are no tokens and everybody may come in, who is this machine alone. Callers who may not read
    are answered 403.
    """

    def __init__(self, app: ASGIApp, access: Access | None, sessions: Sessions) -> None:
        self._app = app
        self._by_token = TokenRequired(self._read, access) if access else None
        public = access is not None and access.public_read
        self._by_cookie = CookieRequired(self._read, sessions, self._by_token if public else None)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._by_token is None:
            await self._app(scope, receive, send)
        elif "authorization" in Headers(scope=scope):
            await self._by_token(scope, receive, send)
        else:
            await self._by_cookie(scope, receive, send)

    async def _read(self, scope: Scope, receive: Receive, send: Send) -> None:
        refusal = PlainTextResponse("this page needs the scope read; ask whoever runs this server", 403)
        await (self._app if "read" in scope[KEY].scopes else refusal)(scope, receive, send)


@dataclass(frozen=True)
class CookieRequired:
    """Passes requests of people who are signed in on to `app`, with their `Caller`; a token is not enough.

    Browsers without a cookie are sent to the sign-in page, or to the application `otherwise`.
    """

    app: ASGIApp
    sessions: Sessions
    otherwise: ASGIApp | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope)
        secret = request.cookies.get(self.sessions.cookie, "")
        try:
            caller = await anyio.to_thread.run_sync(self.sessions.caller, secret) if secret else None
        except Failure as failure:
            log.error("sessions cannot be checked: %s", failure)
            await unavailable("sign-ins cannot be checked")(scope, receive, send)
            return
        if caller is None:
            await (self.otherwise or to_sign_in(request))(scope, receive, send)
        else:
            await self.app({**scope, KEY: caller}, receive, send)


@dataclass(frozen=True)
class OwnForms:
    """Passes requests on to `app`; those that change something only where a browser says that a form or script of this
    very site sent them. An allowed origin is another site."""

    app: ASGIApp

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers, answer = Headers(scope=scope), self.app
        site = headers.get("sec-fetch-site")
        own = site == "same-origin" if site else urlsplit(headers.get("origin", "")).netloc == headers.get("host")
        if scope["method"] not in READING and not own:
            answer = PlainTextResponse("this form came from another site's page", 403, {"cache-control": "no-store"})
        await answer(scope, receive, send)


def to_sign_in(request: Request) -> Response:
    """Send a browser to the sign-in page, from where it comes back here; 401 to what cannot go there."""
    back = request.url.path + (f"?{request.url.query}" if request.url.query else "")
    page = f"{SIGN_IN}?next={quote(back, safe='/')}"
    if request.method in READING and "hx-request" not in request.headers:
        return RedirectResponse(page, 303, {"cache-control": "no-store"})
    return PlainTextResponse("sign in first", 401, {"hx-redirect": SIGN_IN, "cache-control": "no-store"})


def sign_in_link(endpoint: str, code: str) -> str:
    """The link that signs in whoever has the code of an invitation, at the server of this endpoint."""
    parts = urlsplit(endpoint)
    return f"{parts.scheme}://{parts.netloc}{SIGN_IN}?code={code}"


def safe_next(path: str) -> str:
    """`path` if it is one of this site's, else "/": a sign-in leads to no other site."""
    own = path.startswith("/") and not path.startswith("//") and path.isprintable() and "\\" not in path
    return path if own else "/"


INVITATION, PERSON, GRANT = "invitation", "person", "grant"
OPEN = (INVITATION, SESSION, GRANT, TOKEN)
PEOPLE = "people"
REMEMBERED = timedelta(days=400)  # longer than any grant
NAME = re.compile(r"[\w.@+-]{1,64}")


@dataclass(frozen=True)
class People:
    """People by tenant and subject. Every method may raise `StoreFailed`."""

    authorizations: Callable[[], Authorizations]

    def invite(self, person: Caller, lifetime: timedelta) -> str:
        """A code that signs the person in, once, within `lifetime`. Raises `InvalidInput` for an unfit name."""
        if not NAME.fullmatch(person.subject) or not (NAME.fullmatch(person.tenant) or not person.tenant):
            raise InvalidInput("a subject and a tenant are 1 to 64 letters, digits and . _ @ + -")
        if not person.scopes:
            raise InvalidInput("an invitation needs a scope: --scopes")
        code = new_secret()
        store, owner = self.authorizations(), owner_of(person)
        store.put(naming(person, PERSON, owner, PEOPLE, utc_now() + REMEMBERED))
        store.put(naming(person, INVITATION, hashed(code), owner, utc_now() + lifetime))
        return code

    def invited(self, code: str) -> Caller | None:
        """Whom the code signs in; None for one that is used, too old or none."""
        found = self.authorizations().get(INVITATION, hashed(code))
        return caller_in(found) if found else None

    def accept(self, code: str) -> Caller | None:
        """Whom the code signs in, and use it up."""
        found = self.authorizations().take(INVITATION, hashed(code))
        return caller_in(found) if found else None

    def give_token(self, access: Access, person: Caller, name: str, lifetime: timedelta) -> tuple[str, datetime]:
        """An access token in the person's name, with their scopes, and its expiry; it is good until it is ended.

        `name` is what the person knows it by. Raises as `Access.issue` does.
        """
        token_id, now = new_secret(), utc_now()
        token, expiry = access.issue(person, lifetime, now, token_id)
        holder = access.permitted(replace(person, scopes=person.scopes.union(access.scopes)))
        store, owner = self.authorizations(), owner_of(person)
        known = store.get(PERSON, owner) or naming(holder, PERSON, owner, PEOPLE, expiry)
        store.put(replace(known, expires=now + REMEMBERED))
        listed = naming(holder, TOKEN, token_id, owner, expiry)
        named = {**listed.content, "name": name, "at": now.isoformat(timespec="seconds")}
        store.put(replace(listed, content=named))
        return token, expiry

    def everyone(self) -> list[Caller]:
        """Who was invited or has a token, with what the last invitation or else the first token allowed, by tenant and
        subject."""
        found = [caller_in(each) for each in self.authorizations().of(PERSON, PEOPLE)]
        return sorted(found, key=lambda each: (each.tenant, each.subject))

    def open_for(self, person: Caller) -> dict[str, list[Authorization]]:
        """The invitations, sessions, grants and listed tokens of a person, by kind."""
        owner = owner_of(person)
        return {kind: self.authorizations().of(kind, owner) for kind in OPEN}

    def end(self, person: Caller, beginning: str) -> int:
        """End those of them whose key begins so; returns how many there were."""
        every = [each for found in self.open_for(person).values() for each in found]
        ended = [each for each in every if each.key.startswith(beginning)]
        for each in ended:
            self.authorizations().take(each.kind, each.key)
            self.authorizations().revoke(each.key)  # the codes and refresh tokens of a grant
        return len(ended)

    def revoke(self, person: Caller) -> int:
        """End all of them; returns how many there were. Access tokens end with their time, a quarter of an hour."""
        self.authorizations().take(PERSON, owner_of(person))
        return self.authorizations().revoke(owner_of(person))

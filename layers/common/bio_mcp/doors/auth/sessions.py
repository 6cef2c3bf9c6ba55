"""People who are signed in, by a cookie, and the middleware that lets them and the holders of access tokens in."""

import logging
from collections.abc import Callable
from datetime import datetime, timedelta
from urllib.parse import quote, urlsplit

import anyio.to_thread
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Send
from starlette.types import Scope as AsgiScope

from bio_mcp.callers import SCOPES, Caller, Scope
from bio_mcp.doors.auth.access import Access
from bio_mcp.doors.auth.bearer import TokenRequired, unavailable
from bio_mcp.doors.auth.permissions import KEY
from bio_mcp.doors.auth.secrets import hashed, new_secret, owner_of
from bio_mcp.errors import Failure
from bio_mcp.literature.clock import utc_now
from bio_mcp.ports.authorizations import Authorization, Authorizations

SIGN_IN = "/sign-in"
SESSION = "session"
LIFETIME = timedelta(days=14)
READING = ("GET", "HEAD")

log = logging.getLogger(__name__)


class Sessions:
    """Sessions of people, each named by a secret in a cookie, of which the store has the hash.

    `https` is whether browsers reach this server by https: the cookie is then sent by https alone.
    """

    def __init__(
        self, authorizations: Callable[[], Authorizations], *, https: bool, now: Callable[[], datetime] = utc_now
    ) -> None:
        self._authorizations = authorizations
        self._https = https
        self._now = now
        self.cookie = "__Host-bio-mcp" if https else "bio-mcp"

    def begin(self, caller: Caller, response: Response) -> None:
        """Sign the caller in, by a cookie of `response`."""
        secret = new_secret()
        content = {"subject": caller.subject, "scopes": sorted(caller.scopes), "tenant": caller.tenant}
        ends = self._now() + LIFETIME
        self._authorizations().put(Authorization(SESSION, hashed(secret), owner_of(caller), ends, content))
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


def caller_in(authorization: Authorization) -> Caller:
    """The caller whom a session, an invitation or a grant names. Scopes that this version does not know are left
    out."""
    content = authorization.content
    return Caller(content["subject"], frozenset(SCOPES) & frozenset(content["scopes"]), content["tenant"])


class SignedIn:
    """Passes requests of people who are signed in, and of holders of an access token, on to `app`, with their `Caller`.

    Without `access` there are no tokens and everybody may come in, who is this machine alone. A caller needs the scope
    `needs`, which everybody has where all may read.
    """

    def __init__(self, app: ASGIApp, access: Access | None, sessions: Sessions, needs: Scope = "read") -> None:
        self._app = app
        self._by_token = TokenRequired(Scoped(app, needs), access) if access else None
        public = access is not None and access.public_read and needs == "read"
        self._by_cookie = CookieRequired(Scoped(app, needs), sessions, self._by_token if public else None)

    async def __call__(self, scope: AsgiScope, receive: Receive, send: Send) -> None:
        if self._by_token is None:
            await self._app(scope, receive, send)
        elif "authorization" in Headers(scope=scope):
            await self._by_token(scope, receive, send)
        else:
            await self._by_cookie(scope, receive, send)


class CookieRequired:
    """Passes requests of people who are signed in on to `app`, with their `Caller`; a token is not enough.

    A cookie changes nothing from another site's page. Browsers without a cookie are sent to the sign-in page, or to the
    application `otherwise`.
    """

    def __init__(self, app: ASGIApp, sessions: Sessions, otherwise: ASGIApp | None = None) -> None:
        self._app = app
        self._sessions = sessions
        self._otherwise = otherwise

    async def __call__(self, scope: AsgiScope, receive: Receive, send: Send) -> None:
        request = Request(scope)
        secret = request.cookies.get(self._sessions.cookie, "")
        try:
            caller = await anyio.to_thread.run_sync(self._sessions.caller, secret) if secret else None
        except Failure as failure:
            log.error("sessions cannot be checked: %s", failure)
            refusal: ASGIApp = unavailable("sign-ins cannot be checked at the moment; try again later", retry_after_s=5)
            await refusal(scope, receive, send)
            return
        if caller is None:
            await (self._otherwise or to_sign_in(request))(scope, receive, send)
        elif request.method not in READING and not is_same_origin(request.headers):
            await PlainTextResponse("this form came from another site's page", 403)(scope, receive, send)
        else:
            await self._app({**scope, KEY: caller}, receive, send)


class Scoped:
    """Passes requests of callers with the scope `needs` on to `app`; answers 403 to others."""

    def __init__(self, app: ASGIApp, needs: Scope) -> None:
        self._app = app
        self._needs = needs

    async def __call__(self, scope: AsgiScope, receive: Receive, send: Send) -> None:
        refusal = PlainTextResponse(f"this page needs the scope {self._needs}; ask whoever runs this server", 403)
        await (self._app if self._needs in scope[KEY].scopes else refusal)(scope, receive, send)


def is_same_origin(headers: Headers) -> bool:
    """Whether a browser says that a form or script of this very site sent the request: an allowed origin is another."""
    if site := headers.get("sec-fetch-site"):
        return site == "same-origin"
    return urlsplit(headers.get("origin", "")).netloc == headers.get("host")


def to_sign_in(request: Request) -> Response:
    """Send a browser to the sign-in page, from where it comes back here; 401 to what cannot go there."""
    back = request.url.path + (f"?{request.url.query}" if request.url.query else "")
    page = f"{SIGN_IN}?next={quote(back, safe='/')}"
    if request.method in READING and "hx-request" not in request.headers:
        return RedirectResponse(page, 303, {"cache-control": "no-store"})
    return PlainTextResponse("sign in first", 401, {"hx-redirect": SIGN_IN, "cache-control": "no-store"})


def safe_next(path: str) -> str:
    """`path` if it is one of this site's, else "/": a sign-in leads to no other site."""
    own = path.startswith("/") and not path.startswith("//") and path.isprintable() and "\\" not in path
    return path if own else "/"

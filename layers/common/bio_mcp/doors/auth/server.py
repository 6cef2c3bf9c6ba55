"""An authorization server for one team (OAuth 2.1), over the port `Authorizations` and the MCP SDK's handlers; and the
pages by which people sign in and out: small forms, and failures that are answered as such."""

import hmac
import json
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from http import HTTPStatus
from types import MappingProxyType
from typing import Any
from urllib.parse import parse_qs, urlsplit

from anyio.to_thread import run_sync
from mcp.server.auth.handlers.authorize import AuthorizationHandler
from mcp.server.auth.handlers.register import RegistrationHandler
from mcp.server.auth.handlers.token import TokenHandler
from mcp.server.auth.middleware.client_auth import AuthenticationError, ClientAuthenticator
from mcp.server.auth.provider import AuthorizationParams, construct_redirect_uri
from mcp.server.auth.settings import ClientRegistrationOptions
from mcp.server.transport_security import RequestBodyLimitMiddleware
from mcp.shared.auth import JWT_BEARER_GRANT_TYPE, OAuthMetadata
from starlette.datastructures import FormData
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route
from starlette.types import Receive, Scope, Send

from bio_mcp.callers import MEANING, SCOPES, Caller
from bio_mcp.doors.auth.access import Access
from bio_mcp.doors.auth.assertions import PROFILE
from bio_mcp.doors.auth.bearer import RateLimiter, network_of, published, refused, too_many, unavailable
from bio_mcp.doors.auth.clients import CONFIDENTIAL, PUBLIC, Client, described, host_of, is_address
from bio_mcp.doors.auth.grants import CONSENT, Provider
from bio_mcp.doors.auth.sessions import SIGN_IN, CookieRequired, OwnForms, People, Sessions, derived, safe_next
from bio_mcp.doors.auth.tokens import KEY
from bio_mcp.doors.console.rendering import POLICY, PRIVATE, render
from bio_mcp.errors import Failure
from bio_mcp.ports.state import Authorizations

log = logging.getLogger(__name__)

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
    shell = {"menu": (), "admin": (), "path": request.url.path, "caller": request.scope.get(KEY)}
    return HTMLResponse(render(template, **{**shell, **values}), status, headers)


def problem(request: Request, message: str, status: int = HTTPStatus.BAD_REQUEST) -> Response:
    """A page that says why it cannot be done."""
    return page(request, "failure.html", status, error={"message": message, "details": {}})


MAX_BODY = 32 << 10  # bytes
MAX_FIELDS = 40
Handler = Callable[[Request], Awaitable[Response]]


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


@dataclass(frozen=True)
class SignInPages:
    """The handlers of `/sign-in`, which only shows what a link is for, as programs that preview links open them too,
    and a form that uses it; and of `/sign-out`."""

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
        if secret:
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


TOO_OLD = "This request is too old, or not whole. Go back to the program that sent you here, and connect again."
FORGED = "This form came from elsewhere. Go back to the program that sent you here, and connect again."
NO_SCOPE = "Nothing was chosen that the program may do, so nothing was allowed."


@dataclass(frozen=True)
class Asked:
    """What is decided: which client, its request, sealed and open, and the scopes that the person could allow it."""

    client: Client
    sealed: str
    params: AuthorizationParams
    scopes: list[str]


@dataclass(frozen=True)
class ConsentPage:
    """The handlers of the page; `cookie` is the name of the session's. They are reached by people who are signed in."""

    provider: Provider
    cookie: str

    async def show(self, request: Request) -> Response:
        """Say who asks for what, and where an answer goes."""
        asked = await self._asked(request, request.query_params.get("request", ""))
        return self._page(request, asked) if asked else problem(request, TOO_OLD)

    async def decide(self, request: Request) -> Response:
        """Send the person back to the client, with a code or the refusal."""
        form = await read_form(request)
        asked = await self._asked(request, field(form, "request"))
        if asked is None:
            return problem(request, TOO_OLD)
        if not hmac.compare_digest(self._token(request, asked).encode(), field(form, "token").encode()):
            return problem(request, FORGED, HTTPStatus.FORBIDDEN)
        if field(form, "decision") != "allow":
            return self._back(asked, error="access_denied")
        return await self._allow(request, asked, form)

    async def _allow(self, request: Request, asked: Asked, form: FormData) -> Response:
        chosen = [scope for scope in asked.scopes if scope in form.getlist("scope")]
        if not chosen:
            return problem(request, NO_SCOPE)
        caller: Caller = request.scope[KEY]
        params = asked.params.model_copy(update={"scopes": chosen})
        log.info("allowed %s: %s", asked.client.shown, " ".join(chosen), extra={"subject": caller.subject})
        return self._back(asked, code=await run_sync(self.provider.allow, caller, asked.client, params))

    async def _asked(self, request: Request, sealed: str) -> Asked | None:
        opened = self.provider.opened(sealed)
        client = await self.provider.get_client(opened[0]) if opened else None
        if opened is None or client is None:
            return None
        _, params = opened
        caller: Caller = request.scope[KEY]
        wanted = params.scopes or SCOPES
        return Asked(client, sealed, params, [each for each in SCOPES if each in wanted and each in caller.scopes])

    def _back(self, asked: Asked, **answer: str) -> Response:
        """To the client, with whose answer it is (RFC 9207)."""
        issuer = self.provider.access.issuer
        to = construct_redirect_uri(str(asked.params.redirect_uri), **answer, state=asked.params.state, iss=issuer)
        headers = {"cache-control": "no-store", "referrer-policy": "no-referrer"}
        return RedirectResponse(to, HTTPStatus.SEE_OTHER, headers)

    def _token(self, request: Request, asked: Asked) -> str:
        """What only a form that this session was shown for this request holds."""
        about = f"{request.cookies.get(self.cookie, '')} {asked.sealed}"
        key = derived(self.provider.access.tokens.keys.get()[0].value, "forms")
        return hmac.digest(key, about.encode(errors="replace"), "sha256").hex()

    def _page(self, request: Request, asked: Asked) -> Response:
        return page(
            request,
            "consent.html",
            headers=LEADS_AWAY,
            name=asked.client.shown,
            address=asked.client.client_id if is_address(asked.client.client_id) else "",
            back=host_of(asked.params.redirect_uri),
            local=asked.params.redirect_uri.scheme != "https",
            scopes=[(scope, MEANING[scope]) for scope in SCOPES if scope in asked.scopes],
            sealed=asked.sealed,
            token=self._token(request, asked),
        )


NOT_STORED = {"cache-control": "no-store", "pragma": "no-cache"}


class Endpoints:
    """Handlers of `/authorize`, `/token` and `/revoke`.

    `asked` is asked for clients where a person is signed in, `known` elsewhere: it fetches nothing.
    """

    def __init__(self, asked: Provider, known: Provider) -> None:
        self._authorization = AuthorizationHandler(asked)
        self._authenticator = ClientAuthenticator(known)
        self._token = TokenHandler(known, self._authenticator, known.access.identity_provider is not None)
        self._known = known

    async def authorize(self, request: Request) -> Response:
        """To the page that asks the person; what is wrong with a request is told to its client where that is safe, and
        to the person where it is not."""
        parameters = request.query_params
        if len(parameters.multi_items()) != len(parameters):  # RFC 6749, 3.1
            return problem(request, "A parameter of this request is given twice.")
        response = await self._authorization.handle(request)
        if location := response.headers.get("location"):
            if not location.startswith(f"{CONSENT}?"):
                response.headers["location"] = construct_redirect_uri(location, iss=self._known.access.issuer)
            return response
        reason = json.loads(bytes(response.body)).get("error_description") or ""
        return problem(request, f"The program that sent you here made a request that is not answered: {reason}")

    async def token(self, request: Request) -> Response:
        """Tokens for a code, a refresh token or an assertion of the identity provider."""
        form = await read_form(request)
        if len(form.multi_items()) != len(form):
            return refused(400, "invalid_request", "a parameter is given twice", NOT_STORED)
        if not self._known.is_for_us(field(form, "resource")):
            return refused(400, "invalid_target", "resource is not this server's", NOT_STORED)
        response: Response = await self._token.handle(request)
        return response

    async def revoke(self, request: Request) -> Response:
        """End the grant of a refresh or access token (RFC 7009). What is none of the client's is answered alike."""
        form = await read_form(request)
        try:
            client = await self._authenticator.authenticate_request(request)
        except AuthenticationError as error:
            return refused(401, "invalid_client", error.message, NOT_STORED)
        token = field(form, "token")
        if not token:
            return refused(400, "invalid_request", "token is missing", NOT_STORED)
        found = await self._known.load_refresh_token(client, token) or await self._known.load_access_token(token)
        if found and found.client_id == client.client_id:
            await self._known.revoke_token(found)
        return Response(None, 200, NOT_STORED)


WELL_KNOWN = "/.well-known/oauth-authorization-server"  # RFC 8414, 3
AUTHORIZE, TOKEN, REGISTER, REVOKE = "/authorize", "/token", "/register", "/revoke"
METHODS = [PUBLIC, CONFIDENTIAL]


REQUESTS_A_MINUTE = 300  # of an address, in each process


def routes(
    access: Access | None,
    sessions: Sessions,
    authorizations: Callable[[], Authorizations],
    read_document: Callable[[str], bytes],
) -> list[BaseRoute]:
    """Sign-in and sign-out wherever there are access tokens, and the authorization server wherever it is the issuer.

    They come before the console's routes, the last of which takes every path. `read_document` fetches a client's
    description of itself, which is done only for people who are signed in.
    """
    if access is None:
        return []
    rate = RateLimiter(REQUESTS_A_MINUTE)

    def route(path: str, handler: Handler, method: str, middleware: Sequence[Middleware] = ()) -> Route:
        return Route(path, Guarded(handler, rate), methods=[method], middleware=middleware)

    signing, own = SignInPages(People(authorizations), sessions), [Middleware(OwnForms)]
    pages: list[BaseRoute] = [
        route(SIGN_IN, signing.show, "GET"),
        route(SIGN_IN, signing.sign_in, "POST", own),
        route(SIGN_OUT, signing.sign_out, "POST", own),
    ]
    if not access.issues_tokens:
        return pages

    known = Provider(access, authorizations)
    asked = replace(known, fetch=lambda address: described(address, read_document(address)))
    consent, endpoints = ConsentPage(asked, sessions.cookie), Endpoints(asked, known)
    registering = RegistrationHandler(known, ClientRegistrationOptions(enabled=True))
    people = [Middleware(partial(CookieRequired, sessions=sessions))]

    path = urlsplit(access.resource).path.rstrip("/")  # where clients look that take the endpoint for the issuer
    return [
        *pages,
        *published(metadata(access).model_dump_json(exclude_none=True), [WELL_KNOWN, WELL_KNOWN + path]),
        route(AUTHORIZE, endpoints.authorize, "GET", people),
        route(CONSENT, consent.show, "GET", people),
        route(CONSENT, consent.decide, "POST", [*own, *people]),
        route(TOKEN, endpoints.token, "POST"),
        route(REGISTER, registering.handle, "POST"),
        route(REVOKE, endpoints.revoke, "POST"),
    ]


def metadata(access: Access) -> OAuthMetadata:
    """What the server says of itself (RFC 8414)."""
    issuer, asserts = access.issuer, access.identity_provider is not None
    return OAuthMetadata.model_validate(
        {
            "issuer": issuer,
            "authorization_endpoint": issuer + AUTHORIZE,
            "token_endpoint": issuer + TOKEN,
            "registration_endpoint": issuer + REGISTER,
            "revocation_endpoint": issuer + REVOKE,
            "scopes_supported": SCOPES,
            "response_modes_supported": ["query"],
            "grant_types_supported": [
                "authorization_code",
                "refresh_token",
                *([JWT_BEARER_GRANT_TYPE] if asserts else []),
            ],
            "authorization_grant_profiles_supported": [PROFILE] if asserts else None,
            "token_endpoint_auth_methods_supported": METHODS,
            "revocation_endpoint_auth_methods_supported": METHODS,
            "code_challenge_methods_supported": ["S256"],
            "client_id_metadata_document_supported": True,
            "authorization_response_iss_parameter_supported": True,
        }
    )

"""The authorization server as routes of an HTTP application."""

from collections.abc import Callable, Sequence
from functools import partial
from urllib.parse import urlsplit

from mcp.server.auth.handlers.register import RegistrationHandler
from mcp.server.auth.settings import ClientRegistrationOptions
from mcp.shared.auth import OAuthMetadata
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from bio_mcp.callers import SCOPES
from bio_mcp.doors.auth.access import Access
from bio_mcp.doors.auth.forms import Handler, guarded
from bio_mcp.doors.auth.rate import RateLimiter
from bio_mcp.doors.auth.server.access_tokens import AccessTokens
from bio_mcp.doors.auth.server.clients import CONFIDENTIAL, PUBLIC, Client, Registrations, described
from bio_mcp.doors.auth.server.consent import ConsentPage
from bio_mcp.doors.auth.server.endpoints import Endpoints
from bio_mcp.doors.auth.server.grants import Grants
from bio_mcp.doors.auth.server.provider import Provider
from bio_mcp.doors.auth.server.requests import CONSENT, SealedRequests
from bio_mcp.doors.auth.sessions import CookieRequired, Sessions
from bio_mcp.ports.authorizations import Authorizations

WELL_KNOWN = "/.well-known/oauth-authorization-server"  # RFC 8414, 3
AUTHORIZE, TOKEN, REGISTER, REVOKE = "/authorize", "/token", "/register", "/revoke"
METHODS = [PUBLIC, CONFIDENTIAL]


def routes(
    access: Access,
    sessions: Sessions,
    authorizations: Callable[[], Authorizations],
    read_document: Callable[[str], bytes],
    rate: RateLimiter,
) -> list[BaseRoute]:
    """The server that `access` names as its issuer. `read_document` fetches a client's description of itself, which is
    done only for people who are signed in."""

    def fetched(address: str) -> Client:
        return described(address, read_document(address))

    keys = access.tokens.keys.get
    grants = Grants(authorizations, AccessTokens(access))
    registrations, requests = Registrations(keys), SealedRequests(keys, access.resource)
    asked, known = (Provider(registrations, find, grants, requests) for find in (fetched, grants.client))
    consent = ConsentPage(asked, grants, requests, issuer=access.issuer, cookie=sessions.cookie)
    endpoints = Endpoints(asked, known, requests, access.issuer)
    registering = RegistrationHandler(known, ClientRegistrationOptions(enabled=True))
    people = [Middleware(partial(CookieRequired, sessions=sessions))]

    def route(path: str, handler: Handler, method: str, middleware: Sequence[Middleware] = ()) -> Route:
        return Route(path, guarded(handler, rate), methods=[method], middleware=middleware)

    return [
        *_metadata_routes(access),
        route(AUTHORIZE, endpoints.authorize, "GET", people),
        route(CONSENT, consent.show, "GET", people),
        route(CONSENT, consent.decide, "POST", people),
        route(TOKEN, endpoints.token, "POST"),
        route(REGISTER, registering.handle, "POST"),
        route(REVOKE, endpoints.revoke, "POST"),
    ]


def metadata(issuer: str) -> OAuthMetadata:
    """What the server says of itself (RFC 8414)."""
    return OAuthMetadata.model_validate(
        {
            "issuer": issuer,
            "authorization_endpoint": issuer + AUTHORIZE,
            "token_endpoint": issuer + TOKEN,
            "registration_endpoint": issuer + REGISTER,
            "revocation_endpoint": issuer + REVOKE,
            "scopes_supported": SCOPES,
            "response_modes_supported": ["query"],
            "grant_types_supported": ["authorization_code", "refresh_token"],
            "token_endpoint_auth_methods_supported": METHODS,
            "revocation_endpoint_auth_methods_supported": METHODS,
            "code_challenge_methods_supported": ["S256"],
            "client_id_metadata_document_supported": True,
            "authorization_response_iss_parameter_supported": True,
        }
    )


def _metadata_routes(access: Access) -> list[Route]:
    """At the well-known path of the issuer, and where clients look that take the endpoint for one."""
    body = metadata(access.issuer).model_dump_json(exclude_none=True)

    async def answer(_request: Request) -> Response:
        return Response(body, media_type="application/json", headers={"cache-control": "public, max-age=300"})

    path = urlsplit(access.resource).path.rstrip("/")
    return [Route(each, answer, methods=["GET"]) for each in dict.fromkeys([WELL_KNOWN, WELL_KNOWN + path])]

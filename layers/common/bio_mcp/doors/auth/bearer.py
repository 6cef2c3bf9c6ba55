"""ASGI middleware that requires a bearer token, and the metadata that tells clients where to get one."""

import json
import logging
from collections.abc import Sequence
from dataclasses import replace
from math import ceil
from urllib.parse import urlsplit

import anyio
import anyio.to_thread
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from bio_mcp.callers import ANONYMOUS, SCOPES, Caller
from bio_mcp.doors.auth.access import Access
from bio_mcp.doors.auth.permissions import KEY
from bio_mcp.doors.auth.rate import RateLimiter, network_of
from bio_mcp.doors.auth.tokens import TokenRejected
from bio_mcp.errors import Failure

WELL_KNOWN = "/.well-known/oauth-protected-resource"  # RFC 9728, 3
NO_TOKENS = (
    "there are no access tokens, and anyone who reaches this address could use it. Set MCP_AUTH_SECRET_KEY, or "
    "MCP_AUTH_ISSUER, MCP_AUTH_JWKS_URL and MCP_RESOURCE_URL"
)
CLOSED = (
    "this endpoint is not configured: it has no access tokens yet, and stays closed until its operator sets them up"
)
MAX_CHECKS = 4  # concurrent token checks; others wait, at worst for one reading of the keys

log = logging.getLogger(__name__)


class TokenRequired:
    """Passes requests with a valid token on to `app`, with what the token permits (RFC 6750), and those without any
    where all may read.

    Answers 401 without a valid token, 403 without the scopes, 429 for too many calls, and 503 if tokens cannot be
    checked because the keys cannot be read.
    """

    def __init__(self, app: ASGIApp, access: Access) -> None:
        self._app = app
        self._access = access
        self._checking = anyio.CapacityLimiter(MAX_CHECKS)
        self._rate = RateLimiter(access.calls_per_minute)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = Headers(scope=scope).getlist("authorization")
        outcome = self._anonymous(scope) if self._access.public_read and not headers else await self._named(headers)
        if isinstance(outcome, Response):
            await outcome(scope, receive, send)
        else:
            await self._app({**scope, KEY: outcome}, receive, send)

    def _anonymous(self, scope: Scope) -> Caller | Response:
        """Whoever comes without a token; the calls of each address are counted."""
        address, _ = scope.get("client") or ("", 0)
        caller = replace(ANONYMOUS, client=network_of(address))
        return self._unless_too_many(caller, f"{ANONYMOUS.subject} at {caller.client}")

    async def _named(self, headers: list[str]) -> Caller | Response:
        outcome = await self._authenticate(headers)
        if isinstance(outcome, Response):
            return outcome
        return self._unless_too_many(self._access.permitted(outcome), outcome.subject)

    def _unless_too_many(self, caller: Caller, counted: str) -> Caller | Response:
        if wait_s := self._rate.wait_s(counted):
            log.warning("too many calls", extra={"subject": caller.subject})
            return too_many(wait_s)
        return caller

    async def _authenticate(self, headers: list[str]) -> Caller | Response:
        if not headers:
            return self._challenge(401)
        scheme, _, token = headers[0].partition(" ")
        if len(headers) > 1 or scheme.lower() != "bearer":
            return self._challenge(401, "invalid_token", "one Authorization header with a Bearer token is needed")
        try:
            check = self._access.tokens.check
            caller = await anyio.to_thread.run_sync(check, token.strip(), limiter=self._checking)
        except TokenRejected as rejection:
            log.info("rejected a token: %s", rejection)
            return self._challenge(401, "invalid_token", str(rejection))
        except Failure as failure:
            log.error("tokens cannot be checked: %s", failure)
            return unavailable("access tokens cannot be checked at the moment; try again later", retry_after_s=5)
        if missing := [scope for scope in self._access.scopes if scope not in caller.scopes]:
            return self._challenge(403, "insufficient_scope", f"the token lacks the scope {missing[0]}")
        return caller

    def _challenge(self, status: int, error: str = "", description: str = "") -> Response:
        """The answer to a rejected request. Without any token it names no error (RFC 6750, 3.1)."""
        body = {"error": error or "unauthorized", "error_description": description or "a Bearer token is needed"}
        header = challenge(self._access, error, description, self._access.scopes)
        return JSONResponse(body, status, {"www-authenticate": header})


def challenge(access: Access, error: str, description: str, scopes: Sequence[str]) -> str:
    """The header WWW-Authenticate that says what a request lacks, and where tokens are to be had."""
    parameters = {"error": error, "error_description": description, "scope": " ".join(scopes)}
    if access.issuer:
        parameters["resource_metadata"] = metadata_url(access.resource)
    joined = ", ".join(f'{name}="{value}"' for name, value in parameters.items() if value)
    return f"Bearer {joined}".strip()


def too_many(wait_s: float) -> Response:
    """A 429 answer."""
    seconds = ceil(wait_s)
    description = f"too many calls; try again in {seconds} s"
    body = {"error": "rate_limited", "error_description": description}
    return JSONResponse(body, 429, {"retry-after": str(seconds)})


def unavailable(description: str, retry_after_s: int | None = None) -> Response:
    """A 503 answer."""
    headers = {} if retry_after_s is None else {"retry-after": str(retry_after_s)}
    return JSONResponse({"error": "temporarily_unavailable", "error_description": description}, 503, headers)


class NotConfigured:
    """Answers 503 to every request, in place of an endpoint that must not be opened as it is configured."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await JSONResponse({"error": "not_configured", "error_description": CLOSED}, 503)(scope, receive, send)


def metadata_url(resource: str) -> str:
    """The URL of the metadata of `resource`: the well-known path between its host and its own path (RFC 9728, 3.1)."""
    parts = urlsplit(resource)
    return f"{parts.scheme}://{parts.netloc}{WELL_KNOWN}{parts.path.rstrip('/')}"


def metadata_routes(access: Access) -> list[Route]:
    """Routes with the metadata (RFC 9728): at the resource's own well-known path, at that of `/mcp` and at the root,
    where clients without a hint look. None without an issuer, as there would be nothing to name."""
    if not access.issuer:
        return []
    scopes = SCOPES if access.issues_tokens else access.scopes
    body = json.dumps(
        {
            "resource": access.resource,
            "authorization_servers": [access.issuer],
            "bearer_methods_supported": ["header"],
            "resource_name": "bio-mcp",
            **({"scopes_supported": list(scopes)} if scopes else {}),
        }
    )

    async def metadata(_request: Request) -> Response:
        return Response(body, media_type="application/json", headers={"cache-control": "public, max-age=300"})

    paths = dict.fromkeys([WELL_KNOWN, f"{WELL_KNOWN}/mcp", urlsplit(metadata_url(access.resource)).path])
    return [Route(path, metadata, methods=["GET"]) for path in paths]

"""ASGI middleware that requires a bearer token, and the metadata that tells clients where to get one."""

import json
import logging
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from ipaddress import IPv6Address, ip_address, ip_network
from math import ceil
from threading import Lock
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

import anyio
import anyio.to_thread
from starlette.datastructures import Headers
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from bio_mcp.call import failed_outcome
from bio_mcp.callers import ANONYMOUS, SCOPES, Caller, forbidden, is_anonymous, may
from bio_mcp.doors.auth.access import Access
from bio_mcp.doors.auth.tokens import KEY, TokenRejected
from bio_mcp.errors import Failure
from bio_mcp.tool import Context, Resource, Tool, by_any_name

MINUTE_S = 60.0
SUBJECTS = 10_000  # tracked; the least recently seen are dropped


class RateLimiter:
    """Allows `per_minute` calls to each subject, in a burst or evenly, refilled evenly (GCRA); 0 means no limit.

    `clock` is in seconds and defaults to the time of day, as the monotonic clock of a frozen Lambda environment stands
    still.
    """

    def __init__(self, per_minute: int, clock: Callable[[], float] = time.time, subjects: int = SUBJECTS) -> None:
        self._interval = MINUTE_S / per_minute if per_minute else 0.0
        self._clock = clock
        self._subjects = subjects
        self._full_at: OrderedDict[str, float] = OrderedDict()  # when a subject's allowance is full again
        self._lock = Lock()

    def wait_s(self, subject: str) -> float:
        """Count one call and return 0 if it is allowed; otherwise the seconds until one is."""
        if not self._interval:
            return 0.0
        with self._lock:
            now = self._clock()
            full_at = min(max(self._full_at.pop(subject, now), now), now + MINUTE_S)
            wait = full_at + self._interval - now - MINUTE_S
            self._full_at[subject] = full_at if wait > 1e-6 else full_at + self._interval
            if len(self._full_at) > self._subjects:
                self._full_at.popitem(last=False)
            return wait if wait > 1e-6 else 0.0


def network_of(address: str) -> str:
    """A name for the address that does not show it; all addresses of an IPv6 network of 64 bits, which one customer of
    a provider has, share it."""
    try:
        parsed = ip_address(address)
    except ValueError:
        return ""
    if isinstance(parsed, IPv6Address):
        parsed = parsed.ipv4_mapped or ip_network((int(parsed), 64), strict=False).network_address
    return sha256(parsed.packed).hexdigest()[:16]


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
        outcome = await self._caller(scope)
        if isinstance(outcome, Response):
            await outcome(scope, receive, send)
        else:
            await self._app({**scope, KEY: outcome}, receive, send)

    async def _caller(self, scope: Scope) -> Caller | Response:
        """Who calls; of those without a token each address is counted by itself."""
        headers = Headers(scope=scope).getlist("authorization")
        if self._access.public_read and not headers:
            address, _ = scope.get("client") or ("", 0)
            caller = replace(ANONYMOUS, client=network_of(address))
            counted = f"{ANONYMOUS.subject} at {caller.client}"
        else:
            found = await self._authenticate(headers)
            if isinstance(found, Response):
                return found
            caller, counted = self._access.permitted(found), found.subject
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
            return unavailable("access tokens cannot be checked")
        if missing := [scope for scope in self._access.scopes if scope not in caller.scopes]:
            return self._challenge(403, "insufficient_scope", f"the token lacks the scope {missing[0]}")
        return caller

    def _challenge(self, status: int, error: str = "", description: str = "") -> Response:
        """The answer to a rejected request. Without any token it names no error (RFC 6750, 3.1)."""
        headers = {"www-authenticate": challenge(self._access, error, description, self._access.scopes)}
        return refused(status, error or "unauthorized", description or "a Bearer token is needed", headers)


def challenge(access: Access, error: str, description: str, scopes: Sequence[str]) -> str:
    """The header WWW-Authenticate that says what a request lacks, and where tokens are to be had."""
    parameters = {"error": error, "error_description": description, "scope": " ".join(scopes)}
    if access.issuer:
        parameters["resource_metadata"] = metadata_url(access.resource)
    joined = ", ".join(f'{name}="{value}"' for name, value in parameters.items() if value)
    return f"Bearer {joined}".strip()


def refused(status: int, error: str, description: str, headers: Mapping[str, str] | None = None) -> Response:
    return JSONResponse({"error": error, "error_description": description}, status, headers)


def too_many(wait_s: float) -> Response:
    seconds = str(ceil(wait_s))
    return refused(429, "rate_limited", f"too many calls; try again in {seconds} s", {"retry-after": seconds})


def unavailable(description: str) -> Response:
    return refused(
        503, "temporarily_unavailable", f"{description} at the moment; try again later", {"retry-after": "5"}
    )


NOT_CONFIGURED: ASGIApp = refused(503, "not_configured", CLOSED)
"""Answers every request, in place of an endpoint that must not be opened as it is configured."""


def published(body: str, paths: Iterable[str]) -> list[Route]:
    """Routes to a JSON document that everybody may read."""
    document = Response(body, media_type="application/json", headers={"cache-control": "public, max-age=300"})
    return [Route(path, document, methods=["GET"]) for path in dict.fromkeys(paths)]


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
    return published(body, [WELL_KNOWN, f"{WELL_KNOWN}/mcp", urlsplit(metadata_url(access.resource)).path])


class ScopeCheck:
    """Checks JSON-RPC messages before a session reads them, as an answer in a stream has no status any more."""

    def __init__(self, declared: Iterable[Tool | Resource], access: Access) -> None:
        declared = list(declared)
        self._tools = by_any_name(each for each in declared if isinstance(each, Tool))
        self._resources = [each for each in declared if isinstance(each, Resource)]
        self._access = access

    def refusal(self, message: Any, caller: Caller | None) -> Response | None:
        """The answer to a caller who lacks the scope of what the message calls or reads; None otherwise.

        One without a token is asked for one (401), any other told which scope is missing (403). The body is a JSON-RPC
        error with the failure.
        """
        from mcp_types import INVALID_REQUEST  # which no page needs

        if caller is None or not isinstance(message, dict):
            return None
        what, given = self._addressed(message)
        if what is None or may(caller, what.scope):
            return None
        problem = forbidden(what.name, what.scope)
        outcome = failed_outcome(what, given, problem, Context(uuid4().hex, caller=caller))
        status, error = (401, "") if is_anonymous(caller) else (403, "insufficient_scope")
        headers = {"www-authenticate": challenge(self._access, error, str(problem) if error else "", [what.scope])}
        failure = {"code": INVALID_REQUEST, "message": str(problem), "data": outcome.body}
        return JSONResponse({"jsonrpc": "2.0", "id": message.get("id"), "error": failure}, status, headers)

    def _addressed(self, message: Mapping[str, Any]) -> tuple[Tool | Resource | None, Mapping[str, Any]]:
        """What the message calls or reads, and with which arguments."""
        params = message.get("params")
        given: Mapping[str, Any] = params if isinstance(params, dict) else {}
        name, uri, arguments = given.get("name"), given.get("uri"), given.get("arguments")
        if message.get("method") == "tools/call" and isinstance(name, str):
            return self._tools.get(name), arguments if isinstance(arguments, dict) else {}
        if message.get("method") == "tasks/cancel":
            return self._tools.get("jobs.cancel"), {}
        if message.get("method") == "resources/read" and isinstance(uri, str):
            for each in self._resources:
                if (parameters := each.match(uri)) is not None:
                    return each, parameters
        return None, {}

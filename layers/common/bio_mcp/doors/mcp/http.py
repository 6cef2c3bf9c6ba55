"""MCP over Streamable HTTP as one ASGI application, for uvicorn on a laptop and for Lambda behind Mangum.

Each POST has a session manager of its own, so nothing outlives a request and no lifespan is needed. GET would open a
stream that never ends on Lambda, so there is none. An answer is one JSON object, unless the request asks for progress
and its client reads event streams.
"""

import hashlib
import json
import logging
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any
from urllib.parse import urlsplit

import anyio
from fastapi import FastAPI
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import RequestBodyLimitMiddleware
from mcp_types import INVALID_PARAMS, INVALID_REQUEST
from mcp_types.version import SUPPORTED_PROTOCOL_VERSIONS
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import BaseRoute, Route, request_response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from bio_mcp import __version__
from bio_mcp.catalog import RESOURCES, TOOLS
from bio_mcp.doors.auth.access import Access
from bio_mcp.doors.auth.bearer import NOT_CONFIGURED, ScopeCheck, TokenRequired, metadata_routes
from bio_mcp.doors.auth.tokens import KEY
from bio_mcp.doors.mcp import server as mcp_server
from bio_mcp.doors.mcp.listing import META
from bio_mcp.doors.readiness import Part, Ready, search_by
from bio_mcp.doors.running import Invoke
from bio_mcp.doors.web import HostOriginCheck, Served, endpoint_of, origins_served
from bio_mcp.settings import Settings
from bio_mcp.tool import Resource, Tool

log = logging.getLogger(__name__)

MAX_CHARS = 200  # characters of a name or an id, which an error answer echoes
MAX_ID = 2**53  # of an id that is a number
TOO_LONG = f"is longer than {MAX_CHARS} characters"
NO_MESSAGE = "a message of JSON-RPC has jsonrpc: 2.0, a method and, if it asks for an answer, an id"
SHORT_VALUE = f"must be a string of at most {MAX_CHARS} characters or a whole number"


def invalid_request(message: Any) -> Response | None:
    """The error answer to an object that is no message of JSON-RPC, and to a request with an invalid or oversized id,
    method, name or progress token; None otherwise.

    An oversized value would be echoed in the answer. What else is no request is left to the SDK, which rejects it.
    """
    if not isinstance(message, dict):
        return None
    if message.get("jsonrpc") != "2.0" or not message.keys() & {"method", "result", "error"}:
        return _error(INVALID_REQUEST, NO_MESSAGE)
    if not _is_id(message.get("id", 0)):
        return _error(INVALID_REQUEST, f"id {SHORT_VALUE}")
    params = message.get("params")
    params = params if isinstance(params, dict) else {}
    if not all(map(_is_id, progress_tokens(message))):
        return _error(INVALID_PARAMS, f"progressToken {SHORT_VALUE}", message.get("id"))
    for name, code, value in (
        ("method", INVALID_REQUEST, message.get("method")),
        ("name", INVALID_PARAMS, params.get("name")),
    ):
        if isinstance(value, str) and len(value) > MAX_CHARS:
            return _error(code, f"{name} {TOO_LONG}", message.get("id"))
    return None


def progress_tokens(message: Any) -> list[Any]:
    """The token of a request that asks for progress; none where it does not."""
    params = message.get("params") if isinstance(message, dict) else None
    meta = params.get("_meta") if isinstance(params, dict) else None
    return [meta["progressToken"]] if isinstance(meta, dict) and "progressToken" in meta else []


def _is_id(value: Any) -> bool:
    if isinstance(value, str):
        return len(value) <= MAX_CHARS
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) <= MAX_ID


def _error(code: int, why: str, answers: int | str | None = None) -> Response:
    return JSONResponse({"jsonrpc": "2.0", "id": answers, "error": {"code": code, "message": why}}, 400)


PAGE = """\
bio-mcp: biomedical literature for AI agents, over MCP (Model Context Protocol).

This address is for programs. Connect an MCP client to

    {endpoint}

by Streamable HTTP, for example Claude Code:

    claude mcp add --transport http bio-mcp {endpoint}
"""


def landing(status: int, resource: str) -> ASGIApp:
    """Answers a GET with how to connect and with this status: 405 where only POST is allowed.

    `resource` is the endpoint's public URL, if it has one. Must be behind `HostOriginCheck`, as it echoes the Host
    header.
    """

    async def serve(request: Request) -> Response:
        headers = {"allow": "POST"} if status == 405 else {}
        return PlainTextResponse(PAGE.format(endpoint=endpoint_of(request, resource)), status, headers)

    return request_response(serve)


CARD_TYPE = "application/mcp-server-card+json"
CATALOG_TYPE = "application/ai-catalog+json"
SCHEMA = "https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json"
DESCRIPTION = "Biomedical literature from PubMed: sync it, search it, read it, and cite it word for word."
CARD = "/mcp/server-card"
WELL_KNOWN_CARD = "/.well-known/mcp/server-card.json"  # an earlier draft's, at which some clients look
CATALOG = "/.well-known/ai-catalog.json"
HEADERS = {
    "cache-control": "public, max-age=3600",
    "access-control-allow-origin": "*",
    "access-control-allow-methods": "GET",
    "access-control-allow-headers": "Content-Type, If-None-Match",
    "access-control-expose-headers": "ETag",
}


def card_routes(server: Server[Any], resource: str, hosts: re.Pattern[str]) -> list[Route]:
    """Routes with the card and the catalog of a `server`. `resource` is the endpoint's public URL, if it has one;
    without one it is where the request has found it."""

    versions = list(SUPPORTED_PROTOCOL_VERSIONS)
    named = {"name": META + server.name, "version": server.version, "title": server.title}
    card: dict[str, Any] = {"$schema": SCHEMA, **named, "description": DESCRIPTION}

    async def serve(request: Request) -> Response:
        endpoint = endpoint_of(request, resource)
        remote = {"type": "streamable-http", "url": endpoint, "supportedProtocolVersions": versions}
        kind, document = CARD_TYPE, {**card, "remotes": [remote]}
        if request.url.path == CATALOG:
            identifier = f"urn:air:{urlsplit(endpoint).hostname}:mcp:{server.name}"
            entry = {"identifier": identifier, "type": CARD_TYPE, "url": f"{endpoint.rstrip('/')}/server-card"}
            kind, document = CATALOG_TYPE, {"specVersion": "1.0", "entries": [entry]}
        body = json.dumps(document)
        headers = {**HEADERS, "etag": f'"{hashlib.sha256(body.encode()).hexdigest()[:16]}"'}
        if request.headers.get("if-none-match") == headers["etag"]:
            return Response(None, 304, headers)
        return Response(body, 200, headers, kind)

    checked = HostOriginCheck(request_response(serve), hosts, origins_served((), also=".*"))
    return [Route(path, checked, methods=["GET"]) for path in (CARD, WELL_KNOWN_CARD, CATALOG)]


ENDPOINTS = "/mcp", "/mcp/"


def application(
    settings: Settings,
    invoke: Invoke,
    access: Access | None = None,
    *,
    public: bool,
    pages: Sequence[BaseRoute] = (),
    parts: Mapping[str, Part] | None = None,
) -> FastAPI:
    """The ASGI application with the endpoint `/mcp`, its server card, `/health`, `/ready`, and `pages`.

    `public` means that others than this machine can reach it: it then accepts only tokens that `access` accepts.
    `parts` must answer for it to be ready; None: a search must.
    """
    tools, resources = TOOLS.values(), RESOURCES.values()
    return serving(
        mcp_server.server(tools, resources, invoke, names=settings.tool_names, listed=settings.listed_tools),
        settings,
        access=access,
        public=public,
        pages=pages,
        declared=[*tools, *resources],
        parts=search_by(invoke) if parts is None else parts,
    )


DEFAULTS = Settings()
HEALTHY = JSONResponse({"status": "ok"})
"""Answers the health check: this process answers, whatever became of its stores. It reveals nothing else."""


def serving(
    server: Server[Any],
    settings: Settings = DEFAULTS,
    *,
    access: Access | None = None,
    public: bool = False,
    pages: Sequence[BaseRoute] = (),
    declared: Iterable[Tool | Resource] = (),
    parts: Mapping[str, Part] = MappingProxyType({}),
) -> FastAPI:
    """`server` as an ASGI application for the hosts and origins that are `Served`. Tokens need the scopes of what is
    `declared`. It is ready while its `parts` answer."""
    served = Served(settings, public)
    hosts, origins = served.hosts, served.origins
    most, scopes = settings.max_request_kb * 1024, ScopeCheck(declared, access) if access else None
    endpoint: ASGIApp = RequestBodyLimitMiddleware(Endpoint(server, most, scopes), most)
    if access is not None:
        endpoint = TokenRequired(endpoint, access)
    endpoint = NOT_CONFIGURED if public and access is None else HostOriginCheck(endpoint, hosts, origins)
    resource = access.resource if access else ""
    routes: list[BaseRoute] = [
        *(Route(path, endpoint, methods=["POST"]) for path in ENDPOINTS),
        *(Route(path, HostOriginCheck(landing(405, resource), hosts, origins), methods=["GET"]) for path in ENDPOINTS),
        Route("/health", HEALTHY, methods=["GET"]),
        Route("/ready", Ready(parts).answer, methods=["GET"]),
        *(metadata_routes(access) if access else []),
        *card_routes(server, resource, hosts),
    ]
    if not any(getattr(each, "path", "") == "/" for each in pages):
        routes.append(Route("/", HostOriginCheck(landing(200, resource), hosts, origins), methods=["GET"]))
    if pages:
        routes.append(served.pages(pages))
    return FastAPI(
        title="bio-mcp",
        version=__version__,
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,  # a redirect would name whatever host the request names
        telemetry={"tracing": False, "metrics": False, "logs": False},  # which would send queries and one-time links
        routes=routes,
        middleware=[served.cors()],
    )


@dataclass(frozen=True)
class Endpoint:
    """Serves one POST in one stateless session, which ends when the client disconnects."""

    server: Server[Any]
    max_body: int
    scopes: ScopeCheck | None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = await receive()
        message: Any = None
        with suppress(ValueError, RecursionError):  # of what is no JSON; the SDK answers it
            message = json.loads(request.get("body", b""))
        error = invalid_request(message)
        if self.scopes:
            error = error or self.scopes.refusal(message, scope.get(KEY))
        if error:
            await error(scope, receive, send)
            return
        streams = bool(progress_tokens(message)) and "text/event-stream" in Headers(scope=scope).get("accept", "")
        manager = StreamableHTTPSessionManager(
            app=self.server,
            json_response=not streams,
            stateless=True,
            security_settings=None,  # `HostOriginCheck` has looked at Host and Origin
            max_request_body_size=self.max_body,
        )
        disconnected = anyio.Event()
        pending = [request]

        async def replay() -> Message:
            if pending:
                return pending.pop()
            await disconnected.wait()
            return {"type": "http.disconnect"}

        async def watch() -> None:
            while (await receive())["type"] != "http.disconnect":
                pass
            disconnected.set()
            group.cancel_scope.cancel()

        async with anyio.create_task_group() as group:
            group.start_soon(watch)
            async with manager.run():
                await manager.handle_request(scope, replay, send)
            group.cancel_scope.cancel()

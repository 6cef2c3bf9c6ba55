"""MCP over Streamable HTTP as one ASGI application, for uvicorn on a laptop and for Lambda behind Mangum.

Each POST has a session manager of its own, so nothing outlives a request and no lifespan is needed. GET would open a
stream that never ends on Lambda, so there is none. An answer is one JSON object, unless the request asks for progress
and its client reads event streams.
"""

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any
from urllib.parse import urlsplit

import anyio
from fastapi import FastAPI
from fastapi.middleware.cors import CORSMiddleware
from fastapi.responses import JSONResponse
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import RequestBodyLimitMiddleware, TransportSecuritySettings
from starlette.datastructures import Headers
from starlette.routing import BaseRoute, Mount, Route, Router
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from bio_mcp import __version__
from bio_mcp.catalog import RESOURCES, TOOLS
from bio_mcp.doors.auth.access import Access
from bio_mcp.doors.auth.bearer import NotConfigured, TokenRequired, metadata_routes
from bio_mcp.doors.auth.origin import HostOriginCheck, Hosts, Origins
from bio_mcp.doors.auth.permissions import KEY
from bio_mcp.doors.auth.scopes import ScopeCheck
from bio_mcp.doors.loopback import LOOPBACK_HOSTS, LOOPBACK_ORIGIN
from bio_mcp.doors.mcp import jsonrpc
from bio_mcp.doors.mcp import server as mcp_server
from bio_mcp.doors.mcp.card import card_routes
from bio_mcp.doors.mcp.landing import Landing
from bio_mcp.doors.mcp.server import Invoke
from bio_mcp.doors.readiness import Part, Ready, search_by
from bio_mcp.settings import Settings
from bio_mcp.tool import Resource, Tool

MAX_BODY = 5_000 * 1024  # bytes, unless the settings say another number: 500 chunks with vectors, and what Lambda takes
REQUEST_HEADERS = (
    "accept",
    "authorization",
    "content-type",
    "last-event-id",
    "mcp-method",
    "mcp-name",
    "mcp-protocol-version",
    "mcp-session-id",
)


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
    served = mcp_server.server(
        TOOLS.values(), RESOURCES.values(), invoke, names=settings.tool_names, listed=settings.listed_tools
    )
    own = urlsplit(settings.resource_url)
    hosts = {*settings.allowed_hosts, own.netloc, own.hostname or ""} - {""}
    most = settings.max_request_kb * 1024
    origin = f"{own.scheme}://{own.netloc}" if own.netloc else ""
    return serving(
        served,
        hosts,
        settings.allowed_origins,
        access=access,
        public=public,
        max_body=most,
        pages=pages,
        own_origin=origin,
        declared=[*TOOLS.values(), *RESOURCES.values()],
        parts=search_by(invoke) if parts is None else parts,
    )


def serving(
    server: Server[Any],
    allowed_hosts: Iterable[str] = (),
    allowed_origins: Iterable[str] = (),
    *,
    access: Access | None = None,
    public: bool = False,
    max_body: int = MAX_BODY,
    pages: Sequence[BaseRoute] = (),
    own_origin: str = "",
    declared: Iterable[Tool | Resource] = (),
    parts: Mapping[str, Part] = MappingProxyType({}),
) -> FastAPI:
    """`server` as an ASGI application. It serves loopback's and the allowed Host headers, and the allowed Origins;
    loopback's Origins only unless it is `public`. `pages` may also be called from `own_origin`. Tokens need the
    scopes of what is `declared`. It is ready while its `parts` answer."""
    origins = Origins(allowed_origins, also="" if public else LOOPBACK_ORIGIN)
    hosts = Hosts([*LOOPBACK_HOSTS, *allowed_hosts])
    endpoint: ASGIApp = RequestBodyLimitMiddleware(Endpoint(server, max_body, ScopeCheck(declared, access)), max_body)
    if access is not None:
        endpoint = TokenRequired(endpoint, access)
    endpoint = NotConfigured() if public and access is None else HostOriginCheck(endpoint, hosts, origins)

    def page(status: int) -> ASGIApp:
        return HostOriginCheck(Landing(status, access.resource if access else ""), hosts, origins)

    app = _application(origins)
    for path in ("/mcp", "/mcp/"):
        app.router.routes.append(Route(path, endpoint, methods=["POST"]))
        app.router.routes.append(Route(path, page(405), methods=["GET"]))
    if not any(getattr(each, "path", "") == "/" for each in pages):
        app.router.routes.append(Route("/", page(200), methods=["GET"]))
    app.add_api_route("/health", _health, methods=["GET"])
    app.router.routes.append(Route("/ready", Ready(parts).answer, methods=["GET"]))
    app.router.routes.extend(metadata_routes(access) if access else [])
    app.router.routes.extend(card_routes(server, access.resource if access else "", hosts))
    if pages:
        own = Origins([*allowed_origins, *([own_origin] if own_origin else [])], also="" if public else LOOPBACK_ORIGIN)
        app.router.routes.append(Mount("/", HostOriginCheck(Router(routes=list(pages)), hosts, own)))
    return app


def _application(origins: Origins) -> FastAPI:
    """An application without routes that lets pages of these origins read its answers (CORS)."""
    app = FastAPI(
        title="bio-mcp",
        version=__version__,
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,  # a redirect would name whatever host the request names
        telemetry={"tracing": False, "metrics": False, "logs": False},  # which would send queries and one-time links
    )
    app.add_middleware(
        CORSMiddleware,
        allow_origins=origins.exact,
        allow_origin_regex=origins.also,
        allow_methods=["GET", "POST"],
        allow_headers=REQUEST_HEADERS,
        expose_headers=["www-authenticate"],
        max_age=600,
    )
    return app


async def _health() -> JSONResponse:
    """The health check: this process answers, whatever became of its stores. It reveals nothing else."""
    return JSONResponse({"status": "ok"})


class Endpoint:
    """Serves one POST in one stateless session, which ends when the client disconnects."""

    def __init__(self, server: Server[Any], max_body: int, scopes: ScopeCheck) -> None:
        self._server = server
        self._max_body = max_body
        self._scopes = scopes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = await receive()
        message = jsonrpc.parsed(request.get("body", b""))
        if error := jsonrpc.invalid_request(message) or self._scopes.refusal(message, scope.get(KEY)):
            await error(scope, receive, send)
        else:
            await self._serve(scope, receive, send, request, message)

    async def _serve(self, scope: Scope, receive: Receive, send: Send, request: Message, message: Any) -> None:
        manager = StreamableHTTPSessionManager(
            app=self._server,
            json_response=not (jsonrpc.wants_progress(message) and _reads_streams(Headers(scope=scope))),
            stateless=True,
            security_settings=TransportSecuritySettings(
                enable_dns_rebinding_protection=False
            ),  # `HostOriginCheck` does it
            max_request_body_size=self._max_body,
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


def _reads_streams(headers: Headers) -> bool:
    return "text/event-stream" in headers.get("accept", "")

"""MCP over Streamable HTTP: one ASGI application, for uvicorn on a laptop and for Lambda behind Mangum.

Every POST is answered by a session manager of its own, so nothing outlives a request and no lifespan is needed.
GET would open a stream that never ends on Lambda, so there is none. An answer is one JSON object, unless the
request asks for progress and its sender reads event streams.
"""

from collections.abc import Iterable
from typing import Any

import anyio
from fastapi import FastAPI
from fastapi.middleware.cors import CORSMiddleware
from fastapi.responses import JSONResponse
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import RequestBodyLimitMiddleware, TransportSecuritySettings
from starlette.datastructures import Headers
from starlette.routing import Route
from starlette.types import Message, Receive, Scope, Send

from bio_mcp import __version__
from bio_mcp.catalog import RESOURCES, TOOLS
from bio_mcp.doors import mcp
from bio_mcp.doors.mcp import Invoke
from bio_mcp.settings import Settings

MAX_BODY = 4 * 1024 * 1024  # bytes
LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
LOOPBACK_ORIGIN = r"https?://(127\.0\.0\.1|localhost|\[::1\])(:\d+)?"
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


def application(settings: Settings, invoke: Invoke) -> FastAPI:
    """The endpoint `/mcp` over the catalogue, and `/health`. Raises `InvalidInput` for a family that does not exist."""
    served = mcp.server(
        TOOLS.values(), RESOURCES.values(), invoke, names=settings.tool_names, families=settings.tool_families
    )
    return serving(served, settings.allowed_hosts, settings.allowed_origins)


def serving(server: Server[Any], allowed_hosts: Iterable[str] = (), allowed_origins: Iterable[str] = ()) -> FastAPI:
    """`server` as an ASGI application for the loopback interface, the given Host headers and the given Origins."""
    origins = list(allowed_origins)
    app = FastAPI(title="bio-mcp", version=__version__, openapi_url=None, docs_url=None, redoc_url=None)
    app.add_middleware(
        CORSMiddleware,
        allow_origins=origins,
        allow_origin_regex=LOOPBACK_ORIGIN,
        allow_methods=["POST"],
        allow_headers=REQUEST_HEADERS,
        expose_headers=["www-authenticate"],
        max_age=600,
    )
    endpoint = Endpoint(server, _security(allowed_hosts, origins))
    app.router.routes.append(Route("/mcp", RequestBodyLimitMiddleware(endpoint, MAX_BODY), methods=["POST"]))
    app.add_api_route("/health", _health, methods=["GET"])
    return app


async def _health() -> JSONResponse:
    return JSONResponse({"status": "ok", "version": __version__})


def _security(hosts: Iterable[str], origins: Iterable[str]) -> TransportSecuritySettings:
    local = [f"{scheme}://{host}" for scheme in ("http", "https") for host in LOOPBACK]
    return TransportSecuritySettings(
        allowed_hosts=[name for host in LOOPBACK for name in (host, f"{host}:*")] + list(hosts),
        allowed_origins=[name for origin in local for name in (origin, f"{origin}:*")] + list(origins),
    )


class Endpoint:
    """One POST, one stateless session; it ends when the client hangs up."""

    def __init__(self, server: Server[Any], security: TransportSecuritySettings) -> None:
        self._server = server
        self._security = security

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = await receive()
        manager = StreamableHTTPSessionManager(
            app=self._server,
            json_response=not _wants_stream(Headers(scope=scope), request.get("body", b"")),
            stateless=True,
            security_settings=self._security,
            max_request_body_size=MAX_BODY,
        )
        gone = anyio.Event()
        given = [request]

        async def replay() -> Message:
            if given:
                return given.pop()
            await gone.wait()
            return {"type": "http.disconnect"}

        async def watch() -> None:
            while (await receive())["type"] != "http.disconnect":
                pass
            gone.set()
            group.cancel_scope.cancel()

        async with anyio.create_task_group() as group:
            group.start_soon(watch)
            async with manager.run():
                await manager.handle_request(scope, replay, send)
            group.cancel_scope.cancel()


def _wants_stream(headers: Headers, body: bytes) -> bool:
    return b'"progressToken"' in body and "text/event-stream" in headers.get("accept", "")

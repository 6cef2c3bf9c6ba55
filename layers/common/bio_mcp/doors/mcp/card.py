"""The server card and the catalog that names it: what this server is, and where, before a client connects (SEP-2127).

Both are public, and pages of any origin may read them. They list no tools.
"""

import hashlib
import json
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

from mcp.server.lowlevel import Server
from mcp_types.version import SUPPORTED_PROTOCOL_VERSIONS
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route, request_response

from bio_mcp.doors.auth.origin import HostOriginCheck, Hosts, Origins
from bio_mcp.doors.mcp.listing import META

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

Document = Callable[[str], dict[str, Any]]


def card_routes(server: Server[Any], resource: str, hosts: Hosts) -> list[Route]:
    """Routes with the card and the catalog of a `server`. `resource` is the endpoint's public URL, if it has one;
    without one it is where the request has found it."""
    documents: dict[str, tuple[Document, str]] = {
        CARD: (lambda endpoint: _card(server, endpoint), CARD_TYPE),
        WELL_KNOWN_CARD: (lambda endpoint: _card(server, endpoint), CARD_TYPE),
        CATALOG: (lambda endpoint: _catalog(server, endpoint), CATALOG_TYPE),
    }
    anyone = Origins((), also=".*")
    return [
        Route(path, HostOriginCheck(_serving(document, kind, resource), hosts, anyone), methods=["GET"])
        for path, (document, kind) in documents.items()
    ]


def _card(server: Server[Any], endpoint: str) -> dict[str, Any]:
    return {
        "$schema": SCHEMA,
        "name": META + server.name,
        "version": server.version,
        "title": server.title,
        "description": DESCRIPTION,
        "remotes": [
            {
                "type": "streamable-http",
                "url": endpoint,
                "supportedProtocolVersions": list(SUPPORTED_PROTOCOL_VERSIONS),
            }
        ],
    }


def _catalog(server: Server[Any], endpoint: str) -> dict[str, Any]:
    identifier = f"urn:air:{urlsplit(endpoint).hostname}:mcp:{server.name}"
    return {
        "specVersion": "1.0",
        "entries": [{"identifier": identifier, "type": CARD_TYPE, "url": f"{endpoint.rstrip('/')}/server-card"}],
    }


def _serving(document: Document, kind: str, resource: str) -> Any:
    async def serve(request: Request) -> Response:
        body = json.dumps(document(resource or str(request.url.replace(path="/mcp", query=""))))
        headers = {**HEADERS, "etag": f'"{hashlib.sha256(body.encode()).hexdigest()[:16]}"'}
        if request.headers.get("if-none-match") == headers["etag"]:
            return Response(None, 304, headers)
        return Response(body, 200, headers, kind)

    return request_response(serve)

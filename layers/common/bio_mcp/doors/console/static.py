"""The console's files: its style, and htmx. Their addresses change with their content, so browsers may store them."""

import hashlib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from starlette.requests import Request
from starlette.responses import Response

from bio_mcp.doors.console.headers import SECURE

TYPES = {
    "console.css": "text/css; charset=utf-8",
    "htmx.min.js": "text/javascript; charset=utf-8",
    "icon.svg": "image/svg+xml",
}
FOR_A_YEAR = "public, max-age=31536000, immutable"
UNTIL_ASKED = "no-cache"


@dataclass(frozen=True, slots=True)
class StaticFile:
    """A file and the beginning of its hash."""

    content: bytes
    version: str


@cache
def static_file(name: str) -> StaticFile:
    """The file that `TYPES` names."""
    content = (files(__package__) / "static" / name).read_bytes()
    return StaticFile(content, hashlib.sha256(content).hexdigest()[:16])


def address(name: str) -> str:
    """The address of a file, with the version of its content."""
    return f"/static/{name}?v={static_file(name).version}"


async def serve(request: Request) -> Response:
    """Answer with a file; 404 for any name that is not of `TYPES`."""
    name = request.path_params["name"]
    if name not in TYPES:
        return Response("There is no such file.", 404, dict(SECURE), "text/plain")
    file = static_file(name)
    current = request.query_params.get("v") == file.version
    caching = {"cache-control": FOR_A_YEAR if current else UNTIL_ASKED, "etag": f'"{file.version}"'}
    if request.headers.get("if-none-match") == caching["etag"]:
        return Response(None, 304, {**SECURE, **caching})
    return Response(file.content, 200, {**SECURE, **caching}, TYPES[name])

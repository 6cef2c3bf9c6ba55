"""Pages of signing in and consent, in the console's layout but without its menu."""

from collections.abc import Mapping
from http import HTTPStatus
from types import MappingProxyType
from typing import Any

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from bio_mcp.doors.auth.permissions import KEY
from bio_mcp.doors.console.headers import POLICY, PRIVATE
from bio_mcp.doors.console.rendering import render

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
    shell = {"menu": (), "path": request.url.path, "caller": request.scope.get(KEY)}
    return HTMLResponse(render(template, **shell, **values), status, headers)


def problem(request: Request, message: str, status: int = HTTPStatus.BAD_REQUEST) -> Response:
    """A page that says why it cannot be done."""
    return page(request, "failure.html", status, error={"message": message, "details": {}})

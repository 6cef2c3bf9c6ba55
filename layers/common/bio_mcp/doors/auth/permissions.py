"""Whom the token of a request names, carried from the check to the call, and what that caller may do."""

from collections.abc import Mapping
from typing import Any

from bio_mcp.callers import Caller
from bio_mcp.errors import Forbidden
from bio_mcp.tool import Resource, Tool

KEY = "bio_mcp.caller"  # in an ASGI scope


def caller_of(request: Any) -> Caller | None:
    """The caller of an HTTP request; None if no token is required, and for a client in this process."""
    scope: Mapping[str, Any] = getattr(request, "scope", None) or {}
    caller: Caller | None = scope.get(KEY)
    return caller


def may(caller: Caller | None, what: Tool | Resource) -> bool:
    """Whether the caller may call the tool or read the resource; one without a token may do everything."""
    return caller is None or what.scope in caller.scopes


def forbidden(what: Tool | Resource) -> Forbidden:
    """The failure for a caller who may not."""
    message = f"{what.name} needs the scope {what.scope}, which the access token lacks"
    return Forbidden(f"{message}; ask whoever runs this server for one that has it", scope=what.scope)

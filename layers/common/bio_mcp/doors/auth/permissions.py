"""Whom the token of a request names, carried from the check to the call."""

from collections.abc import Mapping
from typing import Any

from bio_mcp.callers import Caller

KEY = "bio_mcp.caller"  # in an ASGI scope


def caller_of(request: Any) -> Caller | None:
    """The caller of an HTTP request; None if no token is required, and for a client in this process."""
    scope: Mapping[str, Any] = getattr(request, "scope", None) or {}
    caller: Caller | None = scope.get(KEY)
    return caller

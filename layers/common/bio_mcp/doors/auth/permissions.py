"""What the token of a request permits, carried from the check to the call."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bio_mcp.errors import Forbidden

KEY = "bio_mcp.permission"  # in an ASGI scope


@dataclass(frozen=True)
class Permission:
    """`subject` is the token's subject; `write_scope` the scope that a token needs to change anything."""

    subject: str | None = None
    may_write: bool = True
    write_scope: str = ""

    def problem(self, tool: str) -> Forbidden:
        """The failure for calling `tool`, which changes something, without permission."""
        message = f"{tool} changes the corpus, for which the access token lacks the scope {self.write_scope}"
        return Forbidden(f"{message}; ask whoever runs this server for one that has it", scope=self.write_scope)


EVERYTHING = Permission()


def permission_of(request: Any) -> Permission:
    """The permission of an HTTP request; everything if no token is required, and for a client in this process."""
    scope: Mapping[str, Any] = getattr(request, "scope", None) or {}
    permission: Permission = scope.get(KEY, EVERYTHING)
    return permission

"""What the token of a request allows, from where it is checked to where the call is made."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bio_mcp.errors import Forbidden

KEY = "bio_mcp.permission"  # in an ASGI scope


@dataclass(frozen=True)
class Permission:
    """`subject`: whom the token names. `write_scope`: what one must carry to change anything."""

    subject: str | None = None
    may_write: bool = True
    write_scope: str = ""

    def problem(self, tool: str) -> Forbidden:
        """Why `tool`, which changes something, may not be called."""
        message = f"{tool} changes the corpus, for which the access token lacks the scope {self.write_scope}"
        return Forbidden(f"{message}; ask whoever runs this server for one that has it", scope=self.write_scope)


EVERYTHING = Permission()


def permission_of(request: Any) -> Permission:
    """That of an HTTP request, as it was let in; everything where no token is asked for, and for a client of ours."""
    scope: Mapping[str, Any] = getattr(request, "scope", None) or {}
    found: Permission = scope.get(KEY, EVERYTHING)
    return found

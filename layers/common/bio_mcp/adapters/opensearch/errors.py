"""What OpenSearch's failures are: by HTTP status and OpenSearch's word, never by an address or what the server said."""

import re
from typing import Any

from bio_mcp.errors import IndexUnavailable

BUSY_STATUS = frozenset({429, 502, 503, 504})


class Busy(IndexUnavailable):
    """The same request may succeed in a moment."""


class IndexRefused(IndexUnavailable):
    """OpenSearch will not do this; `status` is HTTP's, `kind` its own word for it."""

    def __init__(self, status: int, kind: str) -> None:
        super().__init__(
            f"The passage index refused a request ({status} {kind}). {_advice(status)}", retryable=status >= 500
        )
        self.status, self.kind = status, kind


def _advice(status: int) -> str:
    if status in (401, 403):
        return "Check what the configured credentials may do there, and whether the index is blocked."
    return "Look at its log; the corpus itself is safe."


def kind_of(answer: Any) -> str:
    """OpenSearch's word for what went wrong; of several, the innermost cause that it names."""
    error = answer.get("error") if isinstance(answer, dict) else None
    if isinstance(error, dict):
        causes = error.get("root_cause") or [error]
        error = causes[0].get("type") or error.get("type")
    return error if isinstance(error, str) and re.fullmatch(r"[a-z_]{3,80}", error) else "unknown_error"

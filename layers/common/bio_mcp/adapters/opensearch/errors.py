"""Failures of OpenSearch. They give the HTTP status and OpenSearch's own word, never an address or a server's text."""

import re
from typing import Any

from bio_mcp.errors import IndexUnavailable

BUSY_STATUS = frozenset({429, 502, 503, 504})


class Busy(IndexUnavailable):
    """OpenSearch cannot answer now; the same request may succeed in a moment."""


class IndexRefused(IndexUnavailable):
    """OpenSearch refused the request; `status` is HTTP's, `kind` its own word for the reason."""

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
    """Return OpenSearch's word for the innermost cause of an error, as index_not_found_exception."""
    error = answer.get("error") if isinstance(answer, dict) else None
    if isinstance(error, dict):
        causes = error.get("root_cause") or [error]
        error = causes[0].get("type") or error.get("type")
    return error if isinstance(error, str) and re.fullmatch(r"[a-z_]{3,80}", error) else "unknown_error"

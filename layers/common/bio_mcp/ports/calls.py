"""The log of calls, from which a call can be replayed."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol


@dataclass(frozen=True, slots=True)
class CallRecord:
    """A call with what its answer depended on.

    `inputs` names each input that may move, with a token that changes when it does: corpus, model, rules, code.
    `read` has what the tool was given by the stores, as `replaying` recorded it, compressed.
    """

    correlation_id: str
    tool: str
    arguments: Mapping[str, Any]
    in_hash: str
    out_hash: str
    status: str
    at: datetime
    inputs: Mapping[str, str] = field(default_factory=dict)
    read: bytes = b""


class Calls(Protocol):
    """Calls by correlation id, for some time. Every method may raise `StoreFailed`."""

    def record(self, call: CallRecord) -> None:
        """Store the call; the same call twice is one."""
        ...

    def get(self, correlation_id: str) -> CallRecord:
        """Return the call. Raises `NotFound`, which says how long calls are stored."""
        ...

    def latest(self, limit: int) -> list[CallRecord]:
        """Return the newest calls, the newest first, without what they read."""
        ...

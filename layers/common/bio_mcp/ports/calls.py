"""The log of calls, from which a call can be replayed."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol

Backends = Any  # of `bio_mcp.ports`, which has this module


@dataclass(frozen=True, slots=True)
class CallRecord:
    """A call with what its answer depended on.

    `inputs` names each input that may move, with a token that changes when it does: corpus, model, rules, code.
    `read` has what the tool was given by the stores, as `replaying` recorded it, compressed. `latency_ms` is how long
    the call took; None where an older version recorded it.
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
    latency_ms: int | None = None


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


class Watch(Protocol):
    """One call that is watched while it runs."""

    @property
    def backends(self) -> Backends:
        """What the call is to be given in the place of the backends."""
        ...

    def record(self, tool: str, arguments: Mapping[str, Any], audit: Mapping[str, Any]) -> None:
        """Record the call, if its answer depends on what is stored and is no error. Never raises."""
        ...


class Recorder(Protocol):
    """Records calls, so that they can be replayed; an attribute `recorder` of backends whose calls are."""

    def watch(self, backends: Backends) -> Watch:
        """Watch a call that reads from `backends`."""
        ...

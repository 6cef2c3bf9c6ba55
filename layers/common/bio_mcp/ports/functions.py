"""Functions of our own that run tools elsewhere."""

from collections.abc import Mapping
from typing import Any, Protocol

from bio_mcp.deadline import Deadline


class Functions(Protocol):
    """Carries an event to a function and brings its answer."""

    def invoke(self, function: str, event: Mapping[str, Any], deadline: Deadline, *, repeatable: bool) -> Any:
        """Return the answer of `function` to `event`, as JSON values.

        An event that never left may be sent again; one that may have arrived only if it is `repeatable`. Raises
        `DeadlineExceeded`, `UpstreamFailed`, `InvalidInput` for an event or an answer that is too long, and
        `FunctionBroke` when the function ended without an answer.
        """
        ...

    def prepare(self, timeout_s: float) -> None:
        """Make a client with this time-out in advance, without connecting: for the snapshot of a process."""
        ...

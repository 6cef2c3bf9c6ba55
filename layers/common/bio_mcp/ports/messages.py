"""Messages that leave the process: calls to be made later, and changes of the corpus."""

from collections.abc import Sequence
from typing import Any, Protocol

from bio_mcp.literature.changes import CorpusChange


class Continuations(Protocol):
    """Tool calls to be made later, at least once each. Raises `StoreFailed`."""

    def send(self, event: dict[str, Any], delay_s: float = 0) -> None:
        """Queue `event`, `{"tool": name, "arguments": {...}}`, to be received in `delay_s` seconds at the earliest.

        Two equal events may become one, and one may be received twice: the called tool must not mind.
        """
        ...


class Announcements(Protocol):
    """Announces changes of the corpus to listeners."""

    def publish(self, changes: Sequence[CorpusChange]) -> None:
        """Announce each change at least once, in any order. Raises `UpstreamFailed` when any could not be."""
        ...

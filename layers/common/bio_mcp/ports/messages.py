"""Messages that leave the process: calls to be made later, and changes of the corpus."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from bio_mcp.literature.changes import CorpusChange


class Continuations(Protocol):
    """Tool calls to be made later, at least once each. Raises `StoreFailed`."""

    def send(self, event: dict[str, Any], delay_s: float = 0) -> None:
        """Queue `event`, `{"tool": name, "arguments": {...}}`, to be received in `delay_s` seconds at the earliest.

        Two equal events may become one, and one may be received twice: the called tool must not mind.
        """
        ...


class WorkQueue(Continuations, Protocol):
    """The receiving end of `Continuations`. Raises `StoreFailed`.

    A receipt names one delivery of an event: once its lease has ended and another receiver has the event, `ack`, `fail`
    and `hold` change nothing.
    """

    def receive(self, lease_s: float) -> tuple[str, dict[str, Any]] | None:
        """Take an event that is due, with its receipt, for `lease_s` seconds; None where none is due.

        An event that is neither acknowledged nor failed comes back when its lease ends.
        """
        ...

    def ack(self, receipt: str) -> None:
        """Delete the event: it has been handled."""
        ...

    def fail(self, receipt: str, reason: str, *, retryable: bool = True, wait_s: float | None = None) -> float | None:
        """Deliver the event again later, or give it up after the queue's last try; it is then a dead letter.

        Without `wait_s` the queue backs off by itself. With `retryable` False a queue that can give up at once does.
        Returns the seconds until the next delivery, None when the event was given up.
        """
        ...

    def hold(self, receipt: str, seconds: float) -> None:
        """Extend the lease to `seconds` from now."""
        ...

    def early_s(self, attributes: Mapping[str, Mapping[str, Any]]) -> float:
        """Return the seconds by which a message with these attributes came too early, 0 if it is due.

        The receiver sends an early one again, with that delay, and counts it as handled.
        """
        ...


class Announcements(Protocol):
    """Announces changes of the corpus to listeners."""

    def publish(self, changes: Sequence[CorpusChange]) -> None:
        """Announce each change at least once, in any order. Raises `UpstreamFailed` when any could not be."""
        ...

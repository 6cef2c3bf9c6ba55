"""Messages that leave the process: calls to be made later, and changes of the corpus."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Protocol

from bio_mcp.deadline import Deadline
from bio_mcp.literature.records import CorpusChange

if TYPE_CHECKING:
    from concurrent.futures import Future

    from bio_mcp.literature.medline import OddRecord
    from bio_mcp.literature.records import Article
    from bio_mcp.retrieval.passages import Entry


class Continuations(Protocol):
    """Tool calls to be made later, at least once each. Raises `StoreFailed`."""

    def send(self, event: dict[str, Any], delay_s: float = 0) -> None:
        """Queue `event`, `{"tool": name, "arguments": {...}}`, to be received in `delay_s` seconds at the earliest.

        Two equal events may become one, and one may be received twice: the called tool must not mind.
        """


class WorkQueue(Continuations, Protocol):
    """The receiving end of `Continuations`. Raises `StoreFailed`.

    A receipt names one delivery of an event: once its lease has ended and another receiver has the event, `ack`, `fail`
    and `hold` change nothing.
    """

    def receive(self, lease_s: float) -> tuple[str, dict[str, Any]] | None:
        """Take an event that is due, with its receipt, for `lease_s` seconds; None where none is due.

        An event that is neither acknowledged nor failed comes back when its lease ends.
        """

    def ack(self, receipt: str) -> None:
        """Delete the event: it has been handled."""

    def fail(self, receipt: str, reason: str, *, retryable: bool = True, wait_s: float | None = None) -> float | None:
        """Deliver the event again later, or give it up after the queue's last try; it is then a dead letter.

        Without `wait_s` the queue backs off by itself. With `retryable` False a queue that can give up at once does.
        Returns the seconds until the next delivery, None when the event was given up.
        """

    def hold(self, receipt: str, seconds: float) -> None:
        """Extend the lease to `seconds` from now."""

    def early_s(self, attributes: Mapping[str, Mapping[str, Any]]) -> float:
        """Return the seconds by which a message with these attributes came too early, 0 if it is due.

        The receiver sends an early one again, with that delay, and counts it as handled.
        """


@dataclass(frozen=True, slots=True)
class Letter:
    """A dead letter: a queued call that was given up, or an event that could not be sent."""

    letter_id: str
    body: str
    """What is sent again."""
    origin: str = ""
    """How it came: `queue NAME`, `schedule NAME` or `rule NAME`; empty where nothing says."""
    queue: str = ""
    """The queue that it is sent to again; empty where it cannot be."""
    reason: str = ""
    """Of its last failure."""
    tries: int | None = None
    received: int | None = None
    """How often the queues gave it out, its readings as a dead letter included."""
    queued_at: datetime | None = None
    failed_at: datetime | None = None


class DeadLetters(Protocol):
    """What was given up. Raises `StoreFailed`.

    A letter is sent before it is deleted, so one whose redrive was killed may be sent once more, which the called tool
    does not mind.
    """

    def all(self) -> Sequence[Letter]:
        """Return every letter that no other reader holds at this moment, oldest first."""

    def held_elsewhere(self) -> int:
        """Return about how many letters others hold at this moment, which `all` leaves out."""

    def redrive(self, ids: Collection[str]) -> Sequence[str]:
        """Send these letters to their queues again, and return those that were sent and are no dead letters any more.

        One that is not there, or that says no queue, is left out.
        """

    def delete(self, ids: Collection[str]) -> Sequence[str]:
        """Delete these letters, and return those that were there."""


class Announcements(Protocol):
    """Announces changes of the corpus to listeners."""

    def publish(self, changes: Sequence[CorpusChange]) -> None:
        """Announce each change at least once, in any order. Raises `UpstreamFailed` when any could not be."""


class Functions(Protocol):
    """Carries an event to a function and brings its answer."""

    def invoke(self, function: str, event: Mapping[str, Any], deadline: Deadline, *, repeatable: bool) -> Any:
        """Return the answer of `function` to `event`, as JSON values.

        An event that never left may be sent again; one that may have arrived only if it is `repeatable`. Raises
        `DeadlineExceeded`, `UpstreamFailed`, `InvalidInput` for an event or an answer that is too long, and
        `FunctionBroke` when the function ended without an answer.
        """

    def prepare(self, timeout_s: float) -> Any:
        """Make the client with this time-out in advance, without connecting: for the snapshot of a process."""


class Workers(Protocol):
    """Some processes, each with the embedding model. They read and write nothing that is stored."""

    fingerprint: str
    """Of the model that makes the vectors."""
    count: int
    """How many processes work at once."""
    died: int
    """How many ended before their work was done, and were replaced."""

    def prepare(
        self, articles: "Sequence[Article]", known: Mapping[str, Mapping[str, str]]
    ) -> "Future[list[Entry | OddRecord]]":
        """Begin to make the index entries of `articles`, of version 1, in their order.

        Texts that are `known` (PMID -> chunk id -> SHA-256) get no vector. An article that fails or ends a process
        again, alone, is an `OddRecord`. The future raises `EmbeddingFailed` when no article can be embedded.
        """

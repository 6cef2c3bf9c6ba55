"""Answers that were given, so that a retraction can flag those that rest on the paper."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from bio_mcp.literature.citations import CitedSpan


@dataclass(frozen=True, slots=True)
class StoredAnswer:
    """An answer as it was given. `answer_id` follows from question, text and spans, so an equal answer is one.

    `text` is "" for one that was withheld. `flagged` names papers among `spans` that were retracted since, by PMID.
    """

    answer_id: str
    question: str
    text: str
    spans: tuple[CitedSpan, ...]
    confidence: float
    asked: datetime
    flagged: tuple[str, ...] = ()


class Answers(Protocol):
    """Answers by id. Every method may raise `StoreFailed`. A store may drop an answer two years after it was given."""

    def put(self, answer: StoredAnswer) -> None:
        """Store the answer; one that is stored keeps its first time and its flags."""
        ...

    def get(self, answer_id: str) -> StoredAnswer:
        """Return the answer. Raises `NotFound`."""
        ...

    def citing(self, pmid: str) -> list[StoredAnswer]:
        """Return the answers that cite the paper, by id."""
        ...

    def flag(self, answer_ids: Sequence[str], pmid: str) -> None:
        """Flag the answers: this paper, which they cite, is retracted. Unknown ids change nothing."""
        ...

    def flagged(self, limit: int) -> list[StoredAnswer]:
        """Return answers that are flagged, the newest first."""
        ...

"""Models that read a question and a passage together, and say how well they fit. None is needed."""

from collections.abc import Sequence
from typing import Protocol

from bio_mcp.deadline import Deadline


class Reranker(Protocol):
    """A model that scores passages for a question. Threads may share it."""

    @property
    def fingerprint(self) -> str:
        """Names provider and model; changes whenever scores may."""
        ...

    def scores(self, question: str, passages: Sequence[str], deadline: Deadline) -> list[float]:
        """Return a score for each passage, in their order: the higher the better. Scores of two calls do not compare.

        Raises `UpstreamFailed` when the service fails or cannot be reached, `EmbeddingFailed` when a model of this
        machine does, and `DeadlineExceeded`.
        """
        ...

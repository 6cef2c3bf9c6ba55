"""Language models that write answers. None is needed: without one, answers are extracts."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from bio_mcp.deadline import Deadline


@dataclass(frozen=True, slots=True)
class Generated:
    """What a model wrote, and the tokens that it took and gave, where it says so."""

    text: str
    input_tokens: int | None = None
    output_tokens: int | None = None


class LanguageModel(Protocol):
    """A model that writes an answer from numbered passages. Threads may share it."""

    @property
    def fingerprint(self) -> str:
        """Names provider, model and instructions; changes whenever answers may."""
        ...

    def generate(self, question: str, passages: Sequence[str], deadline: Deadline) -> Generated:
        """Write an answer to the question from the passages alone, each sentence citing them as [1], [2].

        Raises `UpstreamFailed` when the service fails or cannot be reached, and `DeadlineExceeded`.
        """
        ...

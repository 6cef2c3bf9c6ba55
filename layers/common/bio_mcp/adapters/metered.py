"""Ports whose use is charged to the call that runs."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bio_mcp.adapters.language_models import INSTRUCTIONS, MOST_TOKENS
from bio_mcp.deadline import Deadline
from bio_mcp.errors import Failure
from bio_mcp.ports.models import Generated, LanguageModel, Reranker
from bio_mcp.ports.ncbi import RateLimiter
from bio_mcp.ports.stores import Embeddings
from bio_mcp.scope import account_of_call, spend

if TYPE_CHECKING:
    from bio_mcp.retrieval.passages import Vectors

BYTES_A_TOKEN = 4  # of English, where a model does not say what it used


@dataclass(frozen=True, slots=True)
class MeteredTurns:
    """The port `RateLimiter` over another: a turn is one request to NCBI, and belongs to the caller's share."""

    turns: RateLimiter

    def wait(self, deadline: Deadline, share: str = "") -> None:
        spend("ncbi")
        self.turns.wait(deadline, share or account_of_call())

    def cool_down(self, seconds: float) -> None:
        self.turns.cool_down(seconds)


@dataclass(frozen=True, slots=True)
class MeteredEmbeddings:
    """The port `Embeddings` over another: each text counts."""

    model: Embeddings

    @property
    def fingerprint(self) -> str:
        return self.model.fingerprint

    @property
    def dim(self) -> int:
        return self.model.dim

    @property
    def max_tokens(self) -> int:
        return self.model.max_tokens

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return self.model.count_tokens(texts)

    def embed(self, texts: Sequence[str]) -> "Vectors":
        spend("embeddings", len(texts))
        return self.model.embed(texts)

    def embed_questions(self, texts: Sequence[str]) -> "Vectors":
        spend("embeddings", len(texts))
        return self.model.embed_questions(texts)


@dataclass(frozen=True, slots=True)
class MeteredReranker:
    """The port `Reranker` over another: each passage counts as an embedded text."""

    model: Reranker

    @property
    def fingerprint(self) -> str:
        return self.model.fingerprint

    def scores(self, question: str, passages: Sequence[str], deadline: Deadline) -> list[float]:
        spend("embeddings", len(passages))
        return self.model.scores(question, passages, deadline)


@dataclass(frozen=True, slots=True)
class MeteredLanguageModel:
    """The port `LanguageModel` over another: tokens count, those that it takes and those that it gives.

    As many as it could use are charged first, and what it did not use is given back.
    """

    model: LanguageModel

    @property
    def fingerprint(self) -> str:
        return self.model.fingerprint

    def generate(self, question: str, passages: Sequence[str], deadline: Deadline) -> Generated:
        given = sum(len(text.encode(errors="replace")) for text in (INSTRUCTIONS, question, *passages))
        most = given + MOST_TOKENS  # no token is shorter than a byte
        spend("model_tokens", most)
        try:
            generated = self.model.generate(question, passages, deadline)
        except Failure:
            spend("model_tokens", -most)
            raise
        used = _tokens(generated.input_tokens, given) + _tokens(generated.output_tokens, len(generated.text.encode()))
        spend("model_tokens", used - most)
        return generated


def _tokens(counted: int | None, size: int) -> int:
    """As the model counted them, or as many as text of `size` bytes usually has."""
    return size // BYTES_A_TOKEN if counted is None else counted

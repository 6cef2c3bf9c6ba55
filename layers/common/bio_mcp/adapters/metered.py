"""Ports whose use is charged to the call that runs."""

from collections.abc import Sequence
from typing import Any

from bio_mcp.adapters.language_models import INSTRUCTIONS, MOST_TOKENS
from bio_mcp.deadline import Deadline
from bio_mcp.errors import Failure
from bio_mcp.ports import PortOver
from bio_mcp.ports.models import Generated
from bio_mcp.scope import account_of_call, spend

BYTES_A_TOKEN = 4  # of English, where a model does not say what it used


class MeteredTurns(PortOver):
    """The port `RateLimiter`: a turn is one request to NCBI, and belongs to the caller's share."""

    def wait(self, deadline: Deadline, share: str = "") -> None:
        spend("ncbi")
        self._over.wait(deadline, share or account_of_call())


class MeteredEmbeddings(PortOver):
    """The port `Embeddings`: each text counts."""

    def embed(self, texts: Sequence[str]) -> Any:
        spend("embeddings", len(texts))
        return self._over.embed(texts)

    def embed_questions(self, texts: Sequence[str]) -> Any:
        spend("embeddings", len(texts))
        return self._over.embed_questions(texts)


class MeteredReranker(PortOver):
    """The port `Reranker`: each passage counts as an embedded text."""

    def scores(self, question: str, passages: Sequence[str], deadline: Deadline) -> Any:
        spend("embeddings", len(passages))
        return self._over.scores(question, passages, deadline)


class MeteredLanguageModel(PortOver):
    """The port `LanguageModel`: tokens count, those that it takes and those that it gives.

    As many as it could use are charged first, and what it did not use is given back.
    """

    def generate(self, question: str, passages: Sequence[str], deadline: Deadline) -> Generated:
        given = sum(len(text.encode(errors="replace")) for text in (INSTRUCTIONS, question, *passages))
        most = given + MOST_TOKENS  # no token is shorter than a byte
        spend("model_tokens", most)
        try:
            generated: Generated = self._over.generate(question, passages, deadline)
        except Failure:
            spend("model_tokens", -most)
            raise
        took, gave = generated.input_tokens, generated.output_tokens
        used = given // BYTES_A_TOKEN if took is None else took
        used += len(generated.text.encode()) // BYTES_A_TOKEN if gave is None else gave
        spend("model_tokens", used - most)
        return generated

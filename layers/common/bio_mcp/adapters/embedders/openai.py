"""Sentence-embedding models behind any endpoint with OpenAI's embeddings API (POST {base_url}/embeddings)."""

import json
import re
from collections.abc import Sequence
from hashlib import sha256
from typing import TYPE_CHECKING

import numpy as np

from bio_mcp.adapters.http import ModelEndpoint
from bio_mcp.adapters.retry import Backoff, retry
from bio_mcp.errors import EmbeddingFailed
from bio_mcp.scope import call_deadline

if TYPE_CHECKING:
    from bio_mcp.retrieval.passages import Vectors

TEXTS_PER_REQUEST = 96
BACKOFF = Backoff(tries=4, first_s=0.5, cap_s=8.0, patience_s=20.0)
SECONDS = 30.0  # of a request

_PIECES = re.compile(r"[A-Za-z]+|[0-9]+|[^\x00-\x7f]|[^\sA-Za-z0-9]")


class _Passing(EmbeddingFailed):
    """A failure that a retry may cure."""


class OpenAiEmbeddings:
    """The model `model` at `base_url`, with vectors of `dim` components; an empty key sends none.

    Its fingerprint is `{model}/http/{dim}`, and 16 hex digits of what stands before texts: the same wherever it is
    served.
    """

    max_tokens = 8_191

    def __init__(
        self,
        base_url: str,
        model: str,
        dim: int,
        *,
        api_key: str = "",
        prefix: str = "",
        question_prefix: str = "",
        backoff: Backoff = BACKOFF,
    ) -> None:
        self._model, self.dim = model, dim
        self._prefix, self._question_prefix = prefix, question_prefix
        self.fingerprint = f"{model}/http/{dim}"
        if prefix or question_prefix:
            before = json.dumps([prefix, question_prefix])
            self.fingerprint += f"/{sha256(before.encode()).hexdigest()[:16]}"
        self._backoff = backoff
        self._endpoint = ModelEndpoint(
            "The embedding endpoint",
            base_url.rstrip("/") + "/embeddings",
            ("its base URL", "the model's name"),
            api_key=lambda: api_key,
            passing=_Passing,
            lasting=EmbeddingFailed,
        )

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """An estimate that errs on the high side, as the endpoint's tokenizer is unknown.

        One token per 3 letters or digits of a run, per punctuation mark, and per byte beyond ASCII; 2 more for the
        special tokens around the text. WordPiece counts of biomedical abstracts are lower.
        """
        pieces = [_PIECES.findall(self._prefix + text) for text in texts]
        return [
            2 + sum(-(-len(each) // 3) if each.isascii() else len(each.encode("utf-8", "replace")) for each in of_text)
            for of_text in pieces
        ]

    def embed(self, texts: Sequence[str]) -> "Vectors":
        return self._embedded(texts, self._prefix)

    def embed_questions(self, texts: Sequence[str]) -> "Vectors":
        return self._embedded(texts, self._question_prefix)

    def _embedded(self, texts: Sequence[str], prefix: str) -> "Vectors":
        """Endpoints reject an empty text and invalid Unicode."""
        sent = [(prefix + text).encode("utf-8", "replace").decode() or " " for text in texts]
        vectors = np.empty((len(sent), self.dim), dtype=np.float32)
        for start in range(0, len(sent), TEXTS_PER_REQUEST):
            vectors[start : start + TEXTS_PER_REQUEST] = self._request(sent[start : start + TEXTS_PER_REQUEST])
        return vectors

    def _request(self, texts: list[str]) -> "Vectors":
        body = {"model": self._model, "input": texts, "encoding_format": "float"}
        answer = retry(
            lambda: self._endpoint.ask(body, call_deadline().share(SECONDS)), worth=_Passing, backoff=self._backoff
        )
        try:
            rows = {item["index"]: [float(value) for value in item["embedding"]] for item in answer["data"]}
            ordered = [rows[index] for index in range(len(texts))]  # answers come in any order
        except (KeyError, TypeError, ValueError):
            raise self._endpoint.unreadable() from None
        if any(len(row) != self.dim for row in ordered):
            message = f"The embedding endpoint returned {len(ordered[0])} dimensions where {self.dim} are configured."
            raise EmbeddingFailed(message, retryable=False)
        vectors = np.asarray(ordered, dtype=np.float64)
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        if not (np.isfinite(lengths).all() and lengths.all()):
            raise self._endpoint.unreadable()
        unit: Vectors = (vectors / lengths).astype(np.float32)
        return unit

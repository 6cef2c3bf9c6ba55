"""Sentence-embedding models behind any endpoint with OpenAI's embeddings API (POST {base_url}/embeddings)."""

import json
import re
from collections.abc import Sequence
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import httpx
import numpy as np

from bio_mcp.adapters.http import http_client
from bio_mcp.adapters.retry import Backoff, retry
from bio_mcp.errors import EmbeddingFailed
from bio_mcp.lazy import Lazy

if TYPE_CHECKING:
    from bio_mcp.retrieval.passages import Vectors

TEXTS_PER_REQUEST = 96
BACKOFF = Backoff(tries=4, first_s=0.5, cap_s=8.0, patience_s=20.0)
TRANSIENT_STATUSES = {408, 409, 425, 429, 500, 502, 503, 504, 529}

_PIECES = re.compile(r"[A-Za-z]+|[0-9]+|[^\x00-\x7f]|[^\sA-Za-z0-9]")


class _TransientFailure(EmbeddingFailed):
    """A failure that a retry may cure."""


class OpenAiEmbeddings:
    """The model `model` at `base_url`, with vectors of `dim` components.

    The key is sent as a bearer token and is in no log or message; an empty key sends none. The endpoint's error
    messages are not repeated, since some echo the key. `client` replaces the one made on first use.
    """

    def __init__(
        self,
        base_url: str,
        model: str,
        dim: int,
        *,
        api_key: str = "",
        max_tokens: int = 8_191,
        prefix: str = "",
        question_prefix: str = "",
        timeout_s: float = 30.0,
        backoff: Backoff = BACKOFF,
        client: httpx.Client | None = None,
    ) -> None:
        self._url = base_url.rstrip("/") + "/embeddings"
        self._model = model
        self._dim = dim
        self._max_tokens = max_tokens
        self._prefix, self._question_prefix = prefix, question_prefix
        self._headers = {"Authorization": f"Bearer {api_key}"} if api_key else {}
        self._backoff = backoff
        self._client = Lazy(lambda: client or http_client(timeout=timeout_s))

    @property
    def fingerprint(self) -> str:
        """`{model}/http/{dim}`, and 16 hex digits of what stands before texts: the same wherever it is served."""
        named = f"{self._model}/http/{self._dim}"
        before = json.dumps([self._prefix, self._question_prefix])
        return f"{named}/{sha256(before.encode()).hexdigest()[:16]}" if self._prefix or self._question_prefix else named

    @property
    def dim(self) -> int:
        return self._dim

    @property
    def max_tokens(self) -> int:
        return self._max_tokens

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """An estimate that errs on the high side, as the endpoint's tokenizer is unknown.

        One token per 3 letters or digits of a run, per punctuation mark, and per byte beyond ASCII; 2 more for the
        special tokens around the text. WordPiece counts of biomedical abstracts are lower.
        """
        return [2 + sum(map(_max_tokens_of, _PIECES.findall(self._prefix + text))) for text in texts]

    def embed(self, texts: Sequence[str]) -> "Vectors":
        """Unit vectors, float32, shape (len(texts), dim), in the order of `texts`; requests have 96 texts each."""
        return self._embedded([self._prefix + text for text in texts])

    def embed_questions(self, texts: Sequence[str]) -> "Vectors":
        """As `embed`, with what stands before a question."""
        return self._embedded([self._question_prefix + text for text in texts])

    def _embedded(self, texts: Sequence[str]) -> "Vectors":
        vectors = np.empty((len(texts), self._dim), dtype=np.float32)
        for start in range(0, len(texts), TEXTS_PER_REQUEST):
            batch = [_sendable(text) for text in texts[start : start + TEXTS_PER_REQUEST]]
            vectors[start : start + len(batch)] = self._request(batch)
        return vectors

    def _request(self, texts: list[str]) -> "Vectors":
        answer = retry(lambda: self._post(texts), worth=_TransientFailure, backoff=self._backoff)
        rows = _in_order(answer, len(texts))
        if any(len(row) != self._dim for row in rows):
            message = f"The embedding endpoint returned {len(rows[0])} dimensions where {self._dim} are configured."
            raise EmbeddingFailed(message, retryable=False)
        vectors = np.asarray(rows, dtype=np.float64)
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        if not (np.isfinite(lengths).all() and lengths.all()):
            raise _unreadable()
        unit: Vectors = (vectors / lengths).astype(np.float32)
        return unit

    def _post(self, texts: list[str]) -> Any:
        body = {"model": self._model, "input": texts, "encoding_format": "float"}
        try:
            response = self._client().post(self._url, json=body, headers=self._headers)
        except (httpx.HTTPError, httpx.InvalidURL):
            raise _TransientFailure("The embedding endpoint cannot be reached; check its base URL.") from None
        if response.status_code != httpx.codes.OK:
            raise _refusal(response)
        try:
            return response.json()
        except ValueError:
            raise _unreadable() from None


def _max_tokens_of(piece: str) -> int:
    return -(-len(piece) // 3) if piece.isascii() else len(piece.encode("utf-8", "replace"))


def _sendable(text: str) -> str:
    """Endpoints reject an empty text and invalid Unicode."""
    return text.encode("utf-8", "replace").decode() or " "


def _in_order(answer: Any, count: int) -> list[list[float]]:
    """The vectors in the order of the request: each item of an answer has the index of its text."""
    try:
        rows = {item["index"]: [float(value) for value in item["embedding"]] for item in answer["data"]}
        return [rows[index] for index in range(count)]
    except (KeyError, TypeError, ValueError):
        raise _unreadable() from None


def _unreadable() -> EmbeddingFailed:
    return EmbeddingFailed("The embedding endpoint's answer has no usable vector for every text.")


def _refusal(response: httpx.Response) -> EmbeddingFailed:
    status = response.status_code
    if status in TRANSIENT_STATUSES:
        message = f"The embedding endpoint is busy or down (HTTP {status}); try again later."
        return _TransientFailure(message, retry_after_s=_seconds(response.headers.get("Retry-After", "")))
    if status in {httpx.codes.UNAUTHORIZED, httpx.codes.FORBIDDEN}:
        return EmbeddingFailed(f"The embedding endpoint refused the API key (HTTP {status}).", retryable=False)
    message = f"The embedding endpoint refused the request (HTTP {status}); check its base URL and the model's name."
    return EmbeddingFailed(message, retryable=False)


def _seconds(retry_after: str) -> float | None:
    """Retry-After in seconds; None for a date, which these endpoints do not send."""
    return float(retry_after) if retry_after.strip().isdigit() else None

"""Rerankers behind an endpoint: the form of Cohere and Jina, or that of text-embeddings-inference."""

import json
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import httpx

from bio_mcp.adapters.http import TRANSIENT_STATUSES, http_client, read_body, seconds
from bio_mcp.deadline import Deadline
from bio_mcp.errors import UpstreamFailed
from bio_mcp.lazy import Lazy

UNREADABLE = "The reranker's answer has no score for every passage."

Body = dict[str, Any]


def cohere_body(model: str, question: str, passages: Sequence[str]) -> Body:
    """The request of POST /rerank as Cohere, Jina and others of that form take it."""
    return {"model": model, "query": question, "documents": list(passages), "top_n": len(passages)}


def tei_body(_model: str, question: str, passages: Sequence[str]) -> Body:
    """The request of POST /rerank as text-embeddings-inference takes it."""
    return {"query": question, "texts": list(passages), "truncate": True}


def cohere_scores(answer: Any) -> dict[int, float]:
    """Scores by the place of their passage."""
    return {each["index"]: float(each["relevance_score"]) for each in answer["results"]}


def tei_scores(answer: Any) -> dict[int, float]:
    """Scores by the place of their passage."""
    return {each["index"]: float(each["score"]) for each in answer}


FORMS: Mapping[str, tuple[Callable[[str, str, Sequence[str]], Body], Callable[[Any], dict[int, float]]]] = {
    "cohere": (cohere_body, cohere_scores),
    "tei": (tei_body, tei_scores),
}


class HttpReranker:
    """The port `Reranker`: `model` at `url`, which is asked in `form`, a key of `FORMS`, once and not again.

    `api_key` is called for each request; its key is sent as a bearer token and is in no log or message. The endpoint's
    messages are not repeated, since some echo the key. `patience_s` is the most that it may take.
    """

    def __init__(
        self,
        url: str,
        model: str,
        form: str,
        *,
        api_key: Callable[[], str] | None = None,
        patience_s: float = 2.0,
    ) -> None:
        self._url, self._model, self._form, self._api_key = url, model, form, api_key
        self._patience_s = patience_s
        self._client = Lazy(http_client)

    @property
    def fingerprint(self) -> str:
        return f"{self._form}/{self._model or 'model'}/{self._url.partition('//')[2].partition('/')[0]}"

    def scores(self, question: str, passages: Sequence[str], deadline: Deadline) -> list[float]:
        body, scores_of = FORMS[self._form]
        content = self._post(body(self._model, question, passages), deadline.share(self._patience_s))
        try:
            found = scores_of(json.loads(content))
            scores = [found[place] for place in range(len(passages))]
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            raise UpstreamFailed(UNREADABLE) from None
        if not all(map(math.isfinite, scores)):
            raise UpstreamFailed(UNREADABLE)
        return scores

    def _post(self, body: Body, deadline: Deadline) -> bytes:
        deadline.check("asking the reranker")
        headers = {"Authorization": f"Bearer {self._api_key()}"} if self._api_key else {}
        wanted: dict[str, Any] = {"json": body, "headers": headers, "timeout": deadline.remaining}
        try:
            with self._client().stream("POST", self._url, **wanted) as response:
                if response.status_code != httpx.codes.OK:
                    raise _refusal(response)
                return read_body(response, deadline, "reading the reranker's answer")
        except ValueError:
            raise UpstreamFailed(UNREADABLE, retryable=False) from None
        except httpx.TimeoutException:
            raise UpstreamFailed("The reranker did not answer in time.") from None
        except (httpx.HTTPError, httpx.InvalidURL):
            raise UpstreamFailed("The reranker cannot be reached; check BIO_MCP_RERANKER_URL.") from None


def _refusal(response: httpx.Response) -> UpstreamFailed:
    status = response.status_code
    if status in TRANSIENT_STATUSES:
        after = seconds(response.headers.get("Retry-After"))
        return UpstreamFailed(f"The reranker is busy or down (HTTP {status}).", retry_after_s=after)
    if status in {httpx.codes.UNAUTHORIZED, httpx.codes.FORBIDDEN}:
        return UpstreamFailed(f"The reranker refused the API key (HTTP {status}).", retryable=False)
    wrong = "check BIO_MCP_RERANKER_URL and BIO_MCP_RERANKER_MODEL"
    return UpstreamFailed(f"The reranker refused the request (HTTP {status}); {wrong}.", retryable=False)

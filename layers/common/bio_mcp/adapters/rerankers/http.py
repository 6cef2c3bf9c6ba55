"""Rerankers behind an endpoint: the form of Cohere and Jina, or that of text-embeddings-inference."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from bio_mcp.adapters.http import ModelEndpoint
from bio_mcp.deadline import Deadline
from bio_mcp.errors import UpstreamFailed

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

    `patience_s` is the most that it may take.
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
        self._model, self._form, self._patience_s = model, form, patience_s
        self._endpoint = ModelEndpoint(
            "The reranker",
            url,
            ("BIO_MCP_RERANKER_URL", "BIO_MCP_RERANKER_MODEL"),
            api_key=api_key,
            passing=UpstreamFailed,
            lasting=UpstreamFailed,
        )
        self.fingerprint = f"{form}/{model or 'model'}/{url.partition('//')[2].partition('/')[0]}"

    def scores(self, question: str, passages: Sequence[str], deadline: Deadline) -> list[float]:
        body, scores_of = FORMS[self._form]
        asked = body(self._model, question, passages)
        answer = self._endpoint.ask(asked, deadline.share(self._patience_s))
        try:
            found = scores_of(answer)
            scores = [found[place] for place in range(len(passages))]
        except (ValueError, KeyError, TypeError, AttributeError):
            raise self._endpoint.unreadable() from None
        if not all(map(math.isfinite, scores)):
            raise self._endpoint.unreadable()
        return scores

"""Rerankers behind an endpoint: the form of Cohere and Jina, or that of text-embeddings-inference."""

import math
from collections.abc import Callable, Sequence
from typing import Any

from bio_mcp.adapters.http import ModelEndpoint
from bio_mcp.deadline import Deadline
from bio_mcp.errors import UpstreamFailed


class HttpReranker:
    """The port `Reranker`: `model` at `url`, which is asked once and not again.

    `form` is "tei", that of text-embeddings-inference, or "cohere", that of Cohere, Jina and others. `patience_s` is
    the most that it may take.
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
        tei = self._form == "tei"
        asked: dict[str, Any] = (
            {"query": question, "texts": list(passages), "truncate": True}
            if tei
            else {"model": self._model, "query": question, "documents": list(passages), "top_n": len(passages)}
        )
        answer = self._endpoint.ask(asked, deadline.share(self._patience_s))
        try:
            rows, named = (answer, "score") if tei else (answer["results"], "relevance_score")
            found = {each["index"]: float(each[named]) for each in rows}
            scores = [found[place] for place in range(len(passages))]
        except (ValueError, KeyError, TypeError, AttributeError):
            raise self._endpoint.unreadable() from None
        if not all(map(math.isfinite, scores)):
            raise self._endpoint.unreadable()
        return scores

"""Rerankers of Amazon Bedrock, by Rerank."""

from collections.abc import Callable, Sequence
from math import floor, isfinite, nan
from typing import Any

from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from bio_mcp.adapters.aws.failures import code_of
from bio_mcp.deadline import Deadline
from bio_mcp.errors import UpstreamFailed

TRANSIENT = {"ThrottlingException", "InternalServerException", "DependencyFailedException"}
REFUSED = {
    "AccessDeniedException": "This process may not use the reranker: check access to it in Bedrock and the role.",
    "ResourceNotFoundException": "Bedrock has no such reranker here; check BIO_MCP_RERANKER_MODEL.",
    "ValidationException": "Bedrock refused the request; check BIO_MCP_RERANKER_MODEL.",
}
UNREADABLE = "The reranker's answer has no score for every passage."
LONGEST = 30_000  # characters of a text


class BedrockReranker:
    """The port `Reranker`: the model with the ARN `model`, asked once. `make` returns a client of a service with a
    configuration; `patience_s` is the most that it may take."""

    def __init__(self, make: Callable[[str, Config], Any], model: str, *, patience_s: float = 2.0) -> None:
        self._make, self._model, self._patience_s = make, model, patience_s
        self._clients: dict[int, Any] = {}

    @property
    def fingerprint(self) -> str:
        return f"bedrock/{self._model.rpartition('/')[2]}"

    def scores(self, question: str, passages: Sequence[str], deadline: Deadline) -> list[float]:
        deadline = deadline.share(self._patience_s)
        deadline.check("asking the reranker")
        try:
            answer = self._client(deadline).rerank(**_request(self._model, question, passages))
        except ClientError as error:
            raise _failure(code_of(error)) from error
        except BotoCoreError as error:
            raise UpstreamFailed("Bedrock could not be reached, or did not answer in time.") from error
        found = {each["index"]: float(each["relevanceScore"]) for each in answer.get("results", ())}
        if any(not isfinite(found.get(place, nan)) for place in range(len(passages))):
            raise UpstreamFailed(UNREADABLE)
        return [found[place] for place in range(len(passages))]

    def _client(self, deadline: Deadline) -> Any:
        whole = max(1, floor(deadline.remaining))
        if whole not in self._clients:
            config = Config(
                connect_timeout=whole, read_timeout=whole, retries={"mode": "standard", "total_max_attempts": 1}
            )
            self._clients[whole] = self._make("bedrock-agent-runtime", config)
        return self._clients[whole]


def _request(model: str, question: str, passages: Sequence[str]) -> dict[str, Any]:
    return {
        "queries": [{"type": "TEXT", "textQuery": {"text": question[:LONGEST]}}],
        "sources": [{"type": "INLINE", "inlineDocumentSource": _document(each[:LONGEST])} for each in passages],
        "rerankingConfiguration": {
            "type": "BEDROCK_RERANKING_MODEL",
            "bedrockRerankingConfiguration": {
                "modelConfiguration": {"modelArn": model},
                "numberOfResults": len(passages),
            },
        },
    }


def _document(text: str) -> dict[str, Any]:
    return {"type": "TEXT", "textDocument": {"text": text or " "}}


def _failure(code: str) -> UpstreamFailed:
    if code in TRANSIENT:
        return UpstreamFailed("Bedrock is busy or its reranker failed; the same request may succeed later.")
    return UpstreamFailed(REFUSED.get(code, "Bedrock refused the request."), retryable=False)

"""Language models of Amazon Bedrock, by Converse."""

import math
from collections.abc import Callable, Sequence
from typing import Any

from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from bio_mcp.adapters.aws.failures import code_of
from bio_mcp.adapters.language_models import prompt
from bio_mcp.adapters.retry import Backoff, retry
from bio_mcp.deadline import Deadline
from bio_mcp.errors import UpstreamFailed
from bio_mcp.ports.language_models import Generated

BACKOFF = Backoff(tries=3, first_s=0.5, cap_s=4.0, patience_s=5.0)
TRANSIENT = {
    "ThrottlingException", "ModelNotReadyException", "ModelTimeoutException", "ModelErrorException",
    "InternalServerException", "ServiceUnavailableException",
}  # fmt: skip
REFUSED = {
    "AccessDeniedException": "This process may not use the language model: check access to it in Bedrock and the role.",
    "ResourceNotFoundException": "Bedrock has no such model here; check BIO_MCP_LLM_MODEL and BIO_MCP_LLM_REGION.",
    "ValidationException": "Bedrock refused the request; check BIO_MCP_LLM_MODEL and BIO_MCP_LLM_GUARDRAIL.",
}


class _TransientFailure(UpstreamFailed):
    """A failure that a retry may cure."""


class BedrockLanguageModel:
    """The port `LanguageModel`: `model` in `region`, "" for that of the environment.

    `make` returns a client of a service with a configuration. A client has one time-out for all its requests, so there
    is one for each number of whole seconds left. `guardrail` is ID:VERSION, or "".
    """

    def __init__(
        self,
        make: Callable[[str, Config], Any],
        model: str,
        *,
        region: str = "",
        guardrail: str = "",
        seconds: float = 15.0,
        backoff: Backoff = BACKOFF,
    ) -> None:
        self._make = make
        self._model = model
        self._region = region
        self._guardrail = guardrail
        self._seconds = seconds
        self._backoff = backoff
        self._clients: dict[int, Any] = {}

    @property
    def fingerprint(self) -> str:
        return prompt.fingerprint("bedrock", self._model, self._region, self._guardrail)

    def generate(self, question: str, passages: Sequence[str], deadline: Deadline) -> Generated:
        deadline = deadline.share(self._seconds)
        request: dict[str, Any] = {
            "modelId": self._model,
            "system": [{"text": prompt.INSTRUCTIONS}],
            "messages": [{"role": "user", "content": [{"text": prompt.asked(question, passages)}]}],
            "inferenceConfig": {"temperature": 0, "maxTokens": prompt.MOST_TOKENS},
        }
        if self._guardrail:
            name, _, version = self._guardrail.rpartition(":")
            request["guardrailConfig"] = {"guardrailIdentifier": name, "guardrailVersion": version}
        answer = retry(
            lambda: self._converse(request, deadline), worth=_TransientFailure, backoff=self._backoff, deadline=deadline
        )
        return _generated(answer)

    def _converse(self, request: dict[str, Any], deadline: Deadline) -> Any:
        deadline.check("asking the language model")
        try:
            return self._client(deadline).converse(**request)
        except ClientError as error:
            raise _failure(code_of(error)) from error
        except BotoCoreError as error:
            raise _TransientFailure("Bedrock could not be reached, or did not answer in time.") from error

    def _client(self, deadline: Deadline) -> Any:
        seconds = max(1, math.floor(deadline.remaining))
        if seconds not in self._clients:
            config = Config(
                region_name=self._region or None,
                connect_timeout=min(3, seconds),
                read_timeout=seconds,
                retries={"mode": "standard", "total_max_attempts": 1},
            )
            self._clients[seconds] = self._make("bedrock-runtime", config)
        return self._clients[seconds]


def _failure(code: str) -> UpstreamFailed:
    if code in TRANSIENT:
        return _TransientFailure("Bedrock is busy or its model failed; the same request may succeed later.")
    return UpstreamFailed(REFUSED.get(code, "Bedrock refused the request."), retryable=False)


def _generated(answer: Any) -> Generated:
    if answer.get("stopReason") in ("guardrail_intervened", "content_filtered"):
        raise UpstreamFailed("Bedrock's guardrail held the answer back.", retryable=False)
    try:
        texts = [part["text"] for part in answer["output"]["message"]["content"] if "text" in part]
    except (KeyError, TypeError) as error:
        raise UpstreamFailed("The language model's answer cannot be read.") from error
    usage = answer.get("usage", {})
    return Generated(prompt.read("".join(texts)), usage.get("inputTokens"), usage.get("outputTokens"))

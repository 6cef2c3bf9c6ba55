"""Language models and rerankers of Amazon Bedrock."""

from collections.abc import Callable, Sequence
from math import floor, isfinite, nan
from typing import Any

from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from bio_mcp.adapters import language_models
from bio_mcp.adapters.aws.clients import Clients, ClientsByTime, code_of
from bio_mcp.adapters.retry import Backoff, retry
from bio_mcp.deadline import Deadline
from bio_mcp.errors import UpstreamFailed
from bio_mcp.ports.models import Generated

BACKOFF = Backoff(tries=3, first_s=0.5, cap_s=4.0, patience_s=5.0)
TRANSIENT = {
    "ThrottlingException", "ModelNotReadyException", "ModelTimeoutException", "ModelErrorException",
    "InternalServerException", "ServiceUnavailableException", "DependencyFailedException",
}  # fmt: skip
REFUSED = {
    "AccessDeniedException": "This process may not use the {what}: check access to it in Bedrock and the role.",
    "ResourceNotFoundException": "Bedrock has no such {what} here; check {settings}.",
    "ValidationException": "Bedrock refused the request; check {settings}.",
}
Make = Callable[[str, Config], Any]
"""Makes a client of a service with a configuration."""


class _TransientFailure(UpstreamFailed):
    """A failure that a retry may cure."""


class _Bedrock:
    """A service of Bedrock. Failures name `what` was asked and the `settings` to check, and nothing of the account."""

    def __init__(self, name: str, region: str, make: Make | None, what: str, settings: str) -> None:
        self._what, self._settings = what, settings
        make, here = make or Clients().make, Config(region_name=region or None)
        self._clients = ClientsByTime(lambda config: make(name, config.merge(here)))

    def ask(self, operation: str, deadline: Deadline, **request: Any) -> Any:
        deadline.check(f"asking the {self._what}")
        client = self._clients.within(max(1, floor(deadline.remaining)))
        try:
            return getattr(client, operation)(**request)
        except ClientError as error:
            code = code_of(error)
            if code in TRANSIENT:
                raise _TransientFailure(
                    f"Bedrock is busy or its {self._what} failed; the same request may succeed later."
                ) from error
            sentence = REFUSED.get(code, "Bedrock refused the request.")
            raise UpstreamFailed(sentence.format(what=self._what, settings=self._settings), retryable=False) from error
        except BotoCoreError as error:
            raise _TransientFailure("Bedrock could not be reached, or did not answer in time.") from error


class BedrockLanguageModel:
    """The port `LanguageModel`: `model` in `region`, "" for that of the environment; `guardrail` is ID:VERSION, or
    ""."""

    def __init__(
        self,
        model: str,
        *,
        region: str = "",
        guardrail: str = "",
        seconds: float = 15.0,
        backoff: Backoff = BACKOFF,
        make: Make | None = None,
    ) -> None:
        self._model, self._guardrail = model, guardrail
        self._seconds, self._backoff = seconds, backoff
        settings = "BIO_MCP_LLM_MODEL, BIO_MCP_LLM_REGION and BIO_MCP_LLM_GUARDRAIL"
        self._bedrock = _Bedrock("bedrock-runtime", region, make, "language model", settings)
        self.fingerprint = language_models.fingerprint("bedrock", model, region, guardrail)

    def generate(self, question: str, passages: Sequence[str], deadline: Deadline) -> Generated:
        deadline = deadline.share(self._seconds)
        request: dict[str, Any] = {
            "modelId": self._model,
            "system": [{"text": language_models.INSTRUCTIONS}],
            "messages": [{"role": "user", "content": [{"text": language_models.asked(question, passages)}]}],
            "inferenceConfig": {"temperature": 0, "maxTokens": language_models.MOST_TOKENS},
        }
        if self._guardrail:
            name, _, version = self._guardrail.rpartition(":")
            request["guardrailConfig"] = {"guardrailIdentifier": name, "guardrailVersion": version}
        answer = retry(
            lambda: self._bedrock.ask("converse", deadline, **request),
            worth=_TransientFailure,
            backoff=self._backoff,
            deadline=deadline,
        )
        if answer.get("stopReason") in ("guardrail_intervened", "content_filtered"):
            raise UpstreamFailed("Bedrock's guardrail held the answer back.", retryable=False)
        try:
            texts = [part["text"] for part in answer["output"]["message"]["content"] if "text" in part]
        except (KeyError, TypeError) as error:
            raise UpstreamFailed("The language model's answer cannot be read.") from error
        usage = answer.get("usage", {})
        return Generated(language_models.read("".join(texts)), usage.get("inputTokens"), usage.get("outputTokens"))


UNREADABLE = "The reranker's answer has no score for every passage."
LONGEST = 30_000  # characters of a text


class BedrockReranker:
    """The port `Reranker`: the model with the ARN `model`, asked once. `patience_s` is the most that it may take."""

    def __init__(self, model: str, *, patience_s: float = 2.0, make: Make | None = None) -> None:
        self._model, self._patience_s = model, patience_s
        self._bedrock = _Bedrock("bedrock-agent-runtime", "", make, "reranker", "BIO_MCP_RERANKER_MODEL")
        self.fingerprint = f"bedrock/{model.rpartition('/')[2]}"

    def scores(self, question: str, passages: Sequence[str], deadline: Deadline) -> list[float]:
        texts = [{"type": "TEXT", "textDocument": {"text": each[:LONGEST] or " "}} for each in passages]
        model = {"modelConfiguration": {"modelArn": self._model}, "numberOfResults": len(passages)}
        answer = self._bedrock.ask(
            "rerank",
            deadline.share(self._patience_s),
            queries=[{"type": "TEXT", "textQuery": {"text": question[:LONGEST]}}],
            sources=[{"type": "INLINE", "inlineDocumentSource": each} for each in texts],
            rerankingConfiguration={
                "type": "BEDROCK_RERANKING_MODEL",
                "bedrockRerankingConfiguration": model,
            },
        )
        found = {each["index"]: float(each["relevanceScore"]) for each in answer.get("results", ())}
        if any(not isfinite(found.get(place, nan)) for place in range(len(passages))):
            raise UpstreamFailed(UNREADABLE)
        return [found[place] for place in range(len(passages))]

"""Language models, by the name of their provider."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from bio_mcp.errors import Misconfigured
from bio_mcp.settings import Settings
from bio_mcp.wiring.secrets import secret_of

if TYPE_CHECKING:
    from bio_mcp.ports.language_models import LanguageModel


def _none(_settings: Settings) -> None:
    return None


def _openai(settings: Settings) -> "LanguageModel":
    from bio_mcp.adapters.language_models.openai import OpenAiLanguageModel

    elsewhere = settings.llm_base_url
    key = settings.llm_api_key or ("" if elsewhere else settings.openai_api_key)  # a key goes only to its own address
    return OpenAiLanguageModel(
        elsewhere or settings.openai_base_url, settings.needed("llm_model"), api_key=secret_of(key)
    )


def _bedrock(settings: Settings) -> "LanguageModel":
    try:
        from bio_mcp.adapters.aws.bedrock import BedrockLanguageModel
        from bio_mcp.adapters.aws.clients import Clients
    except ModuleNotFoundError:
        raise Misconfigured("BIO_MCP_LLM=bedrock takes boto3; install the extra aws, as docs/runbook.md says") from None
    if settings.llm_guardrail and ":" not in settings.llm_guardrail:
        raise Misconfigured("BIO_MCP_LLM_GUARDRAIL names no version; it takes ID:VERSION, such as gr-abc:1")
    clients = Clients()
    return BedrockLanguageModel(
        lambda service, config: clients.make(service, config=config),
        settings.needed("llm_model"),
        region=settings.llm_region,
        guardrail=settings.llm_guardrail,
        seconds=settings.llm_seconds,
    )


LANGUAGE_MODELS: dict[str, Callable[[Settings], "LanguageModel | None"]] = {
    "none": _none,
    "openai": _openai,
    "bedrock": _bedrock,
}

"""The settings of the language model that may write answers."""

from dataclasses import dataclass
from typing import Literal

from bio_mcp.embedding_settings import EmbeddingSettings
from bio_mcp.setting_fields import setting


@dataclass(frozen=True, slots=True, kw_only=True)
class LanguageModelSettings(EmbeddingSettings):
    """A part of `Settings`."""

    llm: Literal["none", "bedrock", "openai"] = setting(
        "BIO_MCP_LLM",
        "none",
        "who writes answers: none (they are sentences of papers, word for word), bedrock (Amazon Bedrock) or openai "
        "(an endpoint with OpenAI's chat completions); question and quoted sentences are sent there, and each sentence "
        "that comes back is checked",
    )
    llm_model: str = setting("BIO_MCP_LLM_MODEL", "", "model or inference profile that writes answers")
    llm_base_url: str = setting(
        "BIO_MCP_LLM_BASE_URL", "", "address of the chat completions, for openai; empty: OPENAI_BASE_URL"
    )
    llm_api_key: str = setting(
        "BIO_MCP_LLM_API_KEY",
        "",
        "key for that address, or its place on AWS: secretsmanager:NAME or ssm:NAME; empty: OPENAI_API_KEY, where "
        "BIO_MCP_LLM_BASE_URL is empty too",
        secret=True,
    )
    llm_region: str = setting("BIO_MCP_LLM_REGION", "", "AWS region of the model, for bedrock; empty: AWS_REGION")
    llm_guardrail: str = setting(
        "BIO_MCP_LLM_GUARDRAIL", "", "guardrail of Bedrock that texts pass, as ID:VERSION; empty: none"
    )
    llm_seconds: int = setting("BIO_MCP_LLM_SECONDS", 15, "seconds that the model may take before the extract is given")

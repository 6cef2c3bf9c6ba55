"""The settings of the models that make vectors."""

from dataclasses import dataclass
from typing import Literal

from bio_mcp.aws_settings import AwsSettings
from bio_mcp.setting_fields import setting


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingSettings(AwsSettings):
    """A part of `Settings`."""

    embeddings: Literal["onnx", "hf", "openai"] = setting(
        "BIO_MCP_EMBEDDINGS", "onnx", "embedding provider: onnx, hf or openai"
    )
    embedding_model: str = setting("BIO_MCP_EMBEDDING_MODEL", "all-MiniLM-L6-v2", "model that the provider loads")
    embedding_dim: int = setting("BIO_MCP_EMBEDDING_DIM", 384, "dimensions of the model, for the openai provider")
    passage_prefix: str = setting(
        "BIO_MCP_PASSAGE_PREFIX", "", "what the model of the openai provider wants before each passage"
    )
    question_prefix: str = setting(
        "BIO_MCP_QUESTION_PREFIX", "", "what that model wants before each question; other models know theirs"
    )
    multilingual: str = setting(
        "BIO_MCP_MULTILINGUAL",
        "",
        "model of a second index of papers, for questions in Thai: multilingual-e5-small, which "
        "`bio-mcp setup --multilingual` builds, or openai:NAME, a model of that endpoint; empty: Thai is looked up "
        "word by word",
    )
    threads: int = setting("BIO_MCP_THREADS", 0, "threads of the embedding model; 0: one per core")

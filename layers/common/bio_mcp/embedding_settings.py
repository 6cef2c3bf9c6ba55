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
    other_models: tuple[str, ...] = setting(
        "BIO_MCP_OTHER_MODELS",
        (),
        "models that this process may use besides, for an index that has their vectors: openai:NAME of that endpoint; "
        "those in BIO_MCP_MODELS are found without",
    )
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
    reranker: Literal["none", "onnx", "cohere", "tei", "bedrock"] = setting(
        "BIO_MCP_RERANKER",
        "none",
        "who reads the best 30 hits of a search again and orders them: none; onnx, a model that `bio-mcp models add "
        "--reranker` installed; cohere or tei, an endpoint in the form of Cohere's and Jina's or of "
        "text-embeddings-inference; bedrock; question and passages are sent there",
    )
    reranker_model: str = setting(
        "BIO_MCP_RERANKER_MODEL", "", "its name: where it is installed, at the endpoint, or its ARN in Bedrock"
    )
    reranker_url: str = setting(
        "BIO_MCP_RERANKER_URL", "", "whole address of that endpoint, such as http://host/rerank"
    )
    reranker_api_key: str = setting(
        "BIO_MCP_RERANKER_API_KEY",
        "",
        "key for that endpoint, or its place on AWS: secretsmanager:NAME or ssm:NAME",
        secret=True,
    )
    reranker_seconds: int = setting(
        "BIO_MCP_RERANKER_SECONDS", 2, "seconds that it may take before the hits stay in the order of the search"
    )
    threads: int = setting("BIO_MCP_THREADS", 0, "threads of the embedding model; 0: one per core")

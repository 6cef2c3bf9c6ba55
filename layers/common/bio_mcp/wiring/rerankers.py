"""Rerankers, by the name of their provider."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from bio_mcp.errors import Misconfigured
from bio_mcp.settings import Settings
from bio_mcp.wiring.secrets import secret_of

if TYPE_CHECKING:
    from bio_mcp.ports.reranking import Reranker


def _onnx(settings: Settings) -> "Reranker":
    from bio_mcp.adapters.rerankers.onnx import OnnxReranker

    name = settings.needed("reranker_model")
    if Path(name).name != name:
        raise Misconfigured("BIO_MCP_RERANKER_MODEL takes the name of an installed reranker")
    return OnnxReranker(settings.models.expanduser() / name, patience_s=settings.reranker_seconds)


def _http(settings: Settings) -> "Reranker":
    from bio_mcp.adapters.rerankers.http import HttpReranker

    key, url = secret_of(settings.reranker_api_key), settings.needed("reranker_url")
    seconds, model = settings.reranker_seconds, settings.reranker_model
    return HttpReranker(url, model, settings.reranker, api_key=key, patience_s=seconds)


def _bedrock(settings: Settings) -> "Reranker":
    try:
        from bio_mcp.adapters.aws.bedrock_reranker import BedrockReranker
        from bio_mcp.adapters.aws.clients import Clients
    except ModuleNotFoundError:
        raise Misconfigured(
            "BIO_MCP_RERANKER=bedrock takes boto3; install the extra aws, as docs/runbook.md says"
        ) from None
    clients, model = Clients(), settings.needed("reranker_model")
    return BedrockReranker(
        lambda service, config: clients.make(service, config=config), model, patience_s=settings.reranker_seconds
    )


def reranker(settings: Settings) -> "Reranker | None":
    """The reranker that the settings name; None where they name none. Raises `Misconfigured`, `EmbeddingFailed`."""
    return RERANKERS[settings.reranker](settings) if settings.reranker != "none" else None


RERANKERS: dict[str, Callable[[Settings], "Reranker"]] = {
    "onnx": _onnx,
    "cohere": _http,
    "tei": _http,
    "bedrock": _bedrock,
}

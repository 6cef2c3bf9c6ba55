"""Embedding models, by the name of their provider."""

import os
from collections.abc import Callable
from typing import TYPE_CHECKING

from bio_mcp.settings import Settings

if TYPE_CHECKING:
    from bio_mcp.ports.stores import Embeddings


def _onnx(settings: Settings) -> "Embeddings":
    from bio_mcp.adapters.embedders.onnx import OnnxEmbeddings

    threads = settings.threads or os.cpu_count() or 1
    return OnnxEmbeddings(settings.models.expanduser() / settings.embedding_model, threads=threads)


def _hf(settings: Settings) -> "Embeddings":
    from bio_mcp.adapters.embedders.hf import HfEmbeddings

    return HfEmbeddings(settings.models.expanduser() / settings.embedding_model)


def _openai(settings: Settings) -> "Embeddings":
    from bio_mcp.adapters.embedders.openai import OpenAiEmbeddings

    return OpenAiEmbeddings(
        base_url=settings.openai_base_url,
        api_key=settings.openai_api_key,
        model=settings.embedding_model,
        dim=settings.embedding_dim,
    )


EMBEDDINGS: dict[str, Callable[[Settings], "Embeddings"]] = {"onnx": _onnx, "hf": _hf, "openai": _openai}

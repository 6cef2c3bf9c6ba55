"""Embedding models, by the name of their provider."""

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from bio_mcp.errors import Misconfigured
from bio_mcp.health import OK, WARN, Finding, examine
from bio_mcp.settings import Settings

if TYPE_CHECKING:
    from bio_mcp.ports import Backends
    from bio_mcp.ports.multilingual import Multilingual
    from bio_mcp.ports.stores import Embeddings, Passages


def _onnx(settings: Settings) -> "Embeddings":
    from bio_mcp.adapters.embedders.onnx import OnnxEmbeddings

    threads = settings.threads or os.cpu_count() or 1
    return OnnxEmbeddings(settings.models.expanduser() / settings.embedding_model, threads=threads)


def _hf(settings: Settings) -> "Embeddings":
    from bio_mcp.adapters.embedders.hf import HfEmbeddings

    return HfEmbeddings(settings.models.expanduser() / settings.embedding_model)


def _openai(settings: Settings, model: str = "") -> "Embeddings":
    from bio_mcp.adapters.embedders.openai import OpenAiEmbeddings

    return OpenAiEmbeddings(
        base_url=settings.openai_base_url,
        api_key=settings.openai_api_key,
        model=model or settings.embedding_model,
        dim=settings.embedding_dim,
        prefix="" if model else settings.passage_prefix,
        question_prefix="" if model else settings.question_prefix,
    )


def multilingual(settings: Settings, passages: Callable[[], "Passages"]) -> "Multilingual | None":
    """The second index over `passages`, by the model that the settings name; None where they name none."""
    if not settings.multilingual:
        return None
    from bio_mcp.adapters.metered import MeteredEmbeddings
    from bio_mcp.adapters.multilingual import MultilingualIndex

    provider, _, name = settings.multilingual.partition(":")
    if provider == "openai" and name:
        model = MeteredEmbeddings(_openai(settings, name))
        return MultilingualIndex(passages(), model)
    if Path(settings.multilingual).name != settings.multilingual:
        raise Misconfigured("BIO_MCP_MULTILINGUAL takes the name of an installed model, or openai:NAME")
    from bio_mcp.adapters.embedders.onnx import OnnxEmbeddings

    threads = settings.threads or os.cpu_count() or 1
    installed = OnnxEmbeddings(settings.models.expanduser() / settings.multilingual, threads=threads)
    return MultilingualIndex(passages(), MeteredEmbeddings(installed))


def multilingual_checks(backends: "Backends", settings: Settings) -> list[Finding]:
    """Check the multilingual index, where the settings name a model."""

    def state() -> Finding:
        there, papers = backends.multilingual.count() if backends.multilingual else 0, backends.documents.count()
        if there < papers:
            remedy = "bio-mcp reindex adds the others; until then answers to Thai questions are partial."
            return Finding(WARN, f"{there:,} of {papers:,} papers", remedy)
        return Finding(OK, f"{there:,} papers by {settings.multilingual}")

    return [examine("multilingual index", state)] if settings.multilingual else []


EMBEDDINGS: dict[str, Callable[[Settings], "Embeddings"]] = {"onnx": _onnx, "hf": _hf, "openai": _openai}


def one_thread(settings: Settings) -> "Embeddings":
    """The model of the settings on one thread: for a process that is one of several."""
    return EMBEDDINGS[settings.embeddings](replace(settings, threads=1))

"""Embedding models, by the name of their provider."""

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from bio_mcp.errors import EmbeddingFailed, Misconfigured, ModelMismatch, NotFound
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


MANIFEST = "model.json"  # of an installed model; its reader imports ONNX Runtime's neighbours


class InstalledModels:
    """The port `Models`: the configured model, those named by `BIO_MCP_OTHER_MODELS`, and those installed beside it.

    A model is opened when it is first asked for; of an installed one only its manifest is read before.
    """

    def __init__(self, settings: Settings, configured: "Callable[[], Embeddings]") -> None:
        self._settings, self.configured = settings, configured
        self._made: dict[str, Embeddings] = {}
        self._lock = Lock()

    def of(self, fingerprint: str) -> "Embeddings | None":
        configured = self.configured()
        if configured.fingerprint == fingerprint:
            return configured
        return next((model for each in self.others if (model := self._usable(each, fingerprint))), None)

    def named(self, name: str) -> "Embeddings":
        if name in ("", self._name):
            return self.configured()
        if name not in self.others:
            there = ", ".join([self._name, *self.others])
            raise NotFound(
                f"No embedding model {name[:100]!r} is installed, but {there}; bio-mcp models add installs one."
            )
        return self._model(name)

    def settings_of(self, fingerprint: str) -> Settings:
        """The settings under which the model with this fingerprint is the configured one."""
        for name in self.others if self.configured().fingerprint != fingerprint else ():
            if self._usable(name, fingerprint):
                provider, _, model = name.rpartition(":")
                kind: Any = provider or "onnx"
                return replace(self._settings, embeddings=kind, embedding_model=model)
        return self._settings

    @property
    def others(self) -> list[str]:
        """The names of the models beside the configured one."""
        here = self._settings.models.expanduser()
        installed = sorted(each.parent.name for each in here.glob(f"[!.]*/{MANIFEST}"))
        return [*self._settings.other_models, *(each for each in installed if each != self._name)]

    @property
    def _name(self) -> str:
        """The name of the configured model among the others."""
        kind, name = self._settings.embeddings, self._settings.embedding_model
        return name if kind == "onnx" else f"{kind}:{name}"

    def _usable(self, name: str, fingerprint: str) -> "Embeddings | None":
        """The model of that name, if it has the fingerprint; a damaged one, or a reranker, has none."""
        try:
            model = self._model(name)
        except EmbeddingFailed:
            return None
        return model if model.fingerprint == fingerprint else None

    def _model(self, name: str) -> "Embeddings":
        with self._lock:
            if name not in self._made:
                self._made[name] = _made(self._settings, name)
            return self._made[name]


def _made(settings: Settings, name: str) -> "Embeddings":
    from bio_mcp.adapters.metered import MeteredEmbeddings

    provider, _, model = name.rpartition(":")
    if provider == "openai":
        return MeteredEmbeddings(_openai(settings, model))
    if provider or Path(model).name != model:
        raise Misconfigured("BIO_MCP_OTHER_MODELS takes names of installed models, or openai:NAME")
    from bio_mcp.adapters.embedders.onnx import OnnxEmbeddings

    threads = settings.threads or os.cpu_count() or 1
    return MeteredEmbeddings(OnnxEmbeddings(settings.models.expanduser() / model, threads=threads))


def model_of(index: "tuple[Passages, tuple[str, int] | None]", models: InstalledModels) -> "Embeddings":
    """The model by which an index is searched: its own, if it is here, and the configured one for an empty index."""
    passages, indexed = index
    configured = models.configured()
    if indexed in (None, (configured.fingerprint, configured.dim)):
        return configured
    try:
        passages.check_model(configured.fingerprint, configured.dim)
    except ModelMismatch as mismatch:
        return models.of(mismatch.details["indexed"]) or configured
    return configured


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

"""Models that embed, rerank and write."""

import os
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeVar

from bio_mcp.errors import EmbeddingFailed, IndexUnavailable, Misconfigured, ModelMismatch, NotFound, StoreFailed
from bio_mcp.scope import memoize
from bio_mcp.settings import Settings
from bio_mcp.wiring.mode import Mode, load, load_from_aws, secret_of

if TYPE_CHECKING:
    from bio_mcp.adapters.embedders.model_files import Identity
    from bio_mcp.adapters.workers import WorkerProcesses
    from bio_mcp.ports.models import LanguageModel, Reranker
    from bio_mcp.ports.stores import Embeddings, Passages

T = TypeVar("T")


def _onnx(settings: Settings, model: str = "") -> "Embeddings":
    from bio_mcp.adapters.embedders.model_files import directory_of
    from bio_mcp.adapters.embedders.onnx import OnnxEmbeddings

    threads = settings.threads or os.cpu_count() or 1
    return OnnxEmbeddings(directory_of(settings.models, model or settings.embedding_model), threads=threads)


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
                f"No embedding model {name[:100]!r} is installed, but {there}; bio-mcp admin models add installs one."
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
        from bio_mcp.adapters.embedders.model_files import directories

        installed = [each.name for each in directories(self._settings.models)]
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
    provider, _, model = name.rpartition(":")
    if provider == "openai":
        made = _openai(settings, model)
    elif provider or Path(model).name != model:
        raise Misconfigured("BIO_MCP_OTHER_MODELS takes names of installed models, or openai:NAME")
    else:
        made = _onnx(settings, model)
    return metered("bio_mcp.adapters.metered:MeteredEmbeddings", made)


def metered(meter: str, model: T) -> T:
    """The model, so that its use is charged to the call that runs; None where there is none."""
    made: T = load(meter)(model) if model else model
    return made


def searched_index(own: Mode) -> "tuple[Passages, tuple[str, int] | None]":
    """The index of the whole call, looked up once in it. No model is opened for it: the pages that count passages have
    none."""
    return memoize((own, "index"), own.indexes.searched)


def searched_model(own: Mode) -> "Embeddings":
    """The model by which papers are searched, that of the call's index.

    Where that cannot be looked up, it is the configured one, and whoever searches the index hears why.
    """

    def look_up() -> "Embeddings":
        configured = own.configured_embeddings
        try:
            passages, indexed = searched_index(own)
            if indexed not in (None, (configured.fingerprint, configured.dim)):
                passages.check_model(configured.fingerprint, configured.dim)
        except ModelMismatch as mismatch:
            return own.models.of(mismatch.details["indexed"]) or configured
        except (IndexUnavailable, StoreFailed, Misconfigured):
            pass
        return configured

    return memoize((own, "model"), look_up)


def worker_processes(own: Mode, count: int) -> "WorkerProcesses":
    """So many processes with the model of the index."""
    from bio_mcp.adapters.workers import WorkerProcesses

    fingerprint = own.embeddings.fingerprint
    make = partial(one_thread, own.models.settings_of(fingerprint))  # type: ignore[attr-defined]  # InstalledModels
    return WorkerProcesses(make, count, fingerprint=fingerprint, environment=own.settings.environment_of_programs)


EMBEDDINGS: dict[str, Callable[[Settings], "Embeddings"]] = {
    "onnx": _onnx,
    "hf": lambda settings: load("bio_mcp.adapters.embedders.hf:HfEmbeddings")(
        settings.models.expanduser() / settings.embedding_model
    ),
    "openai": _openai,
}


def one_thread(settings: Settings) -> "Embeddings":
    """The model of the settings on one thread: for a process that is one of several."""
    return EMBEDDINGS[settings.embeddings](replace(settings, threads=1))


Facts = dict[str, Any]


def installed(settings: Settings) -> list[Facts]:
    """What each model of this machine is, by name. `whole` is false where its files are not those that were
    installed."""
    from bio_mcp.adapters.embedders.model_files import directories, is_whole, licence_of, read_manifest

    found = []
    for directory in directories(settings.models):
        try:
            identity, _ = read_manifest(directory)
        except EmbeddingFailed:
            found.append({"name": directory.name, "whole": False, "in_use": False})
            continue
        facts = _described(identity, licence_of(directory))
        in_use = settings.embeddings == "onnx" and settings.embedding_model == directory.name
        found.append({"name": directory.name, **facts, "whole": is_whole(directory), "in_use": in_use})
    return found


def checked(settings: Settings) -> str:
    """Where the model of the settings is, and that it is whole. Raises `EmbeddingFailed` where it is not."""
    if settings.embeddings != "onnx":
        return f"Vectors are made by {settings.embedding_model} of the provider {settings.embeddings}."
    from bio_mcp.adapters.embedders.model_files import directory_of
    from bio_mcp.adapters.embedders.own_models import check_samples

    directory = directory_of(settings.models, settings.embedding_model)
    check_samples(directory)
    return f"The embedding model is in {directory}; it makes the vectors that it should."


def add(settings: Settings, source: Path, wanted: Facts) -> Facts:
    """Install the model in `source`; `wanted` has fields of the adapter's `Wanted`. Raises what `add` there does."""
    from bio_mcp.adapters.embedders.own_models import Wanted, add

    made = add(source, settings.models.expanduser(), Wanted(**wanted))
    licence = wanted.get("licence", "not stated")
    measured = {"passages_per_s": round(made.passages_per_s, 1), "question_ms": round(made.question_ms, 1)}
    return {"name": made.identity.model_id, **_described(made.identity, licence), **measured}


def add_reranker(settings: Settings, source: Path, wanted: Facts) -> Facts:
    """Install the cross-encoder in `source`; prompts and pooling do not count. Raises what `add_reranker` there
    does."""
    from bio_mcp.adapters.embedders.own_models import Wanted
    from bio_mcp.adapters.rerankers.onnx import add_reranker

    identity = add_reranker(source, settings.models.expanduser(), Wanted(**wanted))
    return {"name": identity.model_id, **_described(identity, wanted.get("licence", "not stated"))}


def _described(identity: "Identity", licence: str) -> Facts:
    return {
        "licence": licence,
        "dim": identity.dim,
        "max_tokens": identity.max_tokens,
        "pooling": identity.pooling,
        "before_passages": identity.prefix,
        "before_questions": identity.before_questions,
        "weights_sha256": identity.weights_sha256,
        "projection_sha256": identity.projection_sha256,
        "fingerprint": identity.fingerprint,
    }


def _openai_writer(settings: Settings) -> "LanguageModel":
    from bio_mcp.adapters.language_models import OpenAiLanguageModel

    elsewhere = settings.llm_base_url
    key = settings.llm_api_key or ("" if elsewhere else settings.openai_api_key)  # a key goes only to its own address
    return OpenAiLanguageModel(
        elsewhere or settings.openai_base_url, settings.needed("llm_model"), api_key=secret_of(key)
    )


def _bedrock(settings: Settings) -> Any:
    made = load_from_aws("bio_mcp.adapters.aws.bedrock:BedrockLanguageModel", "BIO_MCP_LLM=bedrock")
    if settings.llm_guardrail and ":" not in settings.llm_guardrail:
        raise Misconfigured("BIO_MCP_LLM_GUARDRAIL names no version; it takes ID:VERSION, such as gr-abc:1")
    return made(
        settings.needed("llm_model"),
        region=settings.llm_region,
        guardrail=settings.llm_guardrail,
        seconds=settings.llm_seconds,
    )


def _onnx_reranker(settings: Settings) -> "Reranker":
    from bio_mcp.adapters.rerankers.onnx import OnnxReranker

    name = settings.needed("reranker_model")
    if Path(name).name != name:
        raise Misconfigured("BIO_MCP_RERANKER_MODEL takes the name of an installed reranker")
    return OnnxReranker(settings.models.expanduser() / name, patience_s=settings.reranker_seconds)


def _http_reranker(settings: Settings) -> "Reranker":
    from bio_mcp.adapters.rerankers.http import HttpReranker

    key, url = secret_of(settings.reranker_api_key), settings.needed("reranker_url")
    seconds, model = settings.reranker_seconds, settings.reranker_model
    return HttpReranker(url, model, settings.reranker, api_key=key, patience_s=seconds)


LANGUAGE_MODELS: dict[str, Callable[[Settings], "LanguageModel | None"]] = {
    "none": lambda _settings: None,
    "openai": _openai_writer,
    "bedrock": _bedrock,
}
RERANKERS: dict[str, Callable[[Settings], "Reranker | None"]] = {
    "none": lambda _settings: None,
    "onnx": _onnx_reranker,
    "cohere": _http_reranker,
    "tei": _http_reranker,
    "bedrock": lambda settings: load_from_aws(
        "bio_mcp.adapters.aws.bedrock:BedrockReranker", "BIO_MCP_RERANKER=bedrock"
    )(settings.needed("reranker_model"), patience_s=settings.reranker_seconds),
}

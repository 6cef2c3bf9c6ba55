"""Installs a model of this machine once more, with its matrices in 8 bits: other vectors, under another name."""

import shutil
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import onnx

from bio_mcp.adapters.embedders.adding import LICENCES
from bio_mcp.adapters.embedders.build import Report, is_built, make_whole
from bio_mcp.adapters.embedders.golden import golden
from bio_mcp.adapters.embedders.identity import PAIRS, Identity
from bio_mcp.adapters.embedders.installed import (
    GRAPH,
    QUESTION_GRAPH,
    TOKENIZER,
    check_file,
    licence_of,
    read_manifest,
    write_manifest,
)
from bio_mcp.adapters.embedders.int8_graph import int8_bytes
from bio_mcp.adapters.embedders.onnx import OnnxEmbeddings
from bio_mcp.errors import EmbeddingFailed, InvalidInput

if TYPE_CHECKING:
    from bio_mcp.retrieval.passages import Vectors

SUFFIX = "-int8"
PRECISION = "int8"
LEAST_COSINE = 0.9  # between the two vectors of any golden text; all-MiniLM-L6-v2 has 0.98
ALONE = 1e-3  # of any component, from the same text in a batch of others; a scale a batch makes it 3e-2
ROUNDS = 2


@dataclass(frozen=True, slots=True)
class Quantised:
    """An installed model in 8 bits. `cosine` is the least between a text's vectors by both, `faster` the ratio of
    texts of the same CPU time."""

    identity: Identity
    licence: str
    cosine: float
    faster: float


def int8_identity(identity: Identity) -> Identity:
    """The identity of the same model with its matrices in 8 bits."""
    return replace(identity, model_id=identity.model_id + SUFFIX, precision=PRECISION)


def quantise(models: Path, name: str, report: Report, *, least_cosine: float = LEAST_COSINE) -> Quantised:
    """Install `name` of `models` in 8 bits as `name-int8`; a second run finds it there.

    Raises `EmbeddingFailed` where that model is missing or damaged, and `InvalidInput` where it is a reranker, is not
    in fp32, or gives vectors in 8 bits that are too far away or depend on those beside them, and where another model
    has the name.
    """
    source = models / name
    identity, seals = read_manifest(source)
    if identity.pooling == PAIRS or identity.precision != "fp32":
        raise InvalidInput(f"{name} is no embedding model in fp32.")
    made, target = int8_identity(identity), models / (name + SUFFIX)
    _check_is_no_other(target, made)

    def make(scratch: Path) -> None:
        report(f"Writing {name} with its matrices in 8 bits ...")
        for graph in (GRAPH, QUESTION_GRAPH) if identity.questions_sha256 else (GRAPH,):
            check_file(source, seals, graph)
            (scratch / graph).write_bytes(_in_8_bits(source / graph))
        for each in (TOKENIZER, *LICENCES):
            if (source / each).is_file():
                shutil.copyfile(source / each, scratch / each)
        write_manifest(scratch, made, licence_of(source))
        report("Comparing its vectors with those in fp32 ...")
        _check(OnnxEmbeddings(source), OnnxEmbeddings(scratch), least_cosine)

    if not is_built(target, made):
        make_whole(target, make)
    return Quantised(made, licence_of(target), *_compared(OnnxEmbeddings(source), OnnxEmbeddings(target)))


def _check_is_no_other(target: Path, made: Identity) -> None:
    try:
        there, _ = read_manifest(target)
    except EmbeddingFailed:  # none, or one that is damaged and replaced
        return
    if there != made:
        raise InvalidInput(f"{target.name} is installed already, as another model.")


def _in_8_bits(graph: Path) -> bytes:
    try:
        return int8_bytes(onnx.load(graph))
    except ValueError as problem:
        raise InvalidInput(f"The model was not quantised: {problem}.") from problem


def _check(before: OnnxEmbeddings, after: OnnxEmbeddings, least_cosine: float) -> None:
    texts, _ = golden()
    together = after.embed(texts)
    alone = np.concatenate([after.embed([text]) for text in texts])
    if not np.abs(together - alone).max() <= ALONE:
        raise InvalidInput("In 8 bits the vector of a text depends on those beside it; nothing was installed.")
    cosine = _least_cosine(before.embed(texts), together)
    if not cosine >= least_cosine:
        raise InvalidInput(f"In 8 bits a vector has a cosine of {cosine:.2f} to the model's; nothing was installed.")


def _compared(before: OnnxEmbeddings, after: OnnxEmbeddings) -> tuple[float, float]:
    """The least cosine, and the ratio of the CPU times, the best of rounds that take turns."""
    texts, _ = golden()
    seconds = {before: float("inf"), after: float("inf")}
    vectors = {}
    for _ in range(ROUNDS):
        for model in seconds:
            began = time.process_time()
            vectors[model] = model.embed(texts)
            seconds[model] = min(seconds[model], max(time.process_time() - began, 1e-9))
    return _least_cosine(vectors[before], vectors[after]), seconds[before] / seconds[after]


def _least_cosine(some: "Vectors", others: "Vectors") -> float:
    return float(np.einsum("ij,ij->i", some, others).min())

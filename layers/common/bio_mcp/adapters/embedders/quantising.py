"""Installs a model of this machine once more, with its matrices in 8 bits: other vectors, under another name."""

import shutil
import time
from dataclasses import dataclass, replace
from pathlib import Path

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
from bio_mcp.errors import InvalidInput

SUFFIX = "-int8"
PRECISION = "int8"
LEAST_COSINE = 0.9  # between the two vectors of any golden text; all-MiniLM-L6-v2 has 0.98
ALONE = 1e-3  # of any component, from the same text in a batch of others; a scale a batch makes it 3e-2
ROUNDS = 3


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
    in fp32, or gives vectors in 8 bits that are too far away or depend on those beside them.
    """
    source = models / name
    identity, seals = read_manifest(source)
    if identity.pooling == PAIRS or identity.precision != "fp32":
        raise InvalidInput(f"{name} is no embedding model in fp32.")
    made, target = int8_identity(identity), models / (name + SUFFIX)

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
    before, after = OnnxEmbeddings(source), OnnxEmbeddings(target)
    return Quantised(made, licence_of(target), _least_cosine(before, after), _faster(before, after))


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
    if not (cosine := _least_cosine(before, after)) >= least_cosine:
        raise InvalidInput(f"In 8 bits a vector has a cosine of {cosine:.2f} to the model's; nothing was installed.")


def _least_cosine(before: OnnxEmbeddings, after: OnnxEmbeddings) -> float:
    texts, _ = golden()
    return float(np.einsum("ij,ij->i", before.embed(texts), after.embed(texts)).min())


def _faster(before: OnnxEmbeddings, after: OnnxEmbeddings) -> float:
    """The ratio of the CPU times of the golden texts, the best of rounds that take turns."""
    texts, _ = golden()
    seconds: dict[str, list[float]] = {"before": [], "after": []}
    for _ in range(ROUNDS):
        for name, model in (("before", before), ("after", after)):
            began = time.process_time()
            model.embed(texts)
            seconds[name].append(max(time.process_time() - began, 1e-9))
    return min(seconds["before"]) / min(seconds["after"])

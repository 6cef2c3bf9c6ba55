"""Installs a cross-encoder that the user brings: a BERT with one score, as rerankers of passages are published."""

import shutil
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from bio_mcp.adapters.embedders.adding import name_of
from bio_mcp.adapters.embedders.architectures import Encoder, weights_in
from bio_mcp.adapters.embedders.build import Report, is_built, make_whole
from bio_mcp.adapters.embedders.golden import golden
from bio_mcp.adapters.embedders.heads import Dense, Head
from bio_mcp.adapters.embedders.identity import PAIRS, Identity
from bio_mcp.adapters.embedders.installed import GRAPH, MANIFEST, TOKENIZER, sha256_of, write_manifest
from bio_mcp.adapters.embedders.published import WEIGHTS, read_json
from bio_mcp.adapters.embedders.tensors import load
from bio_mcp.adapters.embedders.tokens import load_tokenizer
from bio_mcp.adapters.rerankers.onnx import OnnxReranker, pairs_of
from bio_mcp.deadline import NEVER
from bio_mcp.errors import InvalidInput

TOLERANCE = 1e-3  # of a score, which is no unit vector's component
CHECKED = 6


def add_reranker(source: Path, models: Path, name: str, licence: str, report: Report, sha256: str = "") -> Identity:
    """Install the cross-encoder in `source` as `name`, or as the folder is called.

    Raises `InvalidInput`; nothing is installed then.
    """
    name = name_of(source, name)
    try:
        encoder, head, identity = _read(source, name)
    except OSError as unreadable:
        raise InvalidInput(f"The model cannot be read: it has no {Path(str(unreadable.filename)).name}.") from None
    except (ValueError, KeyError, TypeError, AttributeError) as unreadable:
        raise InvalidInput(f"The model cannot be read: {unreadable}.") from unreadable
    if sha256 and identity.weights_sha256 != sha256.lower():
        raise InvalidInput(f"Its weights are not those that are named: their SHA-256 is {identity.weights_sha256}.")
    directory = models / name
    if (directory / MANIFEST).exists() and not is_built(directory, identity):
        raise InvalidInput(f"{name} is installed already, as another model: choose another name with --name.")

    def make(scratch: Path) -> None:
        report(f"Writing {name} as an ONNX graph ...")
        (scratch / GRAPH).write_bytes(encoder.graph(head, identity.max_tokens, pairs=True))
        shutil.copyfile(source / TOKENIZER, scratch / TOKENIZER)
        write_manifest(scratch, identity, licence or "not stated")
        report("Comparing it with the same weights in plain numpy ...")
        _compare(scratch, encoder, head, identity)

    make_whole(directory, make)
    return identity


def _read(source: Path, name: str) -> tuple[Encoder, Head, Identity]:
    config = read_json(source / "config.json")
    encoder, heads = Encoder(config, weights_in(source / WEIGHTS)), load(source / WEIGHTS)
    if encoder.kind != "bert" or heads["classifier.weight"].shape[0] != 1:
        raise ValueError("rerankers that are BERTs with one score are computed here")
    pooler = next(name for name in heads if name.endswith("pooler.dense.weight")).removesuffix("weight")
    first = Dense(heads[f"{pooler}weight"], heads[f"{pooler}bias"], "tanh")
    last = Dense(heads["classifier.weight"], heads["classifier.bias"])
    identity = Identity(
        model_id=name,
        weights_sha256=sha256_of(source / WEIGHTS),
        tokenizer_sha256=sha256_of(source / TOKENIZER),
        dim=1,
        max_tokens=min(512, encoder.limit),
        pooling=PAIRS,
        normalised=False,
    )
    return encoder, Head("cls", (first, last), unit=False), identity


def _compare(directory: Path, encoder: Encoder, head: Head, identity: Identity) -> None:
    """Raise `InvalidInput` unless the graph gives the scores of plain numpy, whatever is scored beside a passage."""
    texts = sorted(golden()[0], key=len)
    question, passages = texts[-3], texts[:CHECKED]
    model = OnnxReranker(directory, patience_s=600)
    together = model.scores(question, passages, NEVER)
    rows = pairs_of(load_tokenizer(directory / TOKENIZER), identity, question, passages)
    expected = [float(encoder.reference(ids, head, segments)[0]) for ids, segments in rows]
    alone = [model.scores(question, [each], NEVER)[0] for each in passages]
    if not _furthest(together, expected) <= TOLERANCE or not _furthest(together, alone) <= TOLERANCE:
        raise InvalidInput("The reranker was written, but its scores are not those of the same weights in plain numpy.")


def _furthest(some: Sequence[float], others: Sequence[float]) -> float:
    return float(np.abs(np.array(some) - np.array(others)).max())

"""A published cross-encoder of a few hundred parameters."""

from pathlib import Path

import numpy as np

from tests.adapters.embedders.safetensors_files import write
from tests.adapters.embedders.tiny import HIDDEN, tiny_weights, token_vectors
from tests.adapters.embedders.tiny_model import CONFIG, LIMIT, put, tokenizer


def weights(labels: int = 1) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(21)
    shapes = {"bert.pooler.dense.weight": (HIDDEN, HIDDEN), "bert.pooler.dense.bias": (HIDDEN,)}
    shapes |= {"classifier.weight": (labels, HIDDEN), "classifier.bias": (labels,)}
    below = {f"bert.{name}": values for name, values in tiny_weights().items()}
    return below | {name: rng.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}


def published(directory: Path, labels: int = 1) -> Path:
    directory.mkdir(parents=True)
    put(directory / "config.json", CONFIG)
    write(directory / "model.safetensors", weights(labels))
    tokenizer().save(str(directory / "tokenizer.json"))
    return directory


def score(question: str, passage: str) -> float:
    """The score of one pair, in plain numpy; a pair that is too long loses the end of its passage."""
    of, encoded = weights(), tokenizer().encode(question, passage)
    ids, segments = encoded.ids, encoded.type_ids
    if len(ids) > LIMIT:
        ids, segments = [*ids[: LIMIT - 1], ids[-1]], [*segments[: LIMIT - 1], segments[-1]]
    first = token_vectors(tiny_weights(), np.array(ids), np.array(segments))[0]
    pooled = np.tanh(of["bert.pooler.dense.weight"] @ first + of["bert.pooler.dense.bias"])
    return float((of["classifier.weight"] @ pooled + of["classifier.bias"])[0])

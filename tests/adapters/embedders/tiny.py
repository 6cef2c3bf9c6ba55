"""A BERT of a few hundred parameters, and its forward pass in plain numpy."""

import math

import numpy as np

HIDDEN, HEADS, LAYERS, WORDS, INNER = 8, 2, 2, 20, 16


def tiny_weights(seed: int = 5) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    shapes = {
        "embeddings.word_embeddings.weight": (WORDS, HIDDEN),
        "embeddings.position_embeddings.weight": (12, HIDDEN),
        "embeddings.token_type_embeddings.weight": (2, HIDDEN),
        **_normal("embeddings"),
    }
    for layer in (f"encoder.layer.{index}" for index in range(LAYERS)):
        for part in ("attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense"):
            shapes |= _linear(f"{layer}.{part}", HIDDEN, HIDDEN)
        shapes |= _linear(f"{layer}.intermediate.dense", HIDDEN, INNER)
        shapes |= _linear(f"{layer}.output.dense", INNER, HIDDEN)
        shapes |= _normal(f"{layer}.attention.output") | _normal(f"{layer}.output")
    return {name: rng.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}


def forward(weights: dict[str, np.ndarray], ids: np.ndarray) -> np.ndarray:
    """The unit vector of one sequence without padding, by the mean of its tokens."""
    return unit(token_vectors(weights, ids).mean(axis=0))


def unit(vector: np.ndarray) -> np.ndarray:
    return vector / np.linalg.norm(vector)


def token_vectors(weights: dict[str, np.ndarray], ids: np.ndarray, segments: np.ndarray | int = 0) -> np.ndarray:
    """The vectors of the tokens of one sequence without padding."""
    x = weights["embeddings.word_embeddings.weight"][ids]
    x = x + weights["embeddings.position_embeddings.weight"][: len(ids)]
    x = _normalise(weights, "embeddings", x + weights["embeddings.token_type_embeddings.weight"][segments])
    for layer in (f"encoder.layer.{index}" for index in range(LAYERS)):
        attended = _apply(weights, f"{layer}.attention.output.dense", _attention(weights, f"{layer}.attention.self", x))
        y = _normalise(weights, f"{layer}.attention.output", attended + x)
        inner = _apply(weights, f"{layer}.intermediate.dense", y)
        gelu = inner * 0.5 * (1 + np.vectorize(math.erf)(inner / math.sqrt(2)))
        x = _normalise(weights, f"{layer}.output", _apply(weights, f"{layer}.output.dense", gelu) + y)
    return x


def _linear(name: str, inputs: int, outputs: int) -> dict[str, tuple[int, ...]]:
    return {f"{name}.weight": (outputs, inputs), f"{name}.bias": (outputs,)}


def _normal(name: str) -> dict[str, tuple[int, ...]]:
    return {f"{name}.LayerNorm.weight": (HIDDEN,), f"{name}.LayerNorm.bias": (HIDDEN,)}


def _apply(weights: dict[str, np.ndarray], name: str, x: np.ndarray) -> np.ndarray:
    return x @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]


def _normalise(weights: dict[str, np.ndarray], name: str, x: np.ndarray) -> np.ndarray:
    centred = x - x.mean(axis=1, keepdims=True)
    scaled = centred / np.sqrt((centred**2).mean(axis=1, keepdims=True) + 1e-12)
    return scaled * weights[f"{name}.LayerNorm.weight"] + weights[f"{name}.LayerNorm.bias"]


def _attention(weights: dict[str, np.ndarray], name: str, x: np.ndarray) -> np.ndarray:
    query, key, value = (
        _apply(weights, f"{name}.{part}", x).reshape(len(x), HEADS, -1) for part in ("query", "key", "value")
    )
    scores = np.einsum("qhd,khd->hqk", query, key) / math.sqrt(x.shape[1] / HEADS)
    shares = np.exp(scores - scores.max(axis=2, keepdims=True))
    return np.einsum("hqk,khd->qhd", shares / shares.sum(axis=2, keepdims=True), value).reshape(x.shape)

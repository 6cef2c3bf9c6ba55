"""The forward pass of an encoder in plain numpy: what its graph must reproduce. One text at a time, without padding."""

from collections.abc import Callable, Mapping, Sequence
from math import erf, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bio_mcp.adapters.embedders.heads import Head
from bio_mcp.adapters.embedders.rotary import angles, is_local, theta

Array = NDArray[Any]
Weights = Mapping[str, NDArray[np.float32]]
Config = Mapping[str, Any]
_erf = np.frompyfunc(erf, 1, 1)


def output(tokens: Array, head: Head) -> Array:
    """What `head` makes of the vectors of a text's tokens, (tokens, features)."""
    pooled = tokens[0] if head.pooling == "cls" else tokens.mean(axis=0)
    for dense in head.dense:
        pooled = dense.matrix @ pooled + (0 if dense.bias is None else dense.bias)
        pooled = np.tanh(pooled) if dense.activation == "tanh" else pooled
    unit: Array = pooled / np.linalg.norm(pooled) if head.unit else pooled
    return unit


def bert(weights: Weights, config: Config, ids: Sequence[int], segments: Sequence[int] | None = None) -> Array:
    """The vectors of the tokens by a BERT. `segments` says which text of a pair each token is of."""
    epsilon = config["layer_norm_eps"]

    def dense(x: Array, name: str) -> Array:
        return x @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]

    def normal(x: Array, name: str) -> Array:
        return _normal(x, epsilon) * weights[f"{name}.LayerNorm.weight"] + weights[f"{name}.LayerNorm.bias"]

    x = weights["embeddings.word_embeddings.weight"][list(ids)]
    x = x + weights["embeddings.position_embeddings.weight"][: len(ids)]
    of_text = weights["embeddings.token_type_embeddings.weight"][list(segments or [0] * len(ids))]
    x = normal(x + of_text, "embeddings")
    for index in range(config["num_hidden_layers"]):
        name = f"encoder.layer.{index}"
        query, key, value = (
            _heads(dense(x, f"{name}.attention.self.{part}"), config) for part in ("query", "key", "value")
        )
        mixed = _attention(query, key, value)
        x = normal(dense(mixed, f"{name}.attention.output.dense") + x, f"{name}.attention.output")
        inner = _gelu(dense(x, f"{name}.intermediate.dense"))
        x = normal(dense(inner, f"{name}.output.dense") + x, f"{name}.output")
    return x


def modernbert(weights: Weights, config: Config, ids: Sequence[int]) -> Array:
    """The vectors of the tokens by a ModernBERT."""

    def normal(x: Array, name: str) -> Array:
        return _normal(x, config["norm_eps"]) * weights[f"{name}.weight"]

    x = normal(weights["embeddings.tok_embeddings.weight"][list(ids)], "embeddings.norm")
    places = np.arange(len(ids))
    near = np.abs(places[:, None] - places) <= config["local_attention"] // 2
    for index in range(config["num_hidden_layers"]):
        name, local = f"layers.{index}", is_local(config, index)
        first = normal(x, f"{name}.attn_norm") if index else x
        parts = np.split(first @ weights[f"{name}.attn.Wqkv.weight"].T, 3, axis=1)
        query, key, value = (_heads(part, config) for part in parts)
        cosines, sines = angles(len(ids), query.shape[2], theta(config, local=local))
        query, key = (each * cosines + _half_turned(each) * sines for each in (query, key))
        mixed = _attention(query, key, value, near if local else None)
        x = x + mixed @ weights[f"{name}.attn.Wo.weight"].T
        inner, gate = np.split(normal(x, f"{name}.mlp_norm") @ weights[f"{name}.mlp.Wi.weight"].T, 2, axis=1)
        x = x + (_gelu(inner) * gate) @ weights[f"{name}.mlp.Wo.weight"].T
    return normal(x, "final_norm")


TOKEN_VECTORS: Mapping[str, Callable[[Weights, Config, Sequence[int]], Array]] = {
    "bert": bert,
    "modernbert": modernbert,
}


def _heads(x: Array, config: Config) -> Array:
    """(tokens, features) as (heads, tokens, features of a head)."""
    return x.reshape(len(x), config["num_attention_heads"], -1).transpose(1, 0, 2)


def _attention(query: Array, key: Array, value: Array, seen: Array | None = None) -> Array:
    scores = query @ key.transpose(0, 2, 1) / sqrt(query.shape[2])
    scores = scores if seen is None else np.where(seen, scores, -np.inf)
    shares = np.exp(scores - scores.max(axis=2, keepdims=True))
    mixed: Array = (shares / shares.sum(axis=2, keepdims=True)) @ value
    return mixed.transpose(1, 0, 2).reshape(mixed.shape[1], -1)


def _half_turned(x: Array) -> Array:
    low, high = np.split(x, 2, axis=2)
    return np.concatenate([-high, low], axis=2)


def _normal(x: Array, epsilon: float) -> Array:
    centred = x - x.mean(axis=1, keepdims=True)
    scaled: Array = centred / np.sqrt((centred**2).mean(axis=1, keepdims=True) + epsilon)
    return scaled


def _gelu(x: Array) -> Array:
    share = np.asarray(_erf(x / sqrt(2)), dtype=np.float64)
    active: Array = x * 0.5 * (1 + share)
    return active

"""Rotary positions of a ModernBERT, and which of its layers attend to neighbours only."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

EVERY = 3  # layers, of which one attends to all tokens, where the configuration does not say
THETAS = {
    True: ("sliding_attention", "local_rope_theta", 10_000.0),
    False: ("full_attention", "global_rope_theta", 160_000.0),
}


def is_local(config: Mapping[str, Any], layer: int) -> bool:
    """Whether a layer attends to the neighbours of a token only."""
    if kinds := config.get("layer_types"):
        return bool(kinds[layer] == "sliding_attention")
    return layer % int(config.get("global_attn_every_n_layers", EVERY)) != 0


def theta(config: Mapping[str, Any], *, local: bool) -> float:
    """The base of the rotations. Raises `ValueError` for positions that are scaled."""
    kind, older, default = THETAS[local]
    of_kind = (config.get("rope_parameters") or {}).get(kind) or {}
    if of_kind.get("rope_type", "default") != "default" or config.get("rope_scaling"):
        raise ValueError("scaled positions are not computed here")
    return float(of_kind.get("rope_theta", config.get(older) or default))


def angles(limit: int, width: int, base: float) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Cosines and sines of `limit` places for heads of `width` numbers, (limit, width) each."""
    frequencies = 1 / base ** (np.arange(0, width, 2, dtype=np.float64) / width)
    turns = np.outer(np.arange(limit), frequencies)
    both = np.concatenate([turns, turns], axis=1)
    return np.cos(both).astype(np.float32), np.sin(both).astype(np.float32)

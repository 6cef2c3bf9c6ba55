"""The kinds of encoder whose graph is written here, by the model_type of their config.json."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bio_mcp.adapters.embedders import graph, modernbert, reference, tensors
from bio_mcp.adapters.embedders.heads import Head

Weights = Mapping[str, NDArray[np.float32]]
WRAPPERS = ("bert.", "model.", "encoder.model.")  # what stands before names of weights that were saved with a head


class Encoder:
    """An encoder as published: `config` of config.json, and its weights. Raises `ValueError` for a kind that is not
    computed here."""

    def __init__(self, config: Mapping[str, Any], weights: Weights) -> None:
        self.config, self.weights = config, weights
        self.kind = str(config.get("model_type"))
        if self.kind not in reference.TOKEN_VECTORS:
            raise ValueError(f"an encoder of the kind {self.kind} is not computed here: bert and modernbert are")
        wrong = {name: config[name] for name, only in ONLY[self.kind].items() if config.get(name, only) != only}
        if wrong:
            raise ValueError(f"an encoder with {', '.join(f'{name}={value}' for name, value in wrong.items())}")

    @property
    def limit(self) -> int:
        """The most tokens that it has positions for."""
        return int(self.config["max_position_embeddings"])

    @property
    def width(self) -> int:
        """Numbers of a token's vector."""
        return int(self.config["hidden_size"])

    def graph(self, head: Head, limit: int, *, pairs: bool = False) -> bytes:
        """The ONNX graph for texts of at most `limit` tokens, or for pairs of texts by a BERT."""
        if self.kind == "modernbert":
            return modernbert.encoder_bytes(self.weights, self.config, head, limit)
        layers, heads = self.config["num_hidden_layers"], self.config["num_attention_heads"]
        epsilon = self.config["layer_norm_eps"]
        return graph.encoder_bytes(self.weights, layers=layers, heads=heads, epsilon=epsilon, head=head, pairs=pairs)

    def reference(self, ids: Sequence[int], head: Head, segments: Sequence[int] | None = None) -> NDArray[Any]:
        """What the graph must give for a text of these tokens, or for a pair, whose `segments` a BERT reads."""
        if segments is not None:
            return reference.output(reference.bert(self.weights, self.config, ids, segments), head)
        return reference.output(reference.TOKEN_VECTORS[self.kind](self.weights, self.config, ids), head)


ONLY: Mapping[str, Mapping[str, Any]] = {
    "bert": {"hidden_act": "gelu", "position_embedding_type": "absolute", "is_decoder": False},
    "modernbert": {"hidden_activation": "gelu", "norm_bias": False, "attention_bias": False, "mlp_bias": False},
}


def weights_in(path: Path) -> Weights:
    """The weights in a safetensors file, by the names that they have without what a head put before them."""
    named = tensors.load(path)
    for wrapper in WRAPPERS:
        if any(name.startswith(f"{wrapper}embeddings.") for name in named):
            return {name.removeprefix(wrapper): values for name, values in named.items()}
    return named

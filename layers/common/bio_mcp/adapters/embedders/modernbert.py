"""A ModernBERT as an ONNX graph: rotary positions, attention to neighbours in most layers, gated units.

Inputs and output are as of `graph`.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import TensorProto

from bio_mcp.adapters.embedders.heads import Head
from bio_mcp.adapters.embedders.nodes import FUSED, IDS, MASK, Nodes
from bio_mcp.adapters.embedders.rotary import angles, is_local, theta

Weights = Mapping[str, NDArray[np.float32]]
NEVER = -1e9  # added to the score of a token that is not attended to


class _Encoder(Nodes):
    """Builds the graph."""

    def __init__(self, weights: Weights, config: Mapping[str, Any], limit: int) -> None:
        super().__init__()
        self._weights, self._config = weights, config
        self._width = int(config["hidden_size"]) // int(config["num_attention_heads"])
        self._masks: dict[bool, str] = {}
        self._rotations: dict[bool, tuple[str, str]] = {}
        self._prepare(limit)

    def integers(self, name: str, values: Sequence[int]) -> str:
        return self.constant(name, np.array(values, dtype=np.int64))

    def linear(self, x: str, layer: str) -> str:
        matrix = self.constant(f"{layer}.matrix", self._weights[f"{layer}.weight"].T)
        return self.node("MatMul", [x, matrix], f"{layer}.product")

    def normal(self, x: str, layer: str) -> str:
        inputs, epsilon = (
            [x, self.constant(f"{layer}.scale", self._weights[f"{layer}.weight"])],
            self._config["norm_eps"],
        )
        return self.node("LayerNormalization", inputs, f"{layer}.normal", axis=-1, epsilon=epsilon)

    def _prepare(self, limit: int) -> None:
        """Masks and rotations, of all tokens and of neighbours."""
        for name, values in {"zero": [0], "one": [1], "two": [2], "inner_axes": [1, 2]}.items():
            self.integers(name, values)
        self.length = self.node("Slice", [self.node("Shape", [IDS], "shape"), "one", "two"], "length")
        padded = self.node("Sub", [self.node("Cast", [MASK], "seen", to=TensorProto.FLOAT), self._number(1)], "padded")
        everywhere = self.node("Mul", [padded, self._number(-NEVER)], "penalty")
        self._masks[False] = self.node("Unsqueeze", [everywhere, "inner_axes"], "attended")
        self._masks[True] = self.node("Add", [self._masks[False], self._beyond(limit)], "attended_nearby")
        for local in (False, True):
            cosines, sines = angles(limit, self._width, theta(self._config, local=local))
            self._rotations[local] = (self._rows(f"cosines.{local}", cosines), self._rows(f"sines.{local}", sines))

    def _number(self, value: float) -> str:
        return self.constant(f"number.{len(self.initializers)}", np.array(value, dtype=np.float32))

    def _rows(self, name: str, table: NDArray[np.float32]) -> str:
        """As many rows of a table as there are tokens."""
        return self.node("Slice", [self.constant(f"{name}.table", table), "zero", self.length], name)

    def _beyond(self, limit: int) -> str:
        """What is added to the score of a token that is too far away."""
        places = self._rows("places", np.arange(limit, dtype=np.float32))
        rows, columns = (self.node("Unsqueeze", [places, axis], f"places.{axis}") for axis in ("zero", "one"))
        away = self.node("Abs", [self.node("Sub", [rows, columns], "apart")], "away")
        far = self.node("Greater", [away, self._number(int(self._config["local_attention"]) // 2)], "far")
        return self.node("Where", [far, self._number(NEVER), self._number(0)], "beyond")

    def rotated(self, x: str, local: bool, name: str) -> str:
        cosines, sines = self._rotations[local]
        self.node("Split", [x], f"{name}.low", "", f"{name}.high", axis=-1)
        halves = [self.node("Neg", [f"{name}.high"], f"{name}.negative"), f"{name}.low"]
        turned = self.node("Concat", halves, f"{name}.turned", axis=-1)
        parts = [self.node("Mul", [x, cosines], f"{name}.cosine"), self.node("Mul", [turned, sines], f"{name}.sine")]
        return self.node("Add", parts, f"{name}.rotated")

    def attention(self, x: str, layer: str, local: bool) -> str:
        form = self.integers(f"{layer}.form", [0, 0, 3, -1, self._width])
        parts = self.node("Reshape", [self.linear(x, f"{layer}.attn.Wqkv"), form], f"{layer}.parts")
        turned = self.node("Transpose", [parts], f"{layer}.heads", perm=[2, 0, 3, 1, 4])
        query, key, value = (self._part(turned, f"{layer}.part", place) for place in range(3))
        keys = self.node("Transpose", [self.rotated(key, local, key)], f"{layer}.keys", perm=[0, 1, 3, 2])
        products = self.node("MatMul", [self.rotated(query, local, query), keys], f"{layer}.products")
        scores = self.node("Mul", [products, self._number(self._width**-0.5)], f"{layer}.scores")
        masked = self.node("Add", [scores, self._masks[local]], f"{layer}.masked")
        shares = self.node("Softmax", [masked], f"{layer}.shares", axis=-1)
        mixed = self.node("MatMul", [shares, value], f"{layer}.mixed")
        back = self.node("Transpose", [mixed], f"{layer}.back", perm=[0, 2, 1, 3])
        joined = self.node("Reshape", [back, self.integers(f"{layer}.joint", [0, 0, -1])], f"{layer}.joined")
        return self.linear(joined, f"{layer}.attn.Wo")

    def _part(self, x: str, name: str, place: int) -> str:
        inputs = [x, self.constant(f"{name}.{place}.place", np.array(place))]
        return self.node("Gather", inputs, f"{name}.{place}", axis=0)

    def layer(self, x: str, index: int) -> str:
        name = f"layers.{index}"
        first = self.normal(x, f"{name}.attn_norm") if index else x
        x = self.node("Add", [x, self.attention(first, name, is_local(self._config, index))], f"{name}.between")
        wide = self.linear(self.normal(x, f"{name}.mlp_norm"), f"{name}.mlp.Wi")
        self.node("Split", [wide], f"{name}.input", "", f"{name}.gate", axis=-1)
        active = self.node("Gelu", [f"{name}.input"], f"{name}.active", FUSED)
        gated = self.node("Mul", [active, f"{name}.gate"], f"{name}.gated")
        return self.node("Add", [x, self.linear(gated, f"{name}.mlp.Wo")], f"{name}.out")


def encoder_bytes(weights: Weights, config: Mapping[str, Any], head: Head, limit: int) -> bytes:
    """The serialised model for texts of at most `limit` tokens. `weights` and `config` are of a ModernBertModel."""
    encoder = _Encoder(weights, config, limit)
    words = encoder.node(
        "Gather", [encoder.constant("words", weights["embeddings.tok_embeddings.weight"]), IDS], "word"
    )
    x = encoder.normal(words, "embeddings.norm")
    for index in range(config["num_hidden_layers"]):
        x = encoder.layer(x, index)
    encoder.headed(encoder.normal(x, "final_norm"), head)
    return encoder.serialised(head.dim(int(config["hidden_size"])))

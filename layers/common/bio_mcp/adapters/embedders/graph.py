"""A BERT as an ONNX graph, written directly from safetensors: without torch, and reproducible byte by byte.

The operators are ONNX Runtime's fused ones (attention, bias + GELU), but for the sum before a layer's normalisation:
fused, it takes a tenth of a text's time more (docs/benchmarks.md), so the runtime is told not to fuse it. Pooling,
projection and normalisation are part of the graph. Inputs: `input_ids` and `attention_mask`, and `token_type_ids` of a
model that reads pairs, int64 (batch, tokens). Output: `sentence_embedding`, float32 (batch, dimensions).
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import TensorProto

from bio_mcp.adapters.embedders import tensors
from bio_mcp.adapters.embedders.heads import Head
from bio_mcp.adapters.embedders.nodes import FUSED, IDS, MASK, SEGMENTS, Nodes

Weights = Mapping[str, NDArray[np.float32]]
MEAN = Head()
NORMAL = ("LayerNorm.weight", "LayerNorm.bias", "dense.bias")


class _Encoder(Nodes):
    """Builds the graph."""

    def __init__(self, weights: Weights, *, heads: int, epsilon: float) -> None:
        super().__init__()
        self._weights = weights
        self._heads = heads
        self._epsilon = epsilon

    def weight(self, name: str) -> str:
        return self.constant(name, self._weights[name])

    def linear(self, x: str, layer: str) -> str:
        """x times the layer's matrix, which torch stores transposed; the fused node that follows adds the bias."""
        matrix = self.constant(f"{layer}.matrix", self._weights[f"{layer}.weight"].T)
        return self.node("MatMul", [x, matrix], f"{layer}.product")

    def embeddings(self, segments: str | None) -> str:
        names = [f"embeddings.{kind}_embeddings.weight" for kind in ("word", "position", "token_type")]
        tables = [self.weight(name) for name in names]
        scale, shift = (self.weight(f"embeddings.LayerNorm.{part}") for part in ("weight", "bias"))
        ids = self.node("Cast", [IDS], "ids", to=TensorProto.INT32)
        of_segments = (
            self.node("Cast", [segments], "segments", to=TensorProto.INT32)
            if segments
            else self.node("Sub", [ids, ids], "segments")
        )
        inputs = [ids, of_segments, *tables, scale, shift]
        return self.node("EmbedLayerNormalization", inputs, "embedded", FUSED, "mask_index", epsilon=self._epsilon)

    def attention(self, x: str, prefix: str, mask: str) -> str:
        layers = [f"{prefix}.attention.self.{part}" for part in ("query", "key", "value")]
        matrix = np.concatenate([self._weights[f"{layer}.weight"].T for layer in layers], axis=1)
        bias = np.concatenate([self._weights[f"{layer}.bias"] for layer in layers])
        inputs = [x, self.constant(f"{prefix}.qkv.matrix", matrix), self.constant(f"{prefix}.qkv.bias", bias), mask]
        return self.node("Attention", inputs, f"{prefix}.attended", FUSED, num_heads=self._heads)

    def add_and_normalise(self, product: str, residual: str, block: str) -> str:
        scale, shift, bias = (self.weight(f"{block}.{name}") for name in NORMAL)
        biased = self.node("Add", [product, bias], f"{block}.biased")
        total = self.node("Add", [biased, residual], f"{block}.total")
        return self.node("LayerNormalization", [total, scale, shift], f"{block}.normal", epsilon=self._epsilon)

    def layer(self, x: str, prefix: str, mask: str) -> str:
        attended = self.linear(self.attention(x, prefix, mask), f"{prefix}.attention.output.dense")
        y = self.add_and_normalise(attended, x, f"{prefix}.attention.output")
        inner = self.linear(y, f"{prefix}.intermediate.dense")
        bias = self.weight(f"{prefix}.intermediate.dense.bias")
        active = self.node("BiasGelu", [inner, bias], f"{prefix}.active", FUSED)
        return self.add_and_normalise(self.linear(active, f"{prefix}.output.dense"), y, f"{prefix}.output")


def encoder_bytes(
    weights: Weights, *, layers: int, heads: int, epsilon: float, head: Head = MEAN, pairs: bool = False
) -> bytes:
    """The serialised model. `weights` have the names of transformers' BertModel; `epsilon` is LayerNorm's.

    With `pairs` the model has the input `token_type_ids`; without it every token is of the first text.
    """
    encoder = _Encoder(weights, heads=heads, epsilon=epsilon)
    x = encoder.embeddings(SEGMENTS if pairs else None)
    mask = encoder.node("Cast", [MASK], "attended_mask", to=TensorProto.INT32)
    for index in range(layers):
        x = encoder.layer(x, f"encoder.layer.{index}", mask)
    encoder.headed(x, head)
    return encoder.serialised(head.dim(weights["embeddings.LayerNorm.weight"].shape[0]), segments=pairs)


def from_safetensors(weights: Path, config: Mapping[str, Any], head: Head = MEAN) -> bytes:
    """The graph of a BertModel saved as safetensors; `config` is the content of its config.json."""
    return encoder_bytes(
        tensors.load(weights),
        layers=config["num_hidden_layers"],
        heads=config["num_attention_heads"],
        epsilon=config["layer_norm_eps"],
        head=head,
    )

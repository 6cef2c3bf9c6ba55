"""A BERT sentence encoder as an ONNX graph, written directly from safetensors: without torch, and reproducible byte by
byte.

The operators are ONNX Runtime's fused ones (attention, skip + layer normalisation, bias + GELU), so its optimiser finds
nothing left to do; mean pooling and normalisation are part of the graph. Inputs: `input_ids` and `attention_mask`,
int64 (batch, tokens). Output: `sentence_embedding`, float32 (batch, hidden size).
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import NodeProto, TensorProto, helper, numpy_helper
from safetensors.numpy import load_file

FUSED = "com.microsoft"
Weights = Mapping[str, NDArray[np.float32]]


class _Encoder:
    """Builds the graph. Every method adds nodes and initialisers and returns the name of its result."""

    def __init__(self, weights: Weights, *, heads: int, epsilon: float) -> None:
        self._weights = weights
        self._heads = heads
        self._epsilon = epsilon
        self.nodes: list[NodeProto] = []
        self.initializers: list[TensorProto] = []

    def constant(self, name: str, values: NDArray[Any]) -> str:
        self.initializers.append(numpy_helper.from_array(np.ascontiguousarray(values), name))
        return name

    def weight(self, name: str) -> str:
        return self.constant(name, self._weights[name])

    def node(
        self, operator: str, inputs: list[str], output: str, domain: str = "", *unused: str, **attributes: Any
    ) -> str:
        outputs = [output, *unused]
        self.nodes.append(helper.make_node(operator, inputs, outputs, name=output, domain=domain, **attributes))
        return output

    def linear(self, x: str, layer: str) -> str:
        """x times the layer's matrix, which torch stores transposed; the fused node that follows adds the bias."""
        matrix = self.constant(f"{layer}.matrix", self._weights[f"{layer}.weight"].T)
        return self.node("MatMul", [x, matrix], f"{layer}.product")

    def embeddings(self) -> str:
        names = [f"embeddings.{kind}_embeddings.weight" for kind in ("word", "position", "token_type")]
        tables = [self.weight(name) for name in names]
        scale, shift = (self.weight(f"embeddings.LayerNorm.{part}") for part in ("weight", "bias"))
        ids = self.node("Cast", ["input_ids"], "ids", to=TensorProto.INT32)
        segments = self.node("Sub", [ids, ids], "segments")
        inputs = [ids, segments, *tables, scale, shift]
        return self.node("EmbedLayerNormalization", inputs, "embedded", FUSED, "mask_index", epsilon=self._epsilon)

    def attention(self, x: str, prefix: str, mask: str) -> str:
        layers = [f"{prefix}.attention.self.{part}" for part in ("query", "key", "value")]
        matrix = np.concatenate([self._weights[f"{layer}.weight"].T for layer in layers], axis=1)
        bias = np.concatenate([self._weights[f"{layer}.bias"] for layer in layers])
        inputs = [x, self.constant(f"{prefix}.qkv.matrix", matrix), self.constant(f"{prefix}.qkv.bias", bias), mask]
        return self.node("Attention", inputs, f"{prefix}.attended", FUSED, num_heads=self._heads)

    def add_and_normalise(self, product: str, residual: str, block: str) -> str:
        parameters = [self.weight(f"{block}.{name}") for name in ("LayerNorm.weight", "LayerNorm.bias", "dense.bias")]
        inputs = [product, residual, *parameters]
        return self.node("SkipLayerNormalization", inputs, f"{block}.normal", FUSED, epsilon=self._epsilon)

    def layer(self, x: str, prefix: str, mask: str) -> str:
        attended = self.linear(self.attention(x, prefix, mask), f"{prefix}.attention.output.dense")
        y = self.add_and_normalise(attended, x, f"{prefix}.attention.output")
        inner = self.linear(y, f"{prefix}.intermediate.dense")
        bias = self.weight(f"{prefix}.intermediate.dense.bias")
        active = self.node("BiasGelu", [inner, bias], f"{prefix}.active", FUSED)
        return self.add_and_normalise(self.linear(active, f"{prefix}.output.dense"), y, f"{prefix}.output")

    def pooled(self, x: str) -> str:
        """The mean over the tokens that are not padding, scaled to length 1."""
        tokens, features = self.constant("tokens_axis", np.array([1])), self.constant("features_axis", np.array([2]))
        mask = self.node("Cast", ["attention_mask"], "mask", to=TensorProto.FLOAT)
        wide = self.node("Unsqueeze", [mask, features], "wide_mask")
        total = self.node("ReduceSum", [self.node("Mul", [x, wide], "kept"), tokens], "total", keepdims=0)
        count = self.node("ReduceSum", [mask, tokens], "count", keepdims=1)
        mean = self.node("Div", [total, count], "mean")
        return self.node("LpNormalization", [mean], "sentence_embedding", axis=1, p=2)


def encoder_bytes(weights: Weights, *, layers: int, heads: int, epsilon: float) -> bytes:
    """The serialised model. `weights` have the names of transformers' BertModel; `epsilon` is LayerNorm's."""
    encoder = _Encoder(weights, heads=heads, epsilon=epsilon)
    x = encoder.embeddings()
    mask = encoder.node("Cast", ["attention_mask"], "attended_mask", to=TensorProto.INT32)
    for index in range(layers):
        x = encoder.layer(x, f"encoder.layer.{index}", mask)
    output = encoder.pooled(x)
    hidden = weights["embeddings.LayerNorm.weight"].shape[0]
    graph = helper.make_graph(
        encoder.nodes,
        "sentence_encoder",
        [
            helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "tokens"])
            for name in ("input_ids", "attention_mask")
        ],
        [helper.make_tensor_value_info(output, TensorProto.FLOAT, ["batch", hidden])],
        encoder.initializers,
    )
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid(FUSED, 1)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=8, producer_name="bio-mcp")
    serialised: bytes = model.SerializeToString(deterministic=True)
    return serialised


def from_safetensors(weights: Path, config: Mapping[str, Any]) -> bytes:
    """The graph of a BertModel saved as safetensors; `config` is the content of its config.json."""
    return encoder_bytes(
        load_file(weights),
        layers=config["num_hidden_layers"],
        heads=config["num_attention_heads"],
        epsilon=config["layer_norm_eps"],
    )

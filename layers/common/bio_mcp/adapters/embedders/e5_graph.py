"""multilingual-e5-small as an ONNX graph whose matrices stay in 4 bits: what a packed file has, value for value.

Inputs and output are as of `graph`: `input_ids` and `attention_mask`, int64 (batch, tokens), and `sentence_embedding`,
float32 (batch, hidden size), a unit vector.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import NodeProto, TensorProto, helper, numpy_helper

from bio_mcp.adapters.embedders.packed import BLOCK, Packed, Quantised

FUSED = "com.microsoft"


class _Encoder:
    """Builds the graph. Every method adds nodes and initialisers and returns the name of its result."""

    def __init__(self, packed: Packed) -> None:
        self._packed = packed
        self.nodes: list[NodeProto] = []
        self.initializers: list[TensorProto] = []

    def constant(self, name: str, values: NDArray[np.float32] | NDArray[np.int64] | NDArray[np.uint8]) -> str:
        self.initializers.append(numpy_helper.from_array(np.ascontiguousarray(values), name))
        return name

    def vector(self, name: str) -> str:
        return self.constant(name, self._packed.vectors[name])

    def node(self, operator: str, inputs: list[str], output: str, domain: str = "", **attributes: Any) -> str:
        made = helper.make_node(operator, inputs, [output], name=output, domain=domain, **attributes)
        self.nodes.append(made)
        return output

    def embeddings(self) -> str:
        """Word, position and type, added and normalised."""
        word = self._packed.matrices["emb.word"]
        pairs = (word.halves ^ np.uint8(8)).reshape(-1, 2)  # two's complement of half - 8, as the operator wants it
        table = helper.make_tensor("words", TensorProto.INT4, word.halves.shape, _pairs(pairs).tobytes(), raw=True)
        self.initializers.append(table)
        scales = self.constant("words.scales", word.scales)
        attributes = {"gather_axis": 0, "quantize_axis": 1, "block_size": BLOCK}
        words = self.node("GatherBlockQuantized", ["words", "input_ids", scales], "word", FUSED, **attributes)
        first = self.constant("first", np.array([0]))
        one, two = self.constant("one", np.array([1])), self.constant("two", np.array([2]))
        length = self.node("Slice", [self.node("Shape", ["input_ids"], "shape"), one, two], "length")
        always = self._packed.vectors["emb.pos"] + self._packed.vectors["emb.type"][0]
        places = self.node("Slice", [self.constant("positions", always), first, length, first], "places")
        total = self.node("Add", [words, places], "summed")
        return self.layer_norm(total, "emb.ln")

    def layer_norm(self, x: str, name: str) -> str:
        inputs = [x, self.vector(f"{name}.w"), self.vector(f"{name}.b")]
        return self.node("LayerNormalization", inputs, f"{name}.normal", axis=-1, epsilon=self._packed.epsilon)

    def linear(self, x: str, name: str) -> str:
        """x times the matrix; whoever comes next adds the bias."""
        matrix = self._packed.matrices[f"{name}.w"]
        rows, columns = matrix.halves.shape
        inputs = [x, self.constant(f"{name}.matrix", _bytes_of(matrix)), self.constant(f"{name}.scales", matrix.scales)]
        attributes = {"K": columns, "N": rows, "bits": 4, "block_size": BLOCK}
        return self.node("MatMulNBits", inputs, f"{name}.product", FUSED, **attributes)

    def attention(self, x: str, prefix: str, mask: str) -> str:
        legs = [self.linear(x, f"{prefix}.{part}") for part in ("q", "k", "v")]
        bias = np.concatenate([self._packed.vectors[f"{prefix}.{part}.b"] for part in ("q", "k", "v")])
        inputs = [*legs, self.constant(f"{prefix}.bias", bias), mask]
        return self.node("MultiHeadAttention", inputs, f"{prefix}.attended", FUSED, num_heads=self._packed.heads)

    def add_and_normalise(self, product: str, residual: str, bias: str, name: str) -> str:
        parameters = [self.vector(f"{name}.w"), self.vector(f"{name}.b"), self.vector(bias)]
        inputs, epsilon = [product, residual, *parameters], self._packed.epsilon
        return self.node("SkipLayerNormalization", inputs, f"{name}.normal", FUSED, epsilon=epsilon)

    def layer(self, x: str, prefix: str, mask: str) -> str:
        attended = self.linear(self.attention(x, prefix, mask), f"{prefix}.ao")
        y = self.add_and_normalise(attended, x, f"{prefix}.ao.b", f"{prefix}.aln")
        inputs = [self.linear(y, f"{prefix}.fi"), self.vector(f"{prefix}.fi.b")]
        active = self.node("BiasGelu", inputs, f"{prefix}.active", FUSED)
        return self.add_and_normalise(self.linear(active, f"{prefix}.fo"), y, f"{prefix}.fo.b", f"{prefix}.oln")

    def pooled(self, x: str) -> str:
        """The mean over the tokens that are not padding, scaled to length 1."""
        mask = self.node("Cast", ["attention_mask"], "mask", to=TensorProto.FLOAT)
        wide = self.node("Unsqueeze", [mask, "two"], "wide_mask")
        total = self.node("ReduceSum", [self.node("Mul", [x, wide], "tokens"), "one"], "total", keepdims=0)
        count = self.node("ReduceSum", [mask, "one"], "count", keepdims=1)
        return self.node("LpNormalization", [self.node("Div", [total, count], "mean")], "sentence_embedding", p=2)


def _pairs(halves: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Two neighbours in a byte, the first in its low half."""
    packed: NDArray[np.uint8] = halves[..., 0] | halves[..., 1] << np.uint8(4)
    return packed


def _bytes_of(matrix: Quantised) -> NDArray[np.uint8]:
    rows, columns = matrix.halves.shape
    return _pairs(matrix.halves.reshape(rows, columns // BLOCK, BLOCK // 2, 2))


def encoder_bytes(packed: Packed) -> bytes:
    """The serialised model."""
    encoder = _Encoder(packed)
    x = encoder.embeddings()
    mask = encoder.node("Cast", ["attention_mask"], "attended_mask", to=TensorProto.INT32)
    for index in range(packed.layers):
        x = encoder.layer(x, f"l{index}", mask)
    output = encoder.pooled(x)
    hidden = packed.vectors["emb.ln.w"].shape[0]
    tokens = [
        helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "tokens"])
        for name in ("input_ids", "attention_mask")
    ]
    found = [helper.make_tensor_value_info(output, TensorProto.FLOAT, ["batch", hidden])]
    graph = helper.make_graph(encoder.nodes, "sentence_encoder", tokens, found, encoder.initializers)
    opsets = [helper.make_opsetid("", 21), helper.make_opsetid(FUSED, 1)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=10, producer_name="bio-mcp")
    serialised: bytes = model.SerializeToString(deterministic=True)
    return serialised

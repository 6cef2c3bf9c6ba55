"""The graph of a ModernBERT, beside a forward pass that goes token by token, as the paper's equations do."""

import math

import numpy as np
import onnxruntime
import pytest

from bio_mcp.adapters.embedders import reference
from bio_mcp.adapters.embedders.architectures import Encoder
from bio_mcp.adapters.embedders.heads import Head

HIDDEN, HEADS, LAYERS, WORDS, INNER, LIMIT = 8, 2, 4, 20, 12, 16
CONFIG = {
    "model_type": "modernbert",
    "hidden_size": HIDDEN,
    "num_attention_heads": HEADS,
    "num_hidden_layers": LAYERS,
    "max_position_embeddings": LIMIT,
    "norm_eps": 1e-5,
    "global_attn_every_n_layers": 3,
    "local_attention": 4,
    "global_rope_theta": 160_000.0,
    "local_rope_theta": 100.0,
}
IDS = np.array([[3, 1, 4, 1, 5, 9, 2, 6, 11, 7, 13], [9, 2, 6, 17, 8, 0, 0, 0, 0, 0, 0]], dtype=np.int64)
LENGTHS = (11, 5)


def weights(seed=3):
    rng = np.random.default_rng(seed)
    shapes = {"embeddings.tok_embeddings.weight": (WORDS, HIDDEN), "final_norm.weight": (HIDDEN,)}
    shapes["embeddings.norm.weight"] = (HIDDEN,)
    for layer in (f"layers.{index}" for index in range(LAYERS)):
        shapes |= {f"{layer}.attn.Wqkv.weight": (3 * HIDDEN, HIDDEN), f"{layer}.attn.Wo.weight": (HIDDEN, HIDDEN)}
        shapes |= {f"{layer}.mlp.Wi.weight": (2 * INNER, HIDDEN), f"{layer}.mlp.Wo.weight": (HIDDEN, INNER)}
        shapes |= {f"{layer}.mlp_norm.weight": (HIDDEN,)}
        if layer != "layers.0":
            shapes[f"{layer}.attn_norm.weight"] = (HIDDEN,)
    return {name: rng.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}


WEIGHTS = weights()


def normal(vector, name):
    centred = vector - vector.mean()
    return centred / math.sqrt((centred**2).mean() + 1e-5) * WEIGHTS[f"{name}.weight"]


def rotate(vector, place, theta):
    """Turn each pair (i, i + half) of a head's numbers by an angle that grows with the place."""
    half, turned = len(vector) // 2, vector.copy()
    for pair in range(half):
        angle = place * theta ** (-2 * pair / len(vector))
        low, high = vector[pair], vector[pair + half]
        turned[pair] = low * math.cos(angle) - high * math.sin(angle)
        turned[pair + half] = high * math.cos(angle) + low * math.sin(angle)
    return turned


def attended(rows, layer, local):
    width, theta = HIDDEN // HEADS, 100.0 if local else 160_000.0
    parts = [row @ WEIGHTS[f"{layer}.attn.Wqkv.weight"].T for row in rows]
    mixed = np.zeros((len(rows), HIDDEN))
    for head in range(HEADS):
        at = [slice(part * HIDDEN + head * width, part * HIDDEN + (head + 1) * width) for part in range(3)]
        for i, asking in enumerate(parts):
            seen = [j for j in range(len(rows)) if not local or abs(i - j) <= 2]
            query = rotate(asking[at[0]].astype(float), i, theta)
            scores = [query @ rotate(parts[j][at[1]].astype(float), j, theta) / math.sqrt(width) for j in seen]
            shares = np.exp(np.array(scores) - max(scores))
            value = sum(s * parts[j][at[2]] for s, j in zip(shares / shares.sum(), seen, strict=True))
            mixed[i, head * width : (head + 1) * width] = value
    return mixed @ WEIGHTS[f"{layer}.attn.Wo.weight"].T


def units(row, layer):
    inner, gate = np.split(row @ WEIGHTS[f"{layer}.mlp.Wi.weight"].T, 2)
    active = np.array([x * 0.5 * (1 + math.erf(x / math.sqrt(2))) for x in inner])
    return (active * gate) @ WEIGHTS[f"{layer}.mlp.Wo.weight"].T


def forward(ids):
    x = np.stack([normal(WEIGHTS["embeddings.tok_embeddings.weight"][id_], "embeddings.norm") for id_ in ids])
    for index in range(LAYERS):
        layer = f"layers.{index}"
        first = np.stack([normal(row, f"{layer}.attn_norm") for row in x]) if index else x
        x = x + attended(first, layer, local=index % 3 != 0)
        x = x + np.stack([units(normal(row, f"{layer}.mlp_norm"), layer) for row in x])
    return np.stack([normal(row, "final_norm") for row in x])


def expected(pooling):
    tokens = [forward(IDS[row, :length]) for row, length in enumerate(LENGTHS)]
    pooled = [each[0] if pooling == "cls" else each.mean(axis=0) for each in tokens]
    return np.stack([each / np.linalg.norm(each) for each in pooled])


@pytest.mark.parametrize("pooling", ["cls", "mean"])
def test_the_graph_computes_a_modernbert(pooling):
    session = onnxruntime.InferenceSession(Encoder(CONFIG, WEIGHTS).graph(Head(pooling), LIMIT))
    mask = np.array([[column < length for column in range(11)] for length in LENGTHS], dtype=np.int64)
    [found] = session.run(None, {"input_ids": IDS, "attention_mask": mask})
    assert np.abs(found - expected(pooling)).max() <= 1e-5


def test_so_does_the_reference_that_an_added_model_is_compared_with():
    for row, length in enumerate(LENGTHS):
        found = reference.modernbert(WEIGHTS, CONFIG, IDS[row, :length].tolist())
        assert np.abs(found - forward(IDS[row, :length])).max() <= 1e-4


def test_newer_configurations_name_the_same_positions_and_layers_otherwise():
    newer = {name: value for name, value in CONFIG.items() if "theta" not in name and "global" not in name}
    newer["layer_types"] = ["full_attention" if index % 3 == 0 else "sliding_attention" for index in range(LAYERS)]
    newer["rope_parameters"] = {
        "full_attention": {"rope_type": "default", "rope_theta": 160_000.0},
        "sliding_attention": {"rope_type": "default", "rope_theta": 100.0},
    }
    assert Encoder(newer, WEIGHTS).graph(Head(), LIMIT) == Encoder(CONFIG, WEIGHTS).graph(Head(), LIMIT)


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"model_type": "t5"}, "t5"),
        ({"hidden_activation": "silu"}, "hidden_activation=silu"),
        ({"mlp_bias": True}, "mlp_bias=True"),
        ({"rope_scaling": {"type": "yarn"}}, "positions"),
    ],
    ids=["kind", "activation", "bias", "positions"],
)
def test_an_encoder_of_another_make_is_refused(changed, named):
    with pytest.raises(ValueError, match=named):
        Encoder({**CONFIG, **changed}, WEIGHTS).graph(Head(), LIMIT)

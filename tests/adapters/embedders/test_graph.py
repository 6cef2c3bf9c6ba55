"""The graphs of BERTs, beside a forward pass in numpy."""

import numpy as np
import onnxruntime
import pytest

from bio_mcp.adapters.embedders.graph import encoder_bytes
from bio_mcp.adapters.embedders.heads import Dense, Head
from tests.adapters.embedders.tiny import HEADS, HIDDEN, LAYERS, tiny_weights, token_vectors, unit

IDS = np.array([[3, 1, 4, 1, 5], [9, 2, 6, 0, 0]], dtype=np.int64)
MASK = np.array([[1, 1, 1, 1, 1], [1, 1, 1, 0, 0]], dtype=np.int64)
LENGTHS = (5, 3)
WEIGHTS = tiny_weights()
RANDOM = np.random.default_rng(11)
WIDE = Dense(RANDOM.normal(size=(12, HIDDEN)).astype(np.float32), RANDOM.normal(size=12).astype(np.float32))
BENT = Dense(RANDOM.normal(size=(5, 12)).astype(np.float32), activation="tanh")


def run(head, pairs=False, **more):
    graph = encoder_bytes(WEIGHTS, layers=LAYERS, heads=HEADS, epsilon=1e-12, head=head, pairs=pairs)
    session = onnxruntime.InferenceSession(graph)
    [output] = session.run(None, {"input_ids": IDS, "attention_mask": MASK, **more})
    return output


def tokens(segments=(0, 0)):
    return [token_vectors(WEIGHTS, IDS[row, :length], segments[row]) for row, length in enumerate(LENGTHS)]


def test_the_vector_of_the_first_token_is_the_text_s_with_pooling_by_cls():
    expected = np.stack([unit(each[0]) for each in tokens()])
    assert np.abs(run(Head("cls")) - expected).max() <= 1e-5


@pytest.mark.parametrize("pooling", ["mean", "cls"])
def test_a_pooled_vector_is_projected_before_it_is_scaled(pooling):
    pooled = [each.mean(axis=0) if pooling == "mean" else each[0] for each in tokens()]
    expected = np.stack([unit(np.tanh(BENT.matrix @ (WIDE.matrix @ each + WIDE.bias))) for each in pooled])
    found = run(Head(pooling, (WIDE, BENT)))
    assert found.shape == (2, 5)
    assert np.abs(found - expected).max() <= 1e-5


def test_a_model_of_pairs_reads_which_text_a_token_is_of():
    segments = np.array([[0, 0, 0, 1, 1], [0, 1, 1, 0, 0]], dtype=np.int64)
    expected = np.stack([unit(each[0]) for each in tokens([segments[0], segments[1, :3]])])
    assert np.abs(run(Head("cls"), pairs=True, token_type_ids=segments) - expected).max() <= 1e-5


def test_without_scaling_the_output_is_as_the_last_layer_has_it():
    expected = np.stack([WIDE.matrix @ each[0] + WIDE.bias for each in tokens()])
    assert np.abs(run(Head("cls", (WIDE,), unit=False)) - expected).max() <= 1e-4

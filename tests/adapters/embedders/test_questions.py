"""What is asked and what is searched, in the form that each model wants."""

from dataclasses import replace

import numpy as np
import pytest

from bio_mcp.adapters.embedders.graph import from_safetensors
from bio_mcp.adapters.embedders.installed import GRAPH, QUESTION_GRAPH, TOKENIZER, sha256_of, write_manifest
from bio_mcp.adapters.embedders.onnx import OnnxEmbeddings
from bio_mcp.adapters.embedders.published import layout_of
from bio_mcp.errors import EmbeddingFailed
from tests.adapters.embedders.tiny import tiny_weights, token_vectors, unit
from tests.adapters.embedders.tiny_model import CONFIG, LIMIT, published, tokenizer

PROMPTS = {"query": "query: ", "document": "the "}


@pytest.fixture
def installed(tmp_path):
    """A directory to install in, and the identity of a model with prompts whose graph and tokenizer it has."""
    source, directory = published(tmp_path / "published", prompts=PROMPTS), tmp_path / "model"
    directory.mkdir()
    layout = layout_of(source)
    (directory / GRAPH).write_bytes(from_safetensors(source / "model.safetensors", CONFIG, layout.head()))
    (directory / TOKENIZER).write_bytes((source / TOKENIZER).read_bytes())
    return directory, layout.identity(source, "tiny")


def expected(text, weights=None, limit=LIMIT):
    ids = np.array(tokenizer().encode(text).ids)
    return unit(token_vectors(weights or tiny_weights(), ids if len(ids) <= limit else [*ids[: limit - 1], ids[-1]])[0])


def test_passages_and_questions_each_have_what_their_model_wants_before_them(installed):
    directory, identity = installed
    write_manifest(directory, identity)
    model = OnnxEmbeddings(directory)
    assert np.abs(model.embed(["ginger"])[0] - expected("the ginger")).max() <= 1e-5
    assert np.abs(model.embed_questions(["ginger"])[0] - expected("query: ginger")).max() <= 1e-5
    assert model.count_tokens(["ginger"]) == [4]
    assert np.abs(model.embed(["ginger"]) - model.embed_questions(["ginger"])).max() > 1e-3


def test_a_question_may_have_an_encoder_and_a_limit_of_its_own(installed, tmp_path):
    directory, identity = installed
    other = published(tmp_path / "questions", seed=9)
    graph = from_safetensors(other / "model.safetensors", CONFIG, layout_of(other).head())
    (directory / QUESTION_GRAPH).write_bytes(graph)
    of_questions = sha256_of(other / "model.safetensors")
    two = replace(identity, questions_sha256=of_questions, question_tokens=5)
    write_manifest(directory, two)
    model = OnnxEmbeddings(directory)
    long = "ginger nausea heart liver mice"
    assert np.abs(model.embed([long])[0] - expected(f"the {long}")).max() <= 1e-5
    asked = expected(f"query: {long}", tiny_weights(9), limit=5)
    assert np.abs(model.embed_questions([long])[0] - asked).max() <= 1e-5
    assert model.fingerprint != identity.fingerprint


def test_an_encoder_of_questions_that_was_changed_is_refused(installed):
    directory, identity = installed
    (directory / QUESTION_GRAPH).write_bytes(b"one")
    write_manifest(directory, replace(identity, questions_sha256="0" * 64))
    (directory / QUESTION_GRAPH).write_bytes(b"two")
    with pytest.raises(EmbeddingFailed, match="damaged"):
        OnnxEmbeddings(directory).embed_questions(["ginger"])

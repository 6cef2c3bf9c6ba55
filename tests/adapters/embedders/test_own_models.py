"""Adding a model that the user brings, made for the test: a few hundred numbers and twenty words."""

import json

import numpy as np
import pytest

from bio_mcp.adapters.embedders.model_files import (
    DEFAULT,
    GRAPH,
    MANIFEST,
    PACKAGED,
    TOKENIZER,
    directories,
    directory_of,
    layout_of,
    samples,
    sha256_of,
    write_samples,
)
from bio_mcp.adapters.embedders.onnx import OnnxEmbeddings
from bio_mcp.adapters.embedders.own_models import Wanted, add, check_samples
from bio_mcp.errors import EmbeddingFailed, InvalidInput
from tests.adapters.embedders.tiny_model import HIDDEN, LIMIT, encoder, published, put, token_vectors, unit

PROMPTS = {"query": "query: ", "document": "the "}


@pytest.fixture
def source(tmp_path):
    return published(tmp_path / "some-model", prompts=PROMPTS)


@pytest.fixture
def models(tmp_path):
    return tmp_path / "models"


def added(source, models, **wanted):
    return add(source, models, Wanted(**wanted)).identity


def refusal(source, models, **wanted):
    with pytest.raises(InvalidInput) as refused:
        added(source, models, **wanted)
    assert str(models.parent) not in str(refused.value)
    return str(refused.value)


def first(text, seed=5):
    return unit(token_vectors(text, seed=seed)[0])


def test_it_gives_the_vectors_of_its_graph_with_its_pooling_and_prompts(source, models):
    made = add(source, models, Wanted())
    model = OnnxEmbeddings(models / "some-model")
    assert np.abs(model.embed(["ginger nausea"])[0] - first("the ginger nausea")).max() <= 1e-5
    assert np.abs(model.embed_questions(["ginger"])[0] - first("query: ginger")).max() <= 1e-5
    assert made.identity.fingerprint == model.fingerprint
    assert (model.dim, model.max_tokens) == (HIDDEN, LIMIT)
    assert model.count_tokens(["ginger"]) == [4]
    assert min(made.passages_per_s, made.question_ms) > 0


def test_the_mean_is_that_of_its_own_tokens_whatever_stands_beside_them(tmp_path, models):
    added(published(tmp_path / "mean", pooling="mean"), models)
    texts = ["ginger", "heart of the mice in trial", ""]
    found = OnnxEmbeddings(models / "mean").embed(texts)
    assert np.abs(found - np.stack([unit(token_vectors(each).mean(axis=0)) for each in texts])).max() <= 1e-5


def test_a_graph_that_pools_itself_is_taken_at_its_word(tmp_path, models):
    source = published(tmp_path / "pooling", pooling="lasttoken", model=encoder(pools=True))
    (source / "1_Pooling/config.json").unlink()
    assert added(source, models).pooling == "graph"
    found = OnnxEmbeddings(models / "pooling").embed(["ginger heart"])[0]
    assert np.abs(found - unit(token_vectors("ginger heart").mean(axis=0))).max() <= 1e-5


def test_it_brings_its_licence_and_the_vectors_that_it_must_give(source, models):
    (source / "onnx/model.onnx").rename(source / "model.onnx")  # which may stand beside its tokenizer too
    (source / "LICENSE").write_text("You may.")
    added(source, models, licence="MIT")
    directory = models / "some-model"
    assert (directory / "LICENSE").read_text() == "You may."
    texts, vectors = samples(directory)
    assert texts == samples()[0]
    check_samples(directory)
    write_samples(directory, texts, vectors[::-1])
    with pytest.raises(EmbeddingFailed, match="other vectors"):
        check_samples(directory)
    manifest = json.loads((directory / MANIFEST).read_text())
    assert manifest["licence"] == "MIT"
    assert set(manifest["files"]) == {GRAPH, TOKENIZER}


def test_adding_it_again_changes_nothing_that_an_index_rests_on_and_mends_what_is_damaged(source, models):
    identity = added(source, models)
    assert added(source, models) == identity
    assert [each.name for each in models.iterdir()] == ["some-model"]
    (models / "some-model" / GRAPH).write_bytes(b"harmed")
    assert added(source, models) == identity
    assert OnnxEmbeddings(models / "some-model").embed(["ginger"]).shape == (1, HIDDEN)


def test_another_model_of_the_same_name_is_refused_and_the_first_stays(source, models, tmp_path):
    added(source, models)
    other = published(tmp_path / "other" / "some-model", model=encoder(seed=9))
    assert "installed already" in refusal(other, models)
    assert np.abs(OnnxEmbeddings(models / "some-model").embed(["ginger"])[0] - first("the ginger")).max() <= 1e-5
    assert added(other, models, name="second").model_id == "second"


def test_a_graph_with_another_hash_than_the_named_one_is_refused(source, models):
    found = sha256_of(source / "onnx/model.onnx")
    assert found in refusal(source, models, sha256="0" * 64)
    assert not models.exists()
    assert added(source, models, sha256=found.upper()).weights_sha256 == found


@pytest.mark.parametrize("missing", ["onnx/model.onnx", TOKENIZER])
def test_a_missing_file_is_named(source, models, missing):
    (source / missing).unlink()
    assert missing in refusal(source, models)
    assert not models.exists()


@pytest.mark.parametrize(
    ("file", "content"),
    [
        ("onnx/model.onnx", b"no graph"),
        ("onnx/model.onnx", encoder(wants="pixel_values")),
        ("tokenizer.json", b"{}"),
        ("modules.json", b"{"),
        ("modules.json", b'[{"type": "st.Pooling", "path": "../elsewhere"}]'),
        ("modules.json", b'[{"type": "st.Pooling", "path": "1_Pooling"}, {"type": "st.Dense", "path": "2_Dense"}]'),
        ("1_Pooling/config.json", b'{"word_embedding_dimension": 8, "pooling_mode": "max"}'),
        ("config_sentence_transformers.json", b"[]"),
    ],
)
def test_what_cannot_be_computed_here_is_refused_and_nothing_is_left(source, models, file, content):
    (source / file).write_bytes(content)
    assert refusal(source, models).startswith("The model cannot be")
    assert not models.exists() or list(models.iterdir()) == []


def test_a_model_whose_vectors_depend_on_their_batch_is_refused_and_nothing_is_left(tmp_path, models):
    source = published(tmp_path / "mixing", model=encoder(mixes=True))
    assert "depends on those beside it" in refusal(source, models)
    assert list(models.iterdir()) == []


@pytest.mark.parametrize("name", ["..", "a/b", "-x", ".hidden", "x" * 65])
def test_what_is_no_name_is_refused(source, models, name):
    assert "--name" in refusal(source, models, name=name)


def test_files_that_do_not_say_how_to_pool_take_it_from_the_user(source, models):
    (source / "modules.json").unlink()
    (source / "1_Pooling/config.json").unlink()
    assert "--pooling" in refusal(source, models)
    identity = added(source, models, pooling="mean", passage_prefix="", question_prefix="in ", max_tokens=8)
    assert (identity.pooling, identity.before_questions, identity.max_tokens) == ("mean", "in ", 8)


def test_pooling_may_be_named_or_flagged(source):
    flagged = {"pooling_mode_cls_token": False, "pooling_mode_mean_tokens": True}
    for flags, pooling in (({"pooling_mode": "cls"}, "cls"), (flagged, "mean")):
        put(source / "1_Pooling/config.json", {"embedding_dimension": 8, **flags})
        assert layout_of(source).pooling == pooling


@pytest.mark.parametrize(
    "flags",
    [
        {"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": True},
        {"pooling_mode_mean_tokens": True, "include_prompt": False},
        {"pooling_mode": "lasttoken"},
    ],
)
def test_another_pooling_is_refused(source, flags):
    put(source / "1_Pooling/config.json", {"word_embedding_dimension": 8, **flags})
    with pytest.raises(ValueError, match="pooling"):
        layout_of(source)


def test_the_limit_is_that_of_the_first_file_that_says_one(source):
    (source / "sentence_bert_config.json").unlink()
    put(source / "config.json", {"max_position_embeddings": 64})
    put(source / "tokenizer_config.json", {"model_max_length": 10**30})
    assert layout_of(source).max_tokens == 64
    put(source / "tokenizer_config.json", {"model_max_length": 32})
    assert layout_of(source).max_tokens == 32


def test_a_model_of_the_user_s_stands_before_one_of_the_package_of_its_name(source, models):
    assert directory_of(models, DEFAULT) == PACKAGED / DEFAULT
    assert directories(models) == [PACKAGED / DEFAULT]
    added(source, models, name=DEFAULT)
    assert directories(models) == [directory_of(models, DEFAULT)] == [models / DEFAULT]

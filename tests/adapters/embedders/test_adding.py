"""Adding a model that the user brings, made for the test: a few hundred parameters and twenty words."""

import json
from dataclasses import replace

import numpy as np
import pytest

from bio_mcp.adapters.embedders.adding import Tower, Wanted, add, compare
from bio_mcp.adapters.embedders.architectures import Encoder
from bio_mcp.adapters.embedders.golden import golden
from bio_mcp.adapters.embedders.heads import Head
from bio_mcp.adapters.embedders.installed import GOLDEN, GRAPH, MANIFEST, TOKENIZER, sha256_of
from bio_mcp.adapters.embedders.onnx import OnnxEmbeddings
from bio_mcp.adapters.embedders.presets import PRESETS, Preset
from bio_mcp.errors import InvalidInput
from tests.adapters.embedders.safetensors_files import write
from tests.adapters.embedders.test_modernbert import CONFIG as MODERN
from tests.adapters.embedders.test_modernbert import weights as modern_weights
from tests.adapters.embedders.tiny import HIDDEN, tiny_weights, token_vectors, unit
from tests.adapters.embedders.tiny_model import CONFIG, LIMIT, published, put, tokenizer

PROMPTS = {"query": "query: "}


@pytest.fixture
def source(tmp_path):
    return published(tmp_path / "some-model", prompts=PROMPTS)


@pytest.fixture
def models(tmp_path):
    return tmp_path / "models"


def added(source, models, preset=None, **wanted):
    known = {preset.name: preset} if preset else PRESETS
    return add(source, models, Wanted(**wanted), lambda _: None, known)


def refusal(source, models, preset=None, **wanted):
    with pytest.raises(InvalidInput) as refused:
        added(source, models, preset, **wanted)
    assert str(models.parent) not in str(refused.value)
    return str(refused.value)


def by_hand(text, seed=5):
    ids = tokenizer().encode(text).ids
    return unit(token_vectors(tiny_weights(seed), np.array(ids))[0])


def test_it_gives_the_vectors_of_its_weights_with_its_prompts(source, models):
    report = added(source, models, licence="MIT")
    model = OnnxEmbeddings(models / "some-model")
    assert np.abs(model.embed(["ginger nausea"])[0] - by_hand("ginger nausea")).max() <= 1e-5
    assert np.abs(model.embed_questions(["ginger"])[0] - by_hand("query: ginger")).max() <= 1e-5
    assert report.identity.fingerprint == model.fingerprint
    assert (model.dim, model.max_tokens, report.licence) == (HIDDEN, LIMIT, "MIT")
    assert report.difference <= 1e-5
    assert min(report.passages_per_s, report.question_ms) > 0


def test_it_brings_its_licence_and_the_vectors_that_it_must_reproduce(source, models):
    (source / "LICENSE").write_text("You may.")
    added(source, models)
    directory = models / "some-model"
    assert (directory / "LICENSE").read_text() == "You may."
    texts, expected = golden(directory / GOLDEN)
    assert texts == golden()[0]
    assert np.array_equal(OnnxEmbeddings(directory).embed(texts), expected)


def test_adding_it_again_changes_nothing_that_an_index_rests_on(source, models):
    first = added(source, models).identity
    graph = sha256_of(models / "some-model" / GRAPH)
    assert added(source, models).identity == first
    assert sha256_of(models / "some-model" / GRAPH) == graph


def test_another_model_of_the_same_name_is_refused_and_the_first_stays(source, models, tmp_path):
    added(source, models)
    other = published(tmp_path / "other" / "some-model", seed=9)
    assert "installed already" in refusal(other, models)
    assert np.abs(OnnxEmbeddings(models / "some-model").embed(["ginger"])[0] - by_hand("ginger")).max() <= 1e-5
    assert added(other, models, name="second").identity.model_id == "second"


def test_weights_with_another_hash_than_the_named_one_are_refused(source, models):
    found = sha256_of(source / "model.safetensors")
    assert found in refusal(source, models, sha256="0" * 64)
    assert not models.exists()
    assert added(source, models, sha256=found.upper()).identity.weights_sha256 == found


@pytest.mark.parametrize("missing", ["model.safetensors", "config.json", TOKENIZER])
def test_a_missing_file_is_named(source, models, missing):
    (source / missing).unlink()
    assert missing in refusal(source, models)
    assert not models.exists()


@pytest.mark.parametrize(
    ("file", "content"),
    [
        ("config.json", '{"model_type": "t5"}'),
        ("config.json", "[]"),
        ("config.json", '{"model_type": "bert"}'),
        ("model.safetensors", "no weights"),
        ("modules.json", "{"),
        ("1_Pooling/config.json", '{"word_embedding_dimension": 8, "pooling_mode": "max"}'),
    ],
)
def test_what_cannot_be_computed_here_is_refused_and_nothing_is_left(source, models, file, content):
    (source / file).write_text(content)
    assert refusal(source, models).startswith("The model cannot be read")
    assert not models.exists()


@pytest.mark.parametrize("name", ["..", "a/b", "", "-x", ".hidden", "x" * 65])
def test_what_is_no_name_is_refused(source, models, name):
    if name:
        assert "--name" in refusal(source, models, name=name)
    else:
        assert added(source, models, name=name).identity.model_id == "some-model"


def test_a_graph_that_does_not_compute_its_weights_is_refused(source, models):
    added(source, models)
    other = Tower(Encoder(CONFIG, tiny_weights(9)), Head("cls"), LIMIT, "")
    with pytest.raises(InvalidInput, match="differ by"):
        compare(models / "some-model", [other, other])


def test_weights_that_are_no_numbers_are_refused_and_nothing_is_left(source, models):
    broken = tiny_weights()
    broken["encoder.layer.0.output.dense.bias"][0] = np.nan
    write(source / "model.safetensors", broken)
    assert "was written, but" in refusal(source, models)
    assert list(models.iterdir()) == []


def test_files_that_do_not_say_how_to_pool_take_it_from_the_user(source, models):
    (source / "modules.json").unlink()
    assert "--pooling" in refusal(source, models)
    identity = added(source, models, pooling="mean", question_prefix="query: ", max_tokens=8).identity
    assert (identity.pooling, identity.before_questions, identity.max_tokens) == ("mean", "query: ", 8)
    found = OnnxEmbeddings(models / "some-model").embed(["ginger"])[0]
    expected = unit(token_vectors(tiny_weights(), np.array(tokenizer().encode("ginger").ids)).mean(axis=0))
    assert np.abs(found - expected).max() <= 1e-5


def test_a_limit_is_at_most_what_the_model_has_positions_for(source, models):
    put(source / "sentence_bert_config.json", {"max_seq_length": 4_096})
    assert added(source, models).identity.max_tokens == LIMIT


def test_weights_that_were_saved_below_a_head_are_found(source, models):
    below = {f"bert.{name}": values for name, values in tiny_weights().items()}
    write(source / "model.safetensors", below | {"classifier.weight": np.ones((1, HIDDEN), np.float32)})
    added(source, models)
    assert np.abs(OnnxEmbeddings(models / "some-model").embed(["ginger"])[0] - by_hand("ginger")).max() <= 1e-5


def test_a_modernbert_is_added_too(source, models):
    put(source / "config.json", MODERN)
    write(source / "model.safetensors", modern_weights())
    assert added(source, models).difference <= 1e-4


TWO = Preset("two", "a/two", "MIT", HIDDEN, LIMIT, "cls", questions="a/questions", question_tokens=5)


def test_an_encoder_of_questions_is_installed_too_and_each_reads_its_own(source, models, tmp_path):
    (source / "modules.json").unlink()
    asked = published(tmp_path / "asked", seed=9)
    identity = added(source, models, TWO, name="two", questions=asked).identity
    model = OnnxEmbeddings(models / "two")
    assert identity.questions_sha256 == sha256_of(asked / "model.safetensors")
    assert identity.question_tokens == 5
    assert np.abs(model.embed(["ginger"])[0] - by_hand("ginger")).max() <= 1e-5
    assert np.abs(model.embed_questions(["ginger"])[0] - by_hand("ginger", seed=9)).max() <= 1e-5


def test_without_its_encoder_of_questions_such_a_model_is_refused(source, models):
    assert "--questions" in refusal(source, models, TWO, name="two")


def test_an_encoder_of_questions_of_another_width_is_refused(source, models, tmp_path):
    asked = published(tmp_path / "asked")
    put(asked / "config.json", {**CONFIG, "hidden_size": 12})
    assert "dimensions" in refusal(source, models, TWO, name="two", questions=asked)


def test_an_encoder_of_questions_that_reads_other_words_is_refused(source, models, tmp_path):
    asked = published(tmp_path / "asked")
    tokens = (asked / TOKENIZER).read_text()
    (asked / TOKENIZER).write_text(tokens.replace('"ginger"', '"turmeric"'))
    assert "vocabularies" in refusal(source, models, TWO, name="two", questions=asked)


def test_what_a_preset_knows_is_checked_and_fills_in_what_files_do_not_say(source, models):
    known = Preset("known", "a/known", "MIT", HIDDEN, LIMIT, "cls", "Find: ")
    put(source / "config_sentence_transformers.json", {})
    report = added(source, models, known, name="known")
    assert (report.identity.before_questions, report.licence) == ("Find: ", "MIT")
    wider, pinned = replace(known, name="wider", dim=384), replace(known, name="pinned", weights_sha256="0" * 64)
    assert "384" in refusal(source, models, wider, name="wider")
    assert "SHA-256" in refusal(source, models, pinned, name="pinned")


def test_presets_are_complete():
    assert set(PRESETS) == {
        "gte-small",
        "granite-embedding-small-english-r2",
        "bge-small-en-v1.5",
        "snowflake-arctic-embed-s",
        "mdbr-leaf-ir",
        "MedCPT-Article-Encoder",
    }
    for each in PRESETS.values():
        assert each.licence
        assert each.source.endswith(each.name)
        assert len(each.weights_sha256) in (0, 64)


def test_its_manifest_names_its_files_and_licence(source, models):
    added(source, models, licence="MIT")
    manifest = json.loads((models / "some-model" / MANIFEST).read_text())
    assert manifest["licence"] == "MIT"
    assert set(manifest["files"]) == {GRAPH, TOKENIZER}

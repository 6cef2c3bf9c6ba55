"""Which models the settings give, with which keys, and by which one an index is searched."""

import json
from contextlib import closing
from dataclasses import asdict, replace

import pytest

from bio_mcp.adapters.embedders.model_files import DEFAULT, Identity, write_manifest
from bio_mcp.adapters.embedders.own_models import Wanted
from bio_mcp.adapters.rerankers.onnx import add_reranker
from bio_mcp.deadline import NEVER
from bio_mcp.errors import EmbeddingFailed, Misconfigured, NotFound
from bio_mcp.settings import Settings
from bio_mcp.wiring.embedded import Embedded
from bio_mcp.wiring.models import LANGUAGE_MODELS, RERANKERS, InstalledModels
from tests.adapters.embedders.tiny_model import published_reranker as published
from tests.adapters.entries import entry
from tests.adapters.json_endpoint import JsonEndpoint
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


COMPLETION = {"choices": [{"message": {"content": "Yes [1]."}}]}


@pytest.fixture
def endpoint(closed):
    return closed(JsonEndpoint(COMPLETION))


def model(**given):
    settings = Settings(**given)
    return LANGUAGE_MODELS[settings.llm](settings)


@pytest.mark.parametrize("provider", ["openai", "bedrock"])
def test_a_language_model_is_the_one_that_is_named(provider):
    assert model(llm=provider, llm_model="m").fingerprint.startswith(f"{provider}/m/")


@pytest.mark.parametrize(
    ("given", "missing"),
    [
        ({"llm": "openai"}, "BIO_MCP_LLM_MODEL"),
        ({"llm": "bedrock"}, "BIO_MCP_LLM_MODEL"),
        ({"llm": "bedrock", "llm_model": "m", "llm_guardrail": "gr-1"}, "BIO_MCP_LLM_GUARDRAIL names no version"),
        ({"reranker": "onnx"}, "BIO_MCP_RERANKER_MODEL"),
        ({"reranker": "cohere"}, "BIO_MCP_RERANKER_URL"),
        ({"reranker": "bedrock"}, "BIO_MCP_RERANKER_MODEL"),
    ],
)
def test_what_a_model_takes_is_named(given, missing):
    with pytest.raises(Misconfigured, match=missing):
        model(**given) or reranker(**given)


def test_unless_one_is_named_there_is_none():
    assert model() is reranker() is None


def test_the_key_of_openai_goes_to_its_own_address_and_no_other(endpoint):
    for given in (
        {"openai_base_url": endpoint.base_url, "openai_api_key": "one"},
        {"llm_base_url": endpoint.base_url, "openai_api_key": "one"},
        {"llm_base_url": endpoint.base_url, "openai_api_key": "one", "llm_api_key": "two"},
    ):
        model(llm="openai", llm_model="m", **given).generate("?", ["A."], NEVER)
    assert endpoint.authorizations == ["Bearer one", None, "Bearer two"]


def reranker(**given):
    settings = Settings(**given)
    return RERANKERS[settings.reranker](settings)


def test_the_endpoint_is_asked_with_its_key(tmp_path):
    endpoint = JsonEndpoint([{"index": 0, "score": 2.5}])
    given = {"reranker": "tei", "reranker_url": f"{endpoint.base_url}/rerank", "reranker_api_key": "sk-one"}
    with closing(endpoint), closing(Embedded(Settings(home=tmp_path, **given))) as backends:
        assert backends.reranker.scores("?", ["A."], NEVER) == [2.5]
        assert backends.reranker.fingerprint.startswith("tei/")
    assert endpoint.authorizations == ["Bearer sk-one"]


def test_bedrock_is_not_asked_before_it_is_needed():
    assert reranker(reranker="bedrock", reranker_model="arn:aws:bedrock:x::m/a").fingerprint == "bedrock/a"


def test_an_installed_one_is_found_by_its_name_and_no_other_place(tmp_path):
    add_reranker(published(tmp_path / "tiny"), tmp_path / "models", Wanted())
    made = reranker(reranker="onnx", reranker_model="tiny", models=tmp_path / "models")
    assert len(made.scores("ginger", ["nausea", "heart"], NEVER)) == 2
    with pytest.raises((Misconfigured, EmbeddingFailed)) as refused:
        reranker(reranker="onnx", reranker_model="../tiny", models=tmp_path / "models")
    assert str(tmp_path) not in str(refused.value)

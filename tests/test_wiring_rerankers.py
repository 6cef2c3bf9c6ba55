"""Which reranker the settings give, and which key it is given."""

from contextlib import closing

import pytest

from bio_mcp.adapters.embedders.own_models import Wanted
from bio_mcp.adapters.rerankers.onnx import add_reranker
from bio_mcp.deadline import NEVER
from bio_mcp.errors import EmbeddingFailed, Misconfigured
from bio_mcp.settings import Settings
from bio_mcp.wiring.embedded import Embedded
from bio_mcp.wiring.models import RERANKERS
from tests.adapters.embedders.tiny_model import published_reranker as published
from tests.adapters.json_endpoint import JsonEndpoint


def reranker(**given):
    settings = Settings(**given)
    return RERANKERS[settings.reranker](settings)


def test_unless_one_is_named_there_is_none(tmp_path):
    with closing(Embedded(Settings(home=tmp_path))) as backends:
        assert backends.reranker is None


@pytest.mark.parametrize(
    ("provider", "missing"),
    [("onnx", "BIO_MCP_RERANKER_MODEL"), ("cohere", "BIO_MCP_RERANKER_URL"), ("bedrock", "BIO_MCP_RERANKER_MODEL")],
)
def test_what_it_takes_is_named(provider, missing):
    with pytest.raises(Misconfigured, match=missing):
        reranker(reranker=provider)


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

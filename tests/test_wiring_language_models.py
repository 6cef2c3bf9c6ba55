"""Which language model the settings give, and which key it is given."""

import pytest

from bio_mcp.deadline import NEVER
from bio_mcp.errors import Misconfigured
from bio_mcp.settings import Settings
from bio_mcp.wiring.models import LANGUAGE_MODELS
from tests.adapters.json_endpoint import JsonEndpoint

COMPLETION = {"choices": [{"message": {"content": "Yes [1]."}}]}


@pytest.fixture
def endpoint():
    endpoint = JsonEndpoint(COMPLETION)
    yield endpoint
    endpoint.close()


def model(**given):
    settings = Settings(**given)
    return LANGUAGE_MODELS[settings.llm](settings)


def test_unless_one_is_named_there_is_no_language_model():
    assert model() is None


@pytest.mark.parametrize("provider", ["openai", "bedrock"])
def test_one_that_is_named_takes_a_model(provider):
    with pytest.raises(Misconfigured, match="BIO_MCP_LLM_MODEL"):
        model(llm=provider)
    assert model(llm=provider, llm_model="m").fingerprint.startswith(f"{provider}/m/")


def test_the_key_of_openai_goes_to_its_own_address_and_no_other(endpoint):
    for given in (
        {"openai_base_url": endpoint.base_url, "openai_api_key": "one"},
        {"llm_base_url": endpoint.base_url, "openai_api_key": "one"},
        {"llm_base_url": endpoint.base_url, "openai_api_key": "one", "llm_api_key": "two"},
    ):
        model(llm="openai", llm_model="m", **given).generate("?", ["A."], NEVER)
    assert endpoint.authorizations == ["Bearer one", None, "Bearer two"]


def test_a_guardrail_takes_a_version():
    with pytest.raises(Misconfigured, match="BIO_MCP_LLM_GUARDRAIL names no version"):
        model(llm="bedrock", llm_model="m", llm_guardrail="gr-1")

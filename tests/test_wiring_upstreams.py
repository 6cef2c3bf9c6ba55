"""Each service outside that is configured is asked, and named where it is away; none that is not configured is."""

import socket
from types import SimpleNamespace

import pytest

from bio_mcp.errors import NcbiFailed, UpstreamFailed
from bio_mcp.health import FAIL, OK
from bio_mcp.ports.models import Generated
from bio_mcp.settings import Settings
from bio_mcp.wiring.services import upstreams
from tests.doors.auth.issuer import publishing
from tests.doors.auth.minting import jwk


class Services:
    """A converter of ids, a language model and a reranker that answer, or are away."""

    def __init__(self, fingerprint, away=False):
        self.fingerprint, self.away = fingerprint, away

    def convert(self, ids, kind, *, deadline):
        if self.away:
            raise NcbiFailed("NCBI does not answer")
        assert (kind, deadline.remaining > 0) == ("pmcid", True)
        return {each: object() for each in ids}

    def generate(self, question, passages, _deadline):
        if self.away:
            raise UpstreamFailed("the model does not answer")
        return Generated(f"{question} {passages[0]} [1]")

    def scores(self, question, passages, deadline):
        assert question
        assert deadline.remaining > 0
        return [0.123456 for _ in passages]


def asked(settings=None, away=False):
    given = settings or Settings(literature_sources=("none",))
    model, reranker = Services("openai/m/1", away), Services("tei/m/host")
    own = SimpleNamespace(settings=given, uncached_lookup=model, language_model=model, reranker=reranker)
    return {each.check: each for each in upstreams(own)}


@pytest.fixture
def away():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    return f"http://127.0.0.1:{port}"


def test_only_what_is_configured_is_asked():
    assert {name: each.state for name, each in asked().items()} == {"NCBI's ID converter": OK}


@pytest.mark.parametrize(
    ("setting", "check", "says"),
    [
        ({"llm": "openai"}, "language model", "openai/m/1 answers with 51 characters"),
        ({"reranker": "tei"}, "reranker", "tei/m/host answers with a score of 0.123"),
    ],
)
def test_a_model_answers(setting, check, says):
    found = asked(Settings(literature_sources=("none",), **setting))[check]
    assert (found.state, found.found) == (OK, says)


def test_literature_services_that_are_set_wrongly_are_a_finding_and_the_others_are_asked():
    found = asked(Settings(literature_sources=("sci-hub",)))
    assert found["NCBI's ID converter"].state == OK
    assert (found["literature services"].state, "sci-hub" in found["literature services"].found) == (FAIL, True)


def test_each_that_is_away_is_named_without_its_address(away):
    settings = Settings(literature_sources=("none",), llm="openai", auth_jwks_url=away, otlp_endpoint=away)
    found = asked(settings, away=True)
    assert [each.state for each in found.values()] == [FAIL] * 4
    assert found["language model"].found == "the model does not answer"
    assert "OTEL_EXPORTER_OTLP_ENDPOINT" in found["OpenTelemetry collector"].found
    assert "127.0.0.1" not in str(found)


def test_what_answers_is_in_order():
    with publishing(jwk()) as published:
        found = asked(Settings(literature_sources=("none",), auth_jwks_url=published.url, otlp_endpoint=published.url))
    assert [each.state for each in found.values()] == [OK] * 3
    assert published.asked == 2

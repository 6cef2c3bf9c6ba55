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


class Converter:
    def convert(self, ids, kind, *, deadline):
        assert (kind, deadline.remaining > 0) == ("pmcid", True)
        return {each: object() for each in ids}


class Away:
    fingerprint = "away"

    def convert(self, *_, **__):
        raise NcbiFailed("NCBI does not answer")

    def generate(self, *_):
        raise UpstreamFailed("the model does not answer")


class Model:
    fingerprint = "openai/m/1"

    def generate(self, question, passages, _deadline):
        return Generated(f"{question} {passages[0]} [1]")


class Reranker:
    fingerprint = "tei/m/host"

    def scores(self, question, passages, deadline):
        assert question
        assert deadline.remaining > 0
        return [0.123456 for _ in passages]


def asked(settings=None, lookup=Converter, model=Model):
    given = settings or Settings(literature_sources=("none",))
    own = SimpleNamespace(settings=given, uncached_lookup=lookup(), language_model=model(), reranker=Reranker())
    return {each.check: each for each in upstreams(own)}


@pytest.fixture
def away():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    return f"http://127.0.0.1:{port}"


def test_only_what_is_configured_is_asked():
    assert {name: each.state for name, each in asked().items()} == {"NCBI's ID converter": OK}


def test_a_language_model_writes_a_sentence():
    found = asked(Settings(literature_sources=("none",), llm="openai"))["language model"]
    assert (found.state, found.found) == (OK, "openai/m/1 answers with 51 characters")


def test_a_reranker_scores_a_passage():
    found = asked(Settings(literature_sources=("none",), reranker="tei"))["reranker"]
    assert (found.state, found.found) == (OK, "tei/m/host answers with a score of 0.123")


def test_literature_services_that_are_set_wrongly_are_a_finding_and_the_others_are_asked():
    found = asked(Settings(literature_sources=("sci-hub",)))
    assert found["NCBI's ID converter"].state == OK
    assert (found["literature services"].state, "sci-hub" in found["literature services"].found) == (FAIL, True)


def test_each_that_is_away_is_named_without_its_address(away):
    settings = Settings(literature_sources=("none",), llm="openai", auth_jwks_url=away, otlp_endpoint=away)
    found = asked(settings, Away, Away)
    assert [each.state for each in found.values()] == [FAIL] * 4
    assert found["language model"].found == "the model does not answer"
    assert "OTEL_EXPORTER_OTLP_ENDPOINT" in found["OpenTelemetry collector"].found
    assert "127.0.0.1" not in str(found)


def test_what_answers_is_in_order():
    with publishing(jwk()) as published:
        found = asked(Settings(literature_sources=("none",), auth_jwks_url=published.url, otlp_endpoint=published.url))
    assert [each.state for each in found.values()] == [OK] * 3
    assert published.asked == 2

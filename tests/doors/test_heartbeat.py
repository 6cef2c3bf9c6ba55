"""The client that looks at the deployed endpoint from outside."""

import json
from contextlib import contextmanager

import httpx2
import pytest

from bio_mcp.call import Outcome
from bio_mcp.doors.auth.access import access_if_complete
from bio_mcp.doors.aws.heartbeat import SUBJECT, heartbeat_handler
from bio_mcp.doors.mcp.http import application
from bio_mcp.errors import UpstreamFailed
from bio_mcp.settings import Settings
from tests.doors.auth.minting import RESOURCE, SECRET
from tests.doors.lambda_bridge import context
from tests.doors.serving import running

FOUND = {"results": [], "status": "complete", "reasons": [], "warnings": []}
BROKEN = {"error": {"code": "WEAVIATE", "message": "no index", "details": {"retryable": True}}}
ISSUERS = {"MCP_AUTH_JWKS_URL": "https://issuer.example/keys", "MCP_AUTH_ISSUER": "https://issuer.example"}
OWN = {"MCP_AUTH_SECRET_KEY": SECRET}


class Tools:
    """Answers every call alike, and keeps who called what."""

    def __init__(self, body):
        self.body, self.calls = body, []

    def __call__(self, what, _arguments, called):
        self.calls.append((what.name, called.subject, called.caller.scopes))
        return Outcome(self.body, {"status": "ok"})


@contextmanager
def environment(**variables):
    with pytest.MonkeyPatch.context() as patched:
        for name, value in variables.items():
            patched.setenv(name, value)
        yield


@contextmanager
def beating(tools, **variables):
    """A heartbeat's handler whose endpoint runs `tools`."""
    with environment(MCP_RESOURCE_URL=RESOURCE, **variables):
        settings = Settings.from_env()
        app = application(settings, tools, access_if_complete(settings), public=True)
        with running(app) as base, environment(BIO_MCP_HEARTBEAT_URL=f"{base}/mcp"):
            yield lambda: heartbeat_handler()({}, context())


def test_a_heartbeat_searches_as_a_client_that_may_read_alone():
    tools = Tools(FOUND)
    with beating(tools, **OWN) as beat:
        assert beat()["status"] == "ok"
    assert tools.calls == [("rag.search", SUBJECT, frozenset({"read"}))]


def test_each_heartbeat_is_counted_with_its_time(capsys):
    with beating(Tools(FOUND), **OWN, BIO_MCP_METRICS="stack") as beat:
        beat()
    [metric] = [json.loads(line) for line in capsys.readouterr().out.splitlines() if "_aws" in line]
    assert (metric["Heartbeats"], metric["service"]) == ([1.0], "bio_mcp")
    assert metric["HeartbeatLatency"][0] >= 0
    assert metric["_aws"]["CloudWatchMetrics"][0]["Namespace"] == "stack"


def test_a_search_that_fails_is_no_heartbeat(capsys):
    with (
        beating(Tools(BROKEN), **OWN, BIO_MCP_METRICS="stack") as beat,
        pytest.raises(UpstreamFailed, match="rag_search was refused"),
    ):
        beat()
    assert "Heartbeats" not in capsys.readouterr().out


def test_an_endpoint_that_does_not_answer_is_no_heartbeat():
    with (
        environment(MCP_RESOURCE_URL=RESOURCE, BIO_MCP_HEARTBEAT_URL="http://127.0.0.1:9/mcp", **OWN),
        pytest.raises(BaseExceptionGroup) as raised,
    ):
        heartbeat_handler()({}, context())
    assert raised.group_contains(httpx2.ConnectError)


def test_where_an_issuer_gives_out_tokens_the_endpoint_must_refuse_and_say_where_they_are_had():
    tools = Tools(FOUND)
    with beating(tools, **ISSUERS) as beat:
        assert beat()["status"] == "ok"
    assert tools.calls == []


def test_an_endpoint_that_is_not_configured_is_no_heartbeat():
    with beating(Tools(FOUND)) as beat, pytest.raises(UpstreamFailed, match="without a token: 503"):
        beat()

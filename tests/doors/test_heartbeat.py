"""The client that looks at the deployed endpoint from outside, and the steps of bulk loads as a function."""

import json
from contextlib import contextmanager

import httpx2
import pytest
from pydantic import ValidationError

from bio_mcp.call import Outcome
from bio_mcp.doors.auth.access import access_if_complete
from bio_mcp.doors.aws.heartbeat import HEARTBEAT, heartbeat_handler
from bio_mcp.doors.aws.load_function import load_handler
from bio_mcp.doors.mcp.http import application
from bio_mcp.errors import NcbiUnreadable, StoreFailed, UpstreamFailed
from bio_mcp.settings import Settings
from bio_mcp.syncing.bulk_load import Loading
from tests.doors.auth.minting import RESOURCE, SECRET
from tests.doors.lambda_bridge import context
from tests.doors.serving import running
from tests.support.folder_files import FolderFiles

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
    assert tools.calls == [("rag.search", HEARTBEAT.subject, HEARTBEAT.scopes)]


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


ITEM = {"name": "pubmed26n0001.xml.gz", "tag": "t", "has_md5": False}


@pytest.fixture
def files(tmp_path):
    return FolderFiles(tmp_path)


@pytest.fixture
def handler(files):
    return load_handler(lambda deadline: Loading(files, None, None, deadline))


class Failing:
    def __init__(self, failure):
        self._failure = failure

    def __getattr__(self, _step):
        raise self._failure


def failing(failure):
    return load_handler(lambda _deadline: Failing(failure))


def call(handler, step, **event):
    return handler({"step": step, "run": "r1", **event}, context(900_000))


def test_a_run_without_files_is_over_at_once(handler):
    given = {"fetch": False, "again": False}
    assert call(handler, "begin", given=given) == {"count": 0, "key": "load/runs/r1/fetch"}
    assert call(handler, "survey") == {"count": 0, "key": "load/runs/r1/list"}
    assert call(handler, "plan", given=given) == {"count": 0, "key": "load/runs/r1/load"}
    assert call(handler, "report") == {"files": 0, "loaded": 0, "failed": 0}


def test_a_step_has_until_shortly_before_lambda_ends_it():
    seen = []

    def loading(deadline):
        seen.append(deadline.remaining)
        raise StoreFailed("busy")

    with pytest.raises(StoreFailed):
        load_handler(loading)({"step": "survey", "run": "r1"}, context(900_000))
    assert 898 < seen[0] < 899


def test_a_failure_that_may_pass_is_raised_and_one_of_a_file_that_does_not_is_its_end():
    with pytest.raises(StoreFailed):
        call(failing(StoreFailed("busy")), "list", item=ITEM)
    answer = call(failing(NcbiUnreadable("It is cut short.", retryable=False)), "list", item=ITEM)
    assert answer == {"run": "r1", "item": ITEM, "wait_s": 0, "state": "failed", "reason": "It is cut short."}
    with pytest.raises(NcbiUnreadable):
        call(failing(NcbiUnreadable("It is cut short.", retryable=False)), "plan")


def noted(handler, files, end):
    call(handler, "note", stage="list", item=ITEM, end=end)
    return json.loads(files.get(f"runs/r1/failed/{ITEM['name']}"))


def test_a_note_has_our_sentence(handler, files):
    found = noted(handler, files, {"state": "failed", "reason": "It is cut short."})
    assert found == {"file": ITEM["name"], "stage": "list", "reason": "It is cut short."}


@pytest.mark.parametrize("end", [{}, {"state": "more"}, {"failure": {}}, {"failure": {"Cause": "/var/task/secret"}}])
def test_a_note_of_an_unknown_end_has_nothing_of_the_functions_own_message(handler, files, end):
    assert noted(handler, files, end)["reason"] == "the function ended (unknown), also when it was tried again"


def test_a_note_of_any_other_end_has_its_kind(handler, files):
    end = {"state": "more", "failure": {"Error": "Sandbox.Timedout", "Cause": "/var/task/secret"}}
    assert noted(handler, files, end)["reason"] == "the function ended (Sandbox.Timedout), also when it was tried again"


@pytest.mark.parametrize("event", [{}, {"step": "drop", "run": "r1"}, {"step": "plan", "run": "../x"}])
def test_an_event_that_is_no_step_is_refused(handler, event):
    with pytest.raises(ValidationError):
        handler(event, context())

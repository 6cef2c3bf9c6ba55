"""What a token allows beyond the door: to read, to write, and how often."""

import logging

import pytest

from bio_mcp.doors.auth.access import access
from bio_mcp.settings import Settings
from tests.doors.auth.minting import SECRET, hs256
from tests.doors.conftest import sample_app
from tests.doors.serving import running
from tests.doors.wire import MODERN, post

WRITES = {"name": "sample_fail", "arguments": {}}  # it gets as far as failing
READS = {"name": "sample_echo", "arguments": {"text": "x"}}
VERSIONS = ["2025-11-25", MODERN]


@pytest.fixture(scope="module")
def url():
    with running(sample_app(access=access(Settings(auth_secret=SECRET)), public=True)) as base:
        yield f"{base}/mcp"


def called(url, params, version=MODERN, **claims):
    answer = post(url, "tools/call", params, version, authorization=f"Bearer {hs256(**claims)}")
    return answer.json()["result"]["structuredContent"]


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("scope", ["bio:read", "bio:read other"])
def test_a_token_to_read_changes_nothing(url, version, scope):
    error = called(url, WRITES, version, scope=scope)["error"]
    assert (error["code"], error["details"]["scope"]) == ("VALIDATION", "sync")
    assert "sample.fail needs the scope sync, which the access token lacks" in error["message"]


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("scope", ["bio:write", "bio:read bio:write", "other", None])
def test_a_token_to_write_and_one_from_before_there_were_scopes_may_change_things(url, version, scope):
    assert called(url, WRITES, version, scope=scope)["error"]["code"] == "STORE"


@pytest.mark.parametrize("scope", ["bio:read", "bio:write", "other", None])
def test_every_token_that_is_let_in_may_read(url, scope):
    assert called(url, READS, scope=scope)["texts"] == ["x"]


def test_scopes_may_have_other_names():
    settings = Settings(auth_secret=SECRET, auth_read_scope="look", auth_write_scope="touch")
    with running(sample_app(access=access(settings), public=True)) as base:
        assert called(f"{base}/mcp", WRITES, scope="look")["error"]["details"]["scope"] == "sync"
        assert called(f"{base}/mcp", WRITES, scope="bio:read")["error"]["code"] == "STORE"


@pytest.mark.parametrize("params", [READS, WRITES], ids=["served", "refused"])
def test_the_log_names_who_called(url, caplog, params):
    with caplog.at_level(logging.INFO, "bio_mcp"):
        called(url, params, sub="ada@example.org", scope="bio:read")
    assert [each.subject for each in caplog.records if each.msg == "call"] == ["ada@example.org"]


def test_a_subject_that_calls_too_often_is_told_when_to_come_again():
    settings = Settings(auth_secret=SECRET, calls_per_minute=2)
    with running(sample_app(access=access(settings), public=True)) as base:
        answers = [post(f"{base}/mcp", "tools/list", authorization=f"Bearer {hs256(sub='ada')}") for _ in range(3)]
        other = post(f"{base}/mcp", "tools/list", authorization=f"Bearer {hs256(sub='bob')}")
    assert [each.status_code for each in [*answers, other]] == [200, 200, 429, 200]
    assert 1 <= int(answers[2].headers["retry-after"]) <= 30
    assert answers[2].json()["error"] == "rate_limited"

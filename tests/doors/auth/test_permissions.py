"""What a token allows beyond the door: which tools, in which lists, and how often."""

import logging
from dataclasses import replace

import pytest

from bio_mcp.doors.auth.access import access
from bio_mcp.settings import Settings
from bio_mcp.skills import NAMES
from tests.doors.auth.minting import SECRET, hs256
from tests.doors.conftest import sample_app
from tests.doors.serving import running
from tests.doors.wire import ACCEPT, MODERN, post, request

WRITES = {"name": "sample_fail", "arguments": {}}  # it gets as far as failing
READS = {"name": "sample_echo", "arguments": {"text": "x"}}
VERSIONS = ["2025-11-25", MODERN]


@pytest.fixture(scope="module")
def url():
    with running(sample_app(access=access(Settings(auth_secret=SECRET)), public=True)) as base:
        yield f"{base}/mcp"


@pytest.fixture(scope="module")
def public_url():
    with running(sample_app(access=access(Settings(public_read="on")), public=True)) as base:
        yield f"{base}/mcp"


def answered(url, params, version=MODERN, method="tools/call", **claims):
    return post(url, method, params, version, authorization=f"Bearer {hs256(**claims)}")


def called(url, params, version=MODERN, **claims):
    return answered(url, params, version, **claims).json()["result"]["structuredContent"]


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("scope", ["bio:read", "bio:read other", "read live ingest admin"])
def test_a_call_beyond_the_token_is_403_and_names_the_missing_scope(url, version, scope):
    answer = answered(url, WRITES, version, scope=scope)
    challenge = answer.headers["www-authenticate"]
    assert answer.status_code == 403
    assert challenge.startswith(
        'Bearer error="insufficient_scope", error_description="sample.fail needs the scope sync'
    )
    assert challenge.endswith('scope="sync"')
    error = answer.json()["error"]
    assert (error["data"]["error"]["code"], error["data"]["error"]["details"]["scope"]) == ("VALIDATION", "sync")


def test_the_challenge_names_the_metadata_where_there_is_an_issuer(issued_url):
    url, token = issued_url
    answer = post(url, "tools/call", WRITES, authorization=f"Bearer {token(scope='read')}")
    metadata = "https://mcp.example.org/.well-known/oauth-protected-resource/mcp"
    assert answer.status_code == 403
    assert f'resource_metadata="{metadata}"' in answer.headers["www-authenticate"]


@pytest.mark.parametrize("version", VERSIONS)
def test_a_resource_beyond_the_token_is_403(url, version):
    answer = answered(url, {"uri": "sample://paper/7"}, version, "resources/read", scope="live")
    assert answer.status_code == 403
    assert 'scope="read"' in answer.headers["www-authenticate"]


@pytest.mark.parametrize("odd", [{"name": 7}, {"name": None}, {"name": ["sample_fail"]}, {"name": "nothing"}, {}])
def test_what_names_no_tool_is_left_to_the_session(url, odd):
    assert answered(url, {**odd, "arguments": 7}, "2025-11-25", scope="read").status_code == 200


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("scope", ["bio:write", "bio:read bio:write", "sync", "other", None])
def test_a_token_to_write_and_one_from_before_there_were_scopes_may_change_things(url, version, scope):
    assert called(url, WRITES, version, scope=scope)["error"]["code"] == "STORE"


def test_scopes_may_have_other_names():
    settings = Settings(auth_secret=SECRET, auth_read_scope="look", auth_write_scope="touch")
    with running(sample_app(access=access(settings), public=True)) as base:
        assert answered(f"{base}/mcp", WRITES, scope="look").status_code == 403
        assert called(f"{base}/mcp", WRITES, scope="bio:read")["error"]["code"] == "STORE"


@pytest.mark.parametrize("version", VERSIONS)
def test_what_a_token_may_not_call_or_read_is_not_listed(url, version):
    def listed(scope, method, kind):
        return {each["name"] for each in answered(url, {}, version, method, scope=scope).json()["result"][kind]}

    everything = listed("bio:write", "tools/list", "tools")
    assert everything - listed("read", "tools/list", "tools") == {"sample_fail"}
    assert listed("live", "tools/list", "tools") == set()
    assert listed("read", "resources/list", "resources") == {"info", *NAMES}  # skills are for everybody
    assert listed("live", "resources/list", "resources") == {*NAMES}
    assert listed("read", "resources/templates/list", "resourceTemplates") == {"paper"}
    assert listed("live", "resources/templates/list", "resourceTemplates") == set()


@pytest.mark.parametrize("method", ["tools/list", "resources/list", "resources/templates/list"])
def test_a_list_for_one_caller_is_shared_with_no_other(url, base, method):
    assert answered(url, {}, method=method, scope="read").json()["result"]["cacheScope"] == "private"
    assert post(f"{base}/mcp", method).json()["result"]["cacheScope"] == "public"


def test_an_unknown_tool_is_answered_with_those_that_the_caller_may_call(url):
    error = answered(url, {"name": "nothing", "arguments": {}}, scope="read").json()["error"]
    assert "sample_echo" in error["message"]
    assert "sample_fail" not in error["message"]


@pytest.mark.parametrize("params", [READS, WRITES], ids=["served", "refused"])
def test_log_and_audit_name_who_called(url, caplog, params):
    with caplog.at_level(logging.INFO, "bio_mcp"):
        answer = answered(url, params, sub="ada@example.org", scope="bio:read", tenant="lab").json()
    assert [(each.subject, each.tenant) for each in caplog.records if each.msg == "call"] == [
        ("ada@example.org", "lab")
    ]
    if params is READS:
        audit = answer["result"]["_meta"]["io.github.bio-mcp/audit"]
        assert (audit["subject"], audit["tenant"]) == ("ada@example.org", "lab")


def test_a_subject_that_calls_too_often_is_told_when_to_come_again():
    settings = Settings(auth_secret=SECRET, calls_per_minute=2)
    with running(sample_app(access=access(settings), public=True)) as base:
        answers = [post(f"{base}/mcp", "tools/list", authorization=f"Bearer {hs256(sub='ada')}") for _ in range(3)]
        other = post(f"{base}/mcp", "tools/list", authorization=f"Bearer {hs256(sub='bob')}")
    assert [each.status_code for each in [*answers, other]] == [200, 200, 429, 200]
    assert 1 <= int(answers[2].headers["retry-after"]) <= 30
    assert answers[2].json()["error"] == "rate_limited"


@pytest.mark.parametrize("version", VERSIONS)
def test_whoever_comes_without_a_token_may_read_where_that_is_public(public_url, version):
    assert post(public_url, "tools/call", READS, version).json()["result"]["structuredContent"]["texts"] == ["x"]


def test_whoever_comes_without_a_token_is_asked_for_one_to_do_more(public_url):
    answer = post(public_url, "tools/call", WRITES)
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"] == 'Bearer scope="sync"'


def test_a_token_that_is_not_good_does_not_pass_for_none(public_url):
    assert post(public_url, "tools/call", READS, authorization=f"Bearer {hs256()}").status_code == 401


def test_an_address_that_reads_too_often_is_told_when_to_come_again():
    settings = Settings(auth_secret=SECRET, public_read="on", calls_per_minute=2)
    with running(sample_app(access=access(settings), public=True)) as base:
        answers = [post(f"{base}/mcp", "tools/list").status_code for _ in range(3)]
        known = post(f"{base}/mcp", "tools/list", authorization=f"Bearer {hs256(sub='ada')}").status_code
    assert (answers, known) == ([200, 200, 429], 200)


@pytest.fixture(scope="module")
def issued_url():
    settings = Settings(auth_secret=SECRET, resource_url="https://mcp.example.org/mcp")
    opened = access(settings)
    with running(sample_app(access=replace(opened, issuer="https://issuer.example.org"), public=True)) as base:
        yield f"{base}/mcp", lambda **claims: hs256(audience="https://mcp.example.org/mcp", **claims)


@pytest.mark.parametrize("names", [("sample_echo", "sample_fail"), ("sample_fail", "sample_echo")])
@pytest.mark.parametrize("twice", ["name", "params"])
def test_what_is_named_twice_is_called_as_it_was_checked(url, names, twice, caplog):
    first, second = (f'"name":"{each}","arguments":{{"text":"x"}}' for each in names)
    params = f'"params":{{{first},{second}}}' if twice == "name" else f'"params":{{{first}}},"params":{{{second}}}'
    sent = {"accept": ACCEPT, "mcp-protocol-version": VERSIONS[0], "content-type": "application/json"}
    body = f'{{"jsonrpc":"2.0","id":1,"method":"tools/call",{params}}}'
    answer = request("POST", url, content=body, headers={**sent, "authorization": f"Bearer {hs256(scope='bio:read')}"})
    assert (answer.status_code == 403) == (names[1] == "sample_fail")
    assert "sample.fail" not in caplog.text


def test_a_token_in_an_address_opens_nothing(url):
    token = hs256()
    for name in ("access_token", "token", "authorization"):
        assert post(f"{url}?{name}={token}", "tools/list").status_code == 401

"""What reaches the endpoint from clients that are old, careless or hostile; and the server card that leads to it."""

import gzip
import json
import re
import threading

import httpx
import pytest
from mcp_types import SERVER_INFO_META_KEY

from bio_mcp.doors.mcp import http as mcp_http
from bio_mcp.doors.mcp.http import CARD, CARD_TYPE, CATALOG, WELL_KNOWN_CARD
from bio_mcp.doors.running import in_process
from bio_mcp.settings import Settings
from tests.doors.conftest import NO_BACKENDS
from tests.doors.sample import Stranded
from tests.doors.serving import running
from tests.doors.wire import ACCEPT, HANDSHAKES, MODERN, post, request

EVERY_VERSION = [*HANDSHAKES, MODERN]
both = pytest.mark.parametrize("version", ["2025-11-25", MODERN])


@pytest.mark.parametrize("version", HANDSHAKES)
def test_a_handshake_of_each_older_revision_is_agreed_to(url, version):
    asked = {"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    agreed = request(
        "POST",
        url,
        json={"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": asked},
        headers={"accept": ACCEPT},
    ).json()["result"]
    assert agreed["protocolVersion"] == version
    assert agreed["serverInfo"]["name"] == "bio-mcp"
    assert "rag_search" in agreed["instructions"]
    assert set(agreed["capabilities"]) == {"tools", "resources", "prompts", "completions"}


def test_the_newest_revision_is_discovered(url):
    found = post(url, "server/discover").json()["result"]
    assert MODERN in found["supportedVersions"]
    assert found["ttlMs"] == 300_000


@pytest.mark.parametrize("version", EVERY_VERSION)
def test_every_revision_lists_calls_and_reads(url, version):
    listed = post(url, "tools/list", version=version).json()["result"]["tools"]
    echo = {"name": "sample_echo", "arguments": {"text": "x"}}
    called = post(url, "tools/call", echo, version).json()["result"]
    by_json = post(url, "tools/call", echo, version, accept="application/json").json()["result"]
    read = post(url, "resources/read", {"uri": "sample://paper/7"}, version).json()["result"]
    assert listed[0]["name"] == "sample_echo"
    assert called["content"][0]["text"] == '{"texts":["x"],"nothing":null}'
    assert by_json["structuredContent"] == {"texts": ["x"], "nothing": None}  # of a client that reads nothing else
    assert read["contents"][0]["text"] == '{"pmid":"7","abstract":null}'


@both
def test_progress_that_is_asked_for_comes_before_the_answer(url, version):
    params = {"name": "sample_walk", "arguments": {"steps": 2}, "_meta": {"progressToken": "p"}}
    answer = post(url, "tools/call", params, version)
    events = [json.loads(line[6:]) for line in answer.text.splitlines() if line.startswith("data: {")]
    assert answer.headers["content-type"].startswith("text/event-stream")
    assert [each["params"] for each in events[:2]] == [
        {"progressToken": "p", "progress": 1.0, "total": 2.0, "message": "step 1"},
        {"progressToken": "p", "progress": 2.0, "total": 2.0, "message": "step 2"},
    ]
    assert events[2]["result"]["structuredContent"] == {"steps": 2}


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT", "PATCH"])
def test_only_post_is_allowed(url, method):
    answer = request(method, url, headers={"accept": ACCEPT})
    assert answer.status_code == 405
    assert answer.headers["allow"] == "POST"


def test_nothing_else_is_served(base):
    for path in ("/docs", "/openapi.json", "/mcp/x", "/sse"):
        assert request("GET", base + path).status_code == 404


def test_a_slash_at_the_end_is_no_other_endpoint(base, url):
    assert post(f"{base}/mcp/", "tools/list").json() == post(url, "tools/list").json()


@pytest.mark.parametrize(("path", "status"), [("/", 200), ("/mcp", 405), ("/mcp/", 405)])
def test_a_browser_is_told_how_to_connect_a_client(base, path, status):
    answer = request("GET", base + path)
    assert answer.status_code == status
    assert base.removeprefix("http") + "/mcp\n" in answer.text.replace("https:", ":").replace("http:", ":")
    assert "claude mcp add --transport http bio-mcp http" in answer.text


@both
def test_a_body_over_the_limit_is_refused(url, version):
    params = {"name": "sample_echo", "arguments": {"text": "x" * (5_000 * 1024)}}
    assert post(url, "tools/call", params, version).status_code == 413


def test_a_setting_lets_longer_bodies_in():
    app = mcp_http.application(Settings(max_request_kb=1), in_process(NO_BACKENDS), public=False)
    with running(app) as base:
        answers = [post(f"{base}/mcp", "tools/list", {"cursor": "x" * length}).status_code for length in (100, 1_000)]
    assert answers == [200, 413]


LONG = "x" * 250_000


@both
@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("tools/call", {"name": LONG, "arguments": {}}),
        ("tools/call", {"name": "sample_echo", "arguments": {LONG: 1}}),
        ("tools/call", {"name": "sample_echo", "arguments": {"text": LONG}}),
        ("resources/read", {"uri": f"sample://paper/{LONG}"}),
        ("tools/list", {"cursor": LONG}),
        (LONG, {}),
    ],
)
def test_nothing_long_comes_back(url, version, method, params):
    meta = {"io.modelcontextprotocol/protocolVersion": version, "io.modelcontextprotocol/clientCapabilities": {}}
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": meta}}
    answer = raw(url, json.dumps(body).encode(), version, **{"mcp-method": method[:20], "mcp-name": "sample_echo"})
    assert len(answer.content) < 6_000


@both
@pytest.mark.parametrize("odd", [None, 1.5, True, [], {}, LONG, 2**60])
def test_a_request_whose_id_is_none_is_refused_and_not_dropped(url, version, odd):
    body = {"jsonrpc": "2.0", "id": odd, "method": "tools/list", "params": {}}
    answer = raw(url, json.dumps(body).encode(), version)
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, -32600)
    assert answer.json()["id"] is None


@both
@pytest.mark.parametrize("odd", [None, 1.5, True, LONG])
def test_a_progress_token_that_is_none_is_refused(url, version, odd):
    params = {"name": "sample_walk", "arguments": {}, "_meta": {"progressToken": odd}}
    answer = post(url, "tools/call", params, version)
    assert (answer.status_code, answer.json()["id"]) == (400, 1)


def raw(url, body, version, **headers):
    sent = {"accept": ACCEPT, "content-type": "application/json", "mcp-protocol-version": version, **headers}
    return request("POST", url, content=body, headers=sent)


@both
@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"\xff\xfe",
        b"null",
        b"[]",
        b'"tools/list"',
        b'[{"jsonrpc":"2.0","id":1,"method":"tools/list"}]',
        b'{"jsonrpc":"1.0","id":1,"method":"tools/list"}',
        b'{"id":1}',
        b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":7}}',
        b"\x00" * 100,
    ],
)
def test_malformed_json_rpc_is_a_client_error(url, version, body):
    answer = raw(url, body, version)
    assert 400 <= answer.status_code < 500 or answer.json()["error"]["code"] in (-32600, -32602)


PING = '{"jsonrpc":"2.0","id":1,"method":"ping"}'


@both
@pytest.mark.parametrize(
    ("body", "headers"),
    [
        (PING.encode("utf-16"), {"content-type": "application/json; charset=utf-16"}),
        (gzip.compress(PING.encode()), {"content-encoding": "gzip"}),
        (PING.replace("1,", f"{'9' * 5_000},").encode(), {}),
    ],
    ids=["utf-16", "gzip", "5,000 digits"],
)
def test_a_body_in_another_form_is_refused_and_not_guessed_at(url, version, body, headers):
    answer = raw(url, body, version, **headers)
    assert 400 <= answer.status_code < 500
    assert "9" * 99 not in answer.text


def echoed(url, version, text):
    """The answer to a call whose text is that JSON."""
    meta = '{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}'
    call = f'{{"name":"sample_echo","arguments":{{"text":{text}}},"_meta":{meta}}}'
    body = f'{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{call}}}'
    return raw(url, body.encode(), version, **{"mcp-method": "tools/call", "mcp-name": "sample_echo"})


@both
@pytest.mark.parametrize("depth", [150, 900, 100_000])
def test_deep_nesting_is_answered(url, version, depth):
    answer = echoed(url, version, '{"a":' * depth + "1" + "}" * depth)
    assert answer.status_code < 500
    assert "Traceback" not in answer.text


@both
@pytest.mark.parametrize(
    ("text", "seen"), [("\\ud800", "�"), ("\\u0000", "�"), ("\\uffff", "�"), ("\\u200d", "�"), ("😀", "😀")]
)
def test_odd_characters_come_back_as_a_reader_sees_them_or_are_refused(url, version, text, seen):
    answer = echoed(url, version, f'"{text}"')
    assert answer.status_code < 500
    if "result" in answer.json() and not answer.json()["result"]["isError"]:
        assert answer.json()["result"]["structuredContent"]["texts"] == [seen]


@both
@pytest.mark.parametrize("method", ["subscriptions/listen", "resources/subscribe", "logging/list", "tasks/list"])
def test_what_is_not_offered_is_not_found_and_does_not_hang(url, version, method):
    params = {"uri": "sample://info", "notifications": {}}
    assert post(url, method, params, version=version).json()["error"]["code"] == -32601


@pytest.mark.parametrize(
    "uri",
    [
        "sample://paper/",
        "sample://paper/../../etc/passwd",
        "sample://paper/%2e%2e",
        "sample://paper/1\x00",
        "file:///etc/passwd",
        "",
        "x" * 5_000,
    ],
)
def test_a_hostile_uri_is_unknown(url, uri):
    error = post(url, "resources/read", {"uri": uri}, "2025-11-25").json()["error"]
    assert error["code"] == -32602
    assert error["message"] == "Unknown resource. Available: sample://paper/{pmid}, sample://info"
    assert error["data"]["uri"][:200] == uri[:200]


@both
@pytest.mark.parametrize(
    ("uri", "code", "says", "wire"),
    [
        ("sample://paper/abc", -32602, "abc is not a PMID; a PMID is digits only", "VALIDATION"),
        ("sample://paper/404", -32602, "there is no paper 404", "NOT_FOUND"),
        ("sample://paper/500", -32603, "the store is locked; try again", "STORE"),
    ],
)
def test_what_cannot_be_read_says_why(url, version, uri, code, says, wire):
    error = post(url, "resources/read", {"uri": uri}, version).json()["error"]
    assert error["code"] == code
    assert says in error["message"]
    assert error["data"]["uri"][:200] == uri[:200]
    assert error["data"]["error"]["code"] == wire


@pytest.mark.parametrize("base", ["uvicorn"], indirect=True)
@both
@pytest.mark.parametrize("meta", [{}, {"progressToken": 1}])
def test_a_client_that_hangs_up_ends_the_calls_time(url, version, meta):
    Stranded.begun.clear()
    Stranded.deadlines.clear()
    caller = threading.Thread(target=hang_up, args=(url, version, meta))
    caller.start()
    assert Stranded.begun.wait(10)
    caller.join()
    deadline = Stranded.deadlines[0]
    while deadline.remaining > 0:
        threading.Event().wait(0.01)


def hang_up(url, version, meta):
    """Call `sample_wait`, and close the connection once it runs."""
    params = {"name": "sample_wait", "arguments": {}, "_meta": meta}
    sent = {"accept": ACCEPT, "mcp-protocol-version": version}
    if version == MODERN:
        sent |= {"mcp-method": "tools/call", "mcp-name": "sample_wait"}
        params["_meta"] = meta | {
            "io.modelcontextprotocol/protocolVersion": version,
            "io.modelcontextprotocol/clientCapabilities": {},
        }
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    with pytest.raises(httpx.ReadTimeout), httpx.Client(timeout=0.5) as client:
        client.post(url, json=body, headers=sent)


FIELDS = {"$schema", "name", "version", "title", "description", "remotes"}


@pytest.mark.parametrize("path", [CARD, WELL_KNOWN_CARD])
def test_the_card_says_what_a_client_sees_once_it_has_connected(base, url, path):
    card = request("GET", base + path).json()
    discovered = post(url, "server/discover").json()["result"]
    assert set(card) == FIELDS
    server = discovered["_meta"][SERVER_INFO_META_KEY]
    assert (card["version"], card["title"]) == (server["version"], server["title"])
    [remote] = card["remotes"]
    assert (remote["type"], remote["url"].partition("://")[2]) == ("streamable-http", url.partition("://")[2])
    assert set(discovered["supportedVersions"]) <= set(remote["supportedProtocolVersions"])


def test_its_fields_have_the_form_that_the_proposal_gives_them(base):
    card = request("GET", base + CARD).json()
    assert re.fullmatch(r"[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+", card["name"])
    assert len(card["description"]) <= 100
    assert card["$schema"] == "https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json"


def test_the_catalog_leads_to_the_card(base):
    answer = request("GET", base + CATALOG)
    [entry] = answer.json()["entries"]
    assert answer.headers["content-type"] == "application/ai-catalog+json"
    assert entry["type"] == CARD_TYPE
    assert re.fullmatch(r"urn:air:127\.0\.0\.1:mcp:bio-mcp", entry["identifier"])
    assert entry["url"].endswith(base.partition("://")[2] + CARD)


@pytest.mark.parametrize("path", [CARD, WELL_KNOWN_CARD, CATALOG])
def test_a_page_of_any_origin_may_read_it_and_store_it(base, path):
    answer = request("GET", base + path, headers={"origin": "https://elsewhere.example"})
    assert (answer.status_code, answer.headers["access-control-allow-origin"]) == (200, "*")
    again = request("GET", base + path, headers={"if-none-match": answer.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")


@pytest.mark.parametrize("path", [CARD, CATALOG])
def test_no_other_host_is_repeated(base, path):
    answer = request("GET", base + path, headers={"host": "evil.example"})
    assert (answer.status_code, "evil" in answer.text) == (421, False)
    assert "evil" not in request("GET", base + path, headers={"x-forwarded-host": "evil.example"}).text

"""Calls a minute and budgets over HTTP, hosts and origins, and what the pages of signing in have in common."""

import socket
import threading
from contextlib import closing, contextmanager
from typing import Any, cast

import pytest
from starlette.responses import PlainTextResponse
from starlette.routing import Route, Router
from starlette.testclient import TestClient

from bio_mcp.adapters.embedded.side_files import SqliteBudgets
from bio_mcp.doors.auth.access import access
from bio_mcp.doors.auth.bearer import RateLimiter, network_of
from bio_mcp.doors.auth.server import Guarded, field, read_form
from bio_mcp.doors.local import Server
from bio_mcp.doors.mcp import http as mcp_http
from bio_mcp.doors.mcp import server as mcp_server
from bio_mcp.doors.running import in_process
from bio_mcp.doors.web import hosts_served, origins_served
from bio_mcp.errors import Misconfigured, StoreFailed
from bio_mcp.settings import Settings
from bio_mcp.tool import resources_in, tools_in
from bio_mcp.wiring.services import limits
from tests.adapters.clocks import Clock
from tests.doors import sample
from tests.doors.auth.minting import SECRET, hs256
from tests.doors.wire import ACCEPT, post
from tests.support.corpus import Over


def test_a_minutes_calls_may_come_at_once_and_come_back_evenly():
    clock = Clock(1_000.0)
    limiter = RateLimiter(6, clock)
    assert [limiter.wait_s("ada") for _ in range(7)] == [0, 0, 0, 0, 0, 0, 10]
    clock.now += 10
    assert [limiter.wait_s("ada") for _ in range(2)] == [0, 10]
    clock.now += 600
    assert [limiter.wait_s("ada") for _ in range(7)] == [0, 0, 0, 0, 0, 0, 10]


def test_being_refused_costs_nothing():
    clock = Clock(1_000.0)
    limiter = RateLimiter(1, clock)
    assert [limiter.wait_s("ada") for _ in range(50)] == [0] + [60] * 49


def test_a_clock_that_is_put_back_locks_nobody_out():
    clock = Clock(1_000.0)
    limiter = RateLimiter(2, clock)
    limiter.wait_s("ada")
    clock.now -= 100_000
    assert limiter.wait_s("ada") <= 60


def test_each_subject_has_its_own_and_few_are_remembered():
    limiter = RateLimiter(1, Clock(1_000.0), subjects=3)
    assert [limiter.wait_s(str(number)) for number in range(10)] == [0] * 10
    assert len(limiter._full_at) == 3


def test_no_limit_is_none():
    limiter = RateLimiter(0)
    assert [limiter.wait_s("ada") for _ in range(10_000)] == [0] * 10_000


BUDGETS = "io.github.bio-mcp/budgets"
LEGACY = "2025-11-25"
ECHO = {"name": "sample_echo", "arguments": {"text": "x"}}


@pytest.fixture
def app(tmp_path):
    """The sample tools, open to all for reading."""
    settings = Settings(
        auth_secret=SECRET,
        public_read="on",
        caller_budgets=("calls=2",),
        tenant_budgets=("public:calls=3",),
        address_budgets=("calls=2",),
    )
    with closing(SqliteBudgets(tmp_path, lambda: 1_000.5)) as budgets:
        backends = cast(Any, Over(None, limits=limits(settings, budgets)))
        tools, resources = tools_in(sample).values(), resources_in(sample).values()
        served = mcp_server.server(tools, resources, in_process(backends))
        yield mcp_http.serving(served, declared=[*tools, *resources], access=access(settings), public=True)


@pytest.fixture
def asked_from(app):
    """Calls of the sample's echo over HTTP from an address, with a token or without."""
    return lambda address, **headers: _asked(app, address, headers)


def _asked(app, address, headers):
    """The result of one call."""
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": ECHO}
    sent = {"accept": ACCEPT, "mcp-protocol-version": LEGACY, **headers}
    with TestClient(app, "http://127.0.0.1", client=(address, 50_000)) as client:
        return client.post("/mcp", json=message, headers=sent).json()["result"]


def bearer(**claims):
    return f"Bearer {hs256(**claims)}"


def code(result):
    return result["structuredContent"].get("error", {}).get("code")


def test_an_answer_says_in_meta_what_is_left_to_the_subject(asked_from):
    results = [asked_from("192.0.2.1", authorization=bearer(sub="ada")) for _ in range(3)]
    assert [each["_meta"][BUDGETS]["calls"] for each in results] == [
        {"left": left, "of": 2, "resets_s": 0.5} for left in (1, 0, 0)
    ]
    assert [code(each) for each in results] == [None, None, "RATE_LIMIT"]
    assert results[2]["isError"]
    assert results[2]["structuredContent"]["error"]["details"]["retry_after_s"] == 0.5
    assert code(asked_from("192.0.2.1", authorization=bearer(sub="bob"))) is None


def test_each_address_without_a_token_has_a_budget_and_all_have_one_together(asked_from):
    assert [code(asked_from("192.0.2.1")) for _ in range(3)] == [None, None, "RATE_LIMIT"]
    assert code(asked_from("2001:db8::1")) is None
    assert code(asked_from("198.51.100.7")) == "RATE_LIMIT"  # three strangers' calls a second are all there are
    assert code(asked_from("192.0.2.1", authorization=bearer(sub="ada"))) is None


@pytest.mark.parametrize(("proxies", "last"), [(("127.0.0.1",), None), ((), "RATE_LIMIT")])
def test_behind_a_proxy_that_is_named_the_address_is_the_one_that_it_forwards_and_behind_others_theirs(
    app, proxies, last
):
    with serving(app, proxies) as url:
        forwarded = ["192.0.2.1", "192.0.2.1", "192.0.2.1", "203.0.113.9, 198.51.100.7"]
        codes = [
            code(post(url, "tools/call", ECHO, **{"x-forwarded-for": each}).json()["result"]) for each in forwarded
        ]
    assert codes == [None, None, "RATE_LIMIT", last]


@contextmanager
def serving(app, proxies=()):
    """The application on this machine, as `bio-mcp serve` serves it."""
    ready = threading.Event()
    opened, server = socket.create_server(("127.0.0.1", 0)), Server(app, ready.set, proxies=proxies)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [opened]})
    thread.start()
    try:
        assert ready.wait(30)
        yield f"http://127.0.0.1:{opened.getsockname()[1]}/mcp"
    finally:
        server.stop()
        thread.join()
        opened.close()


@pytest.mark.parametrize(
    ("address", "other", "same"),
    [
        ("2001:db8::1", "2001:db8::ffff:0:0:1", True),
        ("192.0.2.1", "::ffff:192.0.2.1", True),
        ("2001:db8::1", "2001:db8:0:1::1", False),
        ("192.0.2.1", "192.0.2.2", False),
    ],
)
def test_addresses_of_one_customer_count_as_one_and_are_not_shown(address, other, same):
    assert (network_of(address) == network_of(other) != "") == same
    assert "192" not in network_of(address)


@pytest.mark.parametrize("address", ["", "unix:", "testclient"])
def test_those_whose_address_is_unknown_count_as_one(address):
    assert network_of(address) == ""


@pytest.mark.parametrize(
    ("pattern", "served", "others"),
    [
        ("mcp.example.org", ["mcp.example.org", "MCP.EXAMPLE.ORG"], ["mcp.example.org:443", "xmcp.example.org", ""]),
        ("mcp.example.org:8443", ["mcp.example.org:8443"], ["mcp.example.org", "mcp.example.org:84430"]),
        ("localhost:*", ["localhost", "localhost:3010"], ["localhost:", "localhost:x", "localhost:3010@evil.example"]),
        ("[::1]:*", ["[::1]", "[::1]:3010"], ["::1", "[::2]"]),
        ("*.example.org", ["a.example.org", "a.b.example.org"], ["example.org", "aexample.org", ".example.org"]),
        ("*.example.org:*", ["a.example.org:80"], ["a.example.org.evil.example:80", "a/b.example.org"]),
        ("192.0.2.7", ["192.0.2.7"], ["192.0.2.70", "192x0.2.7"]),
    ],
)
def test_a_pattern_serves_what_it_says(pattern, served, others):
    hosts = hosts_served([pattern])
    assert [each for each in served if not hosts.fullmatch(each.lower())] == []
    assert [each for each in [*others, f"{served[0]}\n", f"{served[0]} "] if hosts.fullmatch(each.lower())] == []


@pytest.mark.parametrize(
    "odd", ["*", "*.", "*:*", "https://mcp.example.org", "mcp.example.org/mcp", "a.*.org", "a b", ""]
)
def test_what_is_no_host_is_refused(odd):
    with pytest.raises(Misconfigured, match="MCP_ALLOWED_HOSTS holds"):
        hosts_served([odd])


@pytest.mark.parametrize(
    "odd", ["*", "https://*.example.org", "https://a.example.org/", "a.example.org", "null", "HTTPS://a"]
)
def test_what_is_no_origin_is_refused(odd):
    with pytest.raises(Misconfigured, match="MCP_ALLOWED_ORIGINS holds"):
        origins_served([odd])


def test_an_origin_is_its_scheme_its_host_and_its_port():
    origins = origins_served(["https://app.example.org", "vscode-webview://abc"], also=r"http://localhost(:\d+)?")
    served = ("https://app.example.org", "http://localhost:1", "vscode-webview://abc")
    assert all(map(origins.fullmatch, served))
    others = ("http://app.example.org", "https://app.example.org:444", "http://localhost:1.evil.example", "null", "")
    assert [each for each in others if origins.fullmatch(each)] == []


async def echo(request):
    return PlainTextResponse(field(await read_form(request), "x"))


async def out(_request):
    raise StoreFailed("the file /home/ann/x cannot be read")


@pytest.fixture
def clock():
    return Clock(1_000.0)


@pytest.fixture
def browser(clock):
    rate = RateLimiter(3, clock)
    router = Router([Route("/echo", Guarded(echo, rate), methods=["POST"]), Route("/out", Guarded(out, rate))])
    return lambda address: TestClient(router, "http://here", client=(address, 1))


def test_a_flood_from_one_address_is_cut_off_and_from_no_other(browser, clock):
    flooding, other = browser("192.0.2.1"), browser("192.0.2.2")
    assert [flooding.post("/echo", data={"x": "y"}).status_code for _ in range(4)] == [200, 200, 200, 429]
    assert flooding.post("/echo").headers["retry-after"] == "20"
    assert other.post("/echo", data={"x": "y"}).text == "y"
    clock.sleep(20)
    assert flooding.post("/echo", data={"x": "y"}).status_code == 200


def test_a_long_form_is_not_read(browser):
    assert browser("192.0.2.1").post("/echo", data={"x": "y" * 33_000}).status_code == 413


def test_an_outage_names_no_path(browser):
    answer = browser("192.0.2.1").get("/out")
    assert (answer.status_code, "/home" in answer.text) == (503, False)

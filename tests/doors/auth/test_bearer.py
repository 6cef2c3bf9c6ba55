"""So many calls a minute, and budgets over HTTP: whose they are, and what an answer says of them."""

import socket
import threading
from contextlib import closing, contextmanager
from typing import Any, cast

import pytest
from starlette.testclient import TestClient

from bio_mcp.adapters.embedded.side_files import SqliteBudgets
from bio_mcp.doors.auth.access import access
from bio_mcp.doors.auth.bearer import RateLimiter, network_of
from bio_mcp.doors.local import Server
from bio_mcp.doors.mcp import http as mcp_http
from bio_mcp.doors.mcp import server as mcp_server
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
        served = mcp_server.server(tools, resources, mcp_server.in_process(backends))
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


def test_behind_a_proxy_of_this_machine_the_address_is_the_one_that_it_forwards(app):
    with serving(app) as url:
        forwarded = ["192.0.2.1", "192.0.2.1", "192.0.2.1", "203.0.113.9, 198.51.100.7"]
        codes = [
            code(post(url, "tools/call", ECHO, **{"x-forwarded-for": each}).json()["result"]) for each in forwarded
        ]
    assert codes == [None, None, "RATE_LIMIT", None]


@contextmanager
def serving(app):
    """The application on this machine, as `bio-mcp serve` serves it."""
    ready = threading.Event()
    opened, server = socket.create_server(("127.0.0.1", 0)), Server(app, ready.set)
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

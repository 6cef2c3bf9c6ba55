"""What all pages of signing in and connecting have in common."""

import pytest
from starlette.responses import PlainTextResponse
from starlette.routing import Route, Router
from starlette.testclient import TestClient

from bio_mcp.doors.auth.bearer import RateLimiter
from bio_mcp.doors.auth.server import Guarded, field, read_form
from bio_mcp.errors import StoreFailed
from tests.adapters.clocks import Clock


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

"""Adapters of services about papers, over the local server; time between tries is played."""

import pytest

from bio_mcp.adapters.rate_limit import LocalRateLimiter
from bio_mcp.adapters.retry import Backoff
from bio_mcp.adapters.scholarly import RestApi, ServiceTurns
from tests.adapters.clocks import Clock


@pytest.fixture
def server(scholarly):
    return scholarly


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def service(server, clock, closed):
    """Makes a service at the local server."""

    def make(name, path, gap_s=0.0, **more):
        pacer = ServiceTurns(name, LocalRateLimiter(gap_s, clock, clock.sleep))
        backoff = Backoff(tries=3, rng=lambda: 0.5, sleep=clock.sleep)
        url = more.pop("url", f"{server.base_url}/{path}")
        return closed(RestApi(name, url, "A_SETTING", pacer=pacer, user_agent="tests", backoff=backoff, **more))

    return make

"""Services about papers behind a cache: what is asked again, and what never."""

import pytest

from bio_mcp.adapters.caching.scholarly import CachedMetrics, CachedNotices
from bio_mcp.adapters.embedded.cache import SqliteCache
from bio_mcp.deadline import NEVER
from bio_mcp.errors import UpstreamFailed
from bio_mcp.literature.notices import Notice
from bio_mcp.ports.metrics import Metrics
from bio_mcp.ports.notices import RegisteredWork
from tests.adapters.clocks import Clock

LIFETIME_S = 600


class Asked:
    """A service that knows these, and notes what it is asked for."""

    def __init__(self, known):
        self.known, self.asked, self.away = known, [], False

    def of(self, ids, *, deadline):
        assert deadline is NEVER
        if self.away:
            raise UpstreamFailed("it is away")
        self.asked.append(list(ids))
        return {each: self.known[each] for each in ids if each in self.known}


PAPERS = {each: Metrics(each, f"Paper {each}", 2016, cited_by=("8", "9"), percentile=1.5) for each in ("1", "2", "3")}
WORKS = {
    f"10.1/{each}": RegisteredWork(f"10.1/{each}", "A title", ("Doe, J",), notices=(Notice("retraction", date="2019"),))
    for each in "abc"
}


@pytest.fixture(params=[(CachedMetrics, PAPERS), (CachedNotices, WORKS)], ids=["metrics", "notices"])
def kind(request):
    return request.param


@pytest.fixture
def clock():
    return Clock(1_000_000.0)


@pytest.fixture
def known(kind):
    return kind[1]


@pytest.fixture
def service(known):
    return Asked(known)


@pytest.fixture
def cached(kind, service, clock, tmp_path, closed):
    cache = closed(SqliteCache(tmp_path, 8 << 20, clock))
    return kind[0](service, cache, lifetime_s=LIFETIME_S, source="http://a/")


def test_what_is_stored_is_not_asked_for_again_and_is_the_same(cached, service, known):
    first, second, third = known
    assert cached.of([second, first], deadline=NEVER) == {second: known[second], first: known[first]}
    again = cached.of([first, third, second, first], deadline=NEVER)
    assert list(again.items()) == [(each, known[each]) for each in (first, third, second)]
    assert service.asked == [[second, first], [third]]


def test_what_a_service_does_not_have_is_asked_for_again(cached, service):
    for _ in range(2):
        assert cached.of(["10.1/unknown"], deadline=NEVER) == {}
    assert len(service.asked) == 2


def test_an_answer_ends_with_its_lifetime_and_a_failure_is_told(cached, service, known, clock):
    first = next(iter(known))
    cached.of([first], deadline=NEVER)
    service.away = True
    assert cached.of([first], deadline=NEVER) == {first: known[first]}
    clock.now += LIFETIME_S + 1
    with pytest.raises(UpstreamFailed, match="away"):
        cached.of([first], deadline=NEVER)

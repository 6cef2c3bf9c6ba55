"""Services about papers behind a cache: what is asked again, and what never."""

import pytest

from bio_mcp.adapters.caching import CachedEuropePmc, CachedMetrics, CachedNotices, CachedOpenAccess, Lifetimes
from bio_mcp.adapters.embedded.side_files import SqliteCache
from bio_mcp.deadline import NEVER
from bio_mcp.errors import UpstreamFailed
from bio_mcp.literature.documents import FullText, Licence, TextSection
from bio_mcp.literature.notices import Notice
from bio_mcp.ports.scholarly import Copies, Copy, EuropePmcPage, EuropePmcRecord, Metrics, RegisteredWork, Version
from tests.adapters.clocks import Clock

LIFETIME_S = 600
ALIKE = Lifetimes(LIFETIME_S, LIFETIME_S, LIFETIME_S, LIFETIME_S)


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
def service(kind):
    return Asked(kind[1])


@pytest.fixture
def cache(clock, tmp_path, closed):
    return closed(SqliteCache(tmp_path, 8, clock))


@pytest.fixture
def cached(kind, service, cache):
    return kind[0](service, cache, ALIKE, "http://a/")


def test_what_is_stored_is_not_asked_for_again_and_what_is_not_there_is(cached, service):
    first, second, third = known = service.known
    assert cached.of([second, first], deadline=NEVER) == {second: known[second], first: known[first]}
    again = cached.of([first, third, second, first], deadline=NEVER)
    assert list(again.items()) == [(each, known[each]) for each in (first, third, second)]
    assert service.asked == [[second, first], [third]]
    for _ in range(2):
        assert cached.of(["10.1/unknown"], deadline=NEVER) == {}
    assert len(service.asked) == 4


def test_an_answer_ends_with_its_lifetime_and_a_failure_is_reported(cached, service, clock):
    first = next(iter(service.known))
    cached.of([first], deadline=NEVER)
    service.away = True
    assert cached.of([first], deadline=NEVER) == {first: service.known[first]}
    clock.now += LIFETIME_S + 1
    with pytest.raises(UpstreamFailed, match="away"):
        cached.of([first], deadline=NEVER)


RECORD = EuropePmcRecord("PPR", "PPR1", "A preprint", ("Doe, J",), articles=(Version("MED", "7", "a match"),))
TEXT = FullText(None, None, None, "A preprint", "", Licence("CC BY 4.0"), (TextSection("Methods", 1, "How."),), False)


class AskedEuropePmc:
    """Europe PMC with one record; also Unpaywall, with a copy of one paper."""

    def __init__(self):
        self.asked = []

    def search(self, query, most, *, order="relevance", cursor="", **_):
        self.asked.append((query, most, order, cursor))
        return EuropePmcPage(1, (RECORD,), "next") if query == "known" else EuropePmcPage(0)

    def articles(self, ids, **_):
        self.asked.append(list(ids))
        return {each: RECORD for each in ids if each == "PPR1"}

    def full_text(self, text_id, **_):
        self.asked.append(text_id)
        return TEXT

    def copies(self, doi, **_):
        self.asked.append(doi)
        copies = (Copy("https://repository.example.org/1", None, "acceptedVersion"),)
        return Copies(doi, "A paper", copies if doi == "10.1000/known" else ())


@pytest.fixture
def asked():
    return AskedEuropePmc()


@pytest.fixture
def europe_pmc(asked, cache):
    return CachedEuropePmc(asked, cache, Lifetimes(2 * LIFETIME_S, 60, LIFETIME_S, 0), "http://a/")


def test_records_searches_and_texts_are_stored_each_for_as_long_as_it_may_be(europe_pmc, asked, clock):
    def ask_all():
        page = europe_pmc.search("known", 5, deadline=NEVER)
        return page, europe_pmc.articles(["PPR1"], deadline=NEVER), europe_pmc.full_text("PPR1", deadline=NEVER)

    expected = (EuropePmcPage(1, (RECORD,), "next"), {"PPR1": RECORD}, TEXT)
    assert [ask_all(), ask_all()] == [expected, expected]
    assert len(asked.asked) == 3
    for passed, asked_then in ((61, 4), (LIFETIME_S, 6), (LIFETIME_S, 9)):
        clock.now += passed
        assert ask_all() == expected
        assert len(asked.asked) == asked_then


def test_another_page_or_order_is_another_search_and_an_empty_one_is_asked_again(europe_pmc, asked):
    for more in ({}, {"cursor": "next"}, {"order": "date"}):
        europe_pmc.search("known", 5, deadline=NEVER, **more)
    for _ in range(2):
        europe_pmc.search("unknown", 5, deadline=NEVER)
        europe_pmc.articles(["PPR2"], deadline=NEVER)
    assert len(asked.asked) == 7


def test_copies_are_stored_and_that_there_is_none_is_not(asked, cache):
    unpaywall = CachedOpenAccess(asked, cache, ALIKE, "http://u/")
    for _ in range(2):
        assert unpaywall.copies("10.1000/known", deadline=NEVER).copies[0].version == "acceptedVersion"
        assert unpaywall.copies("10.1000/none", deadline=NEVER).copies == ()
    assert asked.asked == ["10.1000/known", "10.1000/none", "10.1000/none"]

"""PubMed behind a cache, over the local NCBI: what is asked again, and what never."""

import re
import zlib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from threading import Barrier
from types import SimpleNamespace

import pytest

from bio_mcp.adapters.caching import SCHEME, InvalidatingAnnouncements
from bio_mcp.errors import InvalidInput, NcbiFailed
from bio_mcp.literature.records import ChangeKind, CorpusChange, RetractionStatus
from tests.adapters.caching.cached_ncbi import LIFETIMES, Broken, cached_at
from tests.support.retracting import plain_papers, retract
from tests.support.scopes import counting

ABSENT = "99999999"


@pytest.fixture
def cached(ncbi, tmp_path):
    with cached_at(ncbi.base_url, tmp_path) as cached:
        yield cached


@pytest.fixture
def pmids(ncbi):
    return [str(pmid) for pmid in ncbi.control.pmids()[:5]]


def ask(cached, name, pmids, pubmed=None):
    """One request of each kind, as something that can be compared."""
    pubmed, deadline = pubmed or cached.pubmed, cached.deadline
    match name:
        case "esearch":
            return pubmed.esearch("cancer", deadline=deadline, retmax=5, sort="relevance")
        case "espell":
            return pubmed.espell("cancerr", deadline=deadline)
        case "esummary":
            return pubmed.esummary(pmids, deadline=deadline)
        case "efetch":
            return sorted(pubmed.efetch(pmids, deadline=deadline), key=lambda record: int(record.pmid))
        case "xml" | "medline":
            return pubmed.efetch_text(pmids, style=name, deadline=deadline)
        case "elink":
            return pubmed.elink(pmids[:1], deadline=deadline)
        case "einfo":
            return pubmed.einfo(deadline=deadline)


LIVES = {
    "esearch": LIFETIMES.search_s,
    "espell": LIFETIMES.search_s,
    "esummary": LIFETIMES.record_s,
    "efetch": LIFETIMES.record_s,
    "xml": LIFETIMES.record_s,
    "medline": LIFETIMES.record_s,
    "elink": LIFETIMES.link_s,
    "einfo": LIFETIMES.info_s,
}


@pytest.mark.parametrize("name", LIVES)
def test_the_same_is_asked_once_until_its_lifetime_is_over(cached, ncbi, pmids, name):
    first = ask(cached, name, pmids)
    asked = len(ncbi.control.requests())
    cached.clock.now += LIVES[name] - 1
    assert ask(cached, name, pmids) == first == ask(cached, name, pmids, cached.again())
    assert len(ncbi.control.requests()) == asked
    cached.clock.now += 1
    assert ask(cached, name, pmids) == first
    assert len(ncbi.control.requests()) == 2 * asked


@pytest.mark.parametrize("name", LIVES)
def test_a_kind_that_lives_for_no_time_is_always_asked(cached, ncbi, pmids, name):
    never = cached.again(replace(LIFETIMES, record_s=0, search_s=0, link_s=0, info_s=0))
    ask(cached, name, pmids, never)
    asked = len(ncbi.control.requests())
    ask(cached, name, pmids, never)
    assert len(ncbi.control.requests()) == 2 * asked


@pytest.mark.parametrize("name", LIVES)
def test_what_was_cached_is_there_during_an_outage_and_then_a_failure_that_is_not_cached(cached, ncbi, pmids, name):
    first = ask(cached, name, pmids)
    ncbi.control.fault(status=500, times=50)
    assert ask(cached, name, pmids) == first
    cached.clock.now += LIVES[name]
    for _ in range(2):
        with pytest.raises(NcbiFailed):
            ask(cached, name, pmids)
    ncbi.control.clear_faults()
    assert ask(cached, name, pmids) == ask(cached, name, pmids, cached.live.pubmed)


@pytest.mark.parametrize("name", ["esummary", "efetch"])
def test_only_what_is_not_cached_is_asked_for(cached, ncbi, pmids, name):
    ask(cached, name, pmids[1:3])
    cached.clock.now += 7
    ncbi.control.clear_requests()
    with counting() as lookups:
        whole = ask(cached, name, pmids)
    assert whole == ask(cached, name, pmids, cached.live.pubmed)
    assert ncbi.control.requests()[0]["params"]["id"] == ",".join([pmids[0], *pmids[3:]])
    assert lookups.summary["cache"] == {"status": "mixed", "hits": 2, "misses": 3, "age_s": 7}


def test_a_call_is_announced_hits_and_misses(cached, pmids):
    with counting() as lookups:
        ask(cached, "esummary", pmids)
    assert lookups.summary["cache"] == {"status": "miss", "hits": 0, "misses": 5}
    cached.clock.now += 42.9
    with counting() as lookups:
        ask(cached, "esummary", pmids)
        ask(cached, "einfo", pmids)
        ask(cached, "einfo", pmids)
    assert lookups.summary["cache"] == {"status": "mixed", "hits": 6, "misses": 1, "age_s": 42}
    with counting() as lookups:
        cached.pubmed.contact()
        cached.pubmed.check(deadline=cached.deadline)
    assert lookups.summary == {}


def test_a_call_that_failed_is_announced_its_misses(cached, ncbi, pmids):
    ncbi.control.fault(status=500, times=50)
    with counting() as lookups, pytest.raises(NcbiFailed):
        ask(cached, "esummary", pmids)
    assert lookups.summary["cache"] == {"status": "miss", "hits": 0, "misses": 5}


def test_what_an_answer_depends_on_is_in_its_key(cached, ncbi, pmids):
    def search(term="cancer", **more):
        return cached.pubmed.esearch(term, deadline=cached.deadline, **{"retmax": 5, **more})

    search()
    for different in ({"retmax": 6}, {"sort": "pub_date"}, {"history": True}, {"term": "(cancer)"}):
        asked = len(ncbi.control.requests())
        search(**different)
        search(**different)
        assert len(ncbi.control.requests()) == asked + 1
    asked = len(ncbi.control.requests())
    cached.day += timedelta(days=1)
    search()
    assert len(ncbi.control.requests()) == asked + 1
    for more in ({}, {"command": "neighbor_score"}, {"link_name": "pubmed_pubmed_citedin"}):
        cached.pubmed.elink(pmids[:1], deadline=cached.deadline, **more)
    assert len(ncbi.control.requests("elink")) == 3


def test_what_is_not_there_is_asked_for_each_time(cached, ncbi, pmids):
    def gone():
        assert cached.pubmed.esearch("zzznothing[uid]", deadline=cached.deadline, retmax=5).ids == ()
        assert set(cached.pubmed.esummary([ABSENT], deadline=cached.deadline).missing) == {ABSENT}
        assert list(cached.pubmed.efetch([ABSENT], deadline=cached.deadline)) == []
        assert pmids[0] in cached.pubmed.efetch_text([pmids[0], ABSENT], style="xml", deadline=cached.deadline)

    gone()
    asked = len(ncbi.control.requests())
    gone()
    assert len(ncbi.control.requests()) == 2 * asked


def test_a_paper_that_comes_to_pubmed_is_seen_at_once(cached, ncbi, pmids):
    assert list(cached.pubmed.efetch([ABSENT], deadline=cached.deadline)) == []
    xml = ncbi.control.record(int(pmids[0]))
    ncbi.control.put(f"<PubmedArticleSet>{xml.replace(pmids[0], ABSENT)}</PubmedArticleSet>")
    assert [each.pmid for each in cached.pubmed.efetch([ABSENT], deadline=cached.deadline)] == [ABSENT]


def test_summaries_of_a_cached_search_take_no_request_where_all_are_cached(cached, ncbi):
    page = cached.pubmed.esearch("cancer", deadline=cached.deadline, retmax=5, history=True)
    first = cached.pubmed.summaries_of(page, 3, deadline=cached.deadline)
    asked = len(ncbi.control.requests())
    assert cached.pubmed.summaries_of(page, 3, deadline=cached.deadline) == first
    assert cached.pubmed.esummary(page.ids[:2], deadline=cached.deadline).found == first.found[:2]
    assert len(ncbi.control.requests()) == asked
    with counting() as lookups:
        more = cached.pubmed.summaries_of(page, 5, deadline=cached.deadline)
    assert [each.pmid for each in more.found] == list(page.ids)
    assert lookups.summary["cache"]["misses"] == 5
    assert len(ncbi.control.requests()) == asked + 1


def test_a_cached_search_that_ncbi_has_forgotten_is_summed_up_by_pmid(cached, ncbi):
    cached.pubmed.esearch("cancer", deadline=cached.deadline, retmax=3, history=True)
    ncbi.control.expire_history()
    page = cached.pubmed.esearch("cancer", deadline=cached.deadline, retmax=3, history=True)
    found = cached.pubmed.summaries_of(page, 3, deadline=cached.deadline).found
    assert [each.pmid for each in found] == list(page.ids)


@pytest.mark.parametrize("name", ["efetch", "esummary"])
def test_a_retraction_is_seen_as_soon_as_the_lifetime_is_over(cached, ncbi, name):
    def standing():
        if name == "efetch":
            return next(cached.pubmed.efetch([pmid], deadline=cached.deadline)).retraction
        return cached.pubmed.esummary([pmid], deadline=cached.deadline).found[0].retraction

    pmid = plain_papers(ncbi, 1)[0]
    before = standing()
    assert before is not RetractionStatus.RETRACTED
    retract(ncbi, pmid)
    cached.clock.now += LIFETIMES.record_s - 1
    assert standing() is before
    cached.clock.now += 1
    assert standing() is RetractionStatus.RETRACTED


FORMS = {"efetch": 1, "esummary": 1, "xml": 2, "medline": 2}  # and how many of two papers are asked for with one


@pytest.mark.parametrize(
    ("first", "second"), [(form, reported) for form in FORMS for reported in ("efetch", "esummary") if form != reported]
)
def test_a_retraction_seen_in_one_form_is_not_denied_in_another(cached, ncbi, pmids, first, second):
    both = [plain_papers(ncbi, 1)[0], pmids[1]]
    ask(cached, first, both)
    retract(ncbi, both[0])
    ask(cached, second, both)
    ncbi.control.clear_requests()
    assert ask(cached, first, both) == ask(cached, first, both, cached.live.pubmed)
    assert ncbi.control.requests()[0]["params"]["id"].split(",") == both[: FORMS[first]]
    ask(cached, first, both)
    assert len(ncbi.control.requests()) == 2


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kind", [each for each in ChangeKind if each is not ChangeKind.NEW])
def test_news_of_a_paper_ends_what_is_cached_of_it_before_it_is_announced(cached, ncbi, pmids, form, kind):
    class Listener:
        def publish(self, news):
            self.heard = news, ask(cached, form, pmids[:2], cached.again())

    ask(cached, form, pmids[:2])
    retract(ncbi, pmids[0])
    news, listener = [CorpusChange(kind, pmids[0], 2)], Listener()
    InvalidatingAnnouncements(listener, lambda: cached.pubmed).publish(news)
    assert listener.heard == (news, ask(cached, form, pmids[:2], cached.live.pubmed))


def test_news_of_new_papers_alone_needs_nothing_cached():
    news, heard = [CorpusChange(ChangeKind.NEW, "7", 1)], []
    InvalidatingAnnouncements(
        SimpleNamespace(publish=heard.append), lambda: pytest.fail("asked for the cache")
    ).publish(news)
    assert heard == [news]


def test_fifty_who_want_the_same_at_once_ask_once(cached, ncbi, pmids):
    def want(pubmed):
        ready.wait()
        return [ask(cached, name, pmids, pubmed) for name in LIVES]

    ready = Barrier(50)
    with ThreadPoolExecutor(50) as threads:
        answers = list(threads.map(want, [cached.pubmed] * 50))
    asked = len(ncbi.control.requests())
    alone = [ask(cached, name, pmids, cached.live.pubmed) for name in LIVES]
    assert answers == [alone] * 50
    assert len(ncbi.control.requests()) == 2 * asked


def test_what_was_cached_damaged_is_asked_for_again(cached, ncbi, pmids):
    whole = {name: ask(cached, name, pmids) for name in LIVES}
    for damage in (b"", b"\1\0\0", zlib.compress(b"{}"), b"\1" + zlib.compress(b"[]")):
        with cached.cache.transaction("BEGIN IMMEDIATE") as connection:
            connection.execute("UPDATE answers SET value = ? WHERE key NOT LIKE '%.text.%'", (damage,))
            connection.execute("UPDATE answers SET value = substr(value, 1, 40) WHERE key LIKE '%.text.%'")
        assert {name: ask(cached, name, pmids) for name in LIVES} == whole


def test_a_key_tells_nobody_what_was_asked(cached, pmids):
    cached.pubmed.esearch("a private question about cancer", deadline=cached.deadline, retmax=5)
    ask(cached, "efetch", pmids)
    with cached.cache.transaction("BEGIN") as connection:
        keys = [key for (key,) in connection.execute("SELECT key FROM answers")]
    assert keys
    assert all(re.fullmatch(rf"{SCHEME}\.[a-z]+\.[0-9a-f]{{64}}", key) for key in keys)


@pytest.mark.parametrize("name", LIVES)
def test_a_cache_that_fails_is_an_empty_one(ncbi, tmp_path, pmids, name):
    with cached_at(ncbi.base_url, tmp_path, cache=Broken()) as cached:
        assert ask(cached, name, pmids) == ask(cached, name, pmids, cached.live.pubmed)
        assert cached.cache.asked == 1


def test_what_is_no_pmid_is_refused_before_anybody_is_asked(cached, ncbi):
    for refused in (cached.pubmed.esummary, cached.pubmed.efetch, cached.pubmed.elink):
        with pytest.raises(InvalidInput, match="is not a PMID"):
            refused(["x"], deadline=cached.deadline)
    with pytest.raises(InvalidInput, match="too many"):
        cached.pubmed.efetch([str(number) for number in range(1, 202)], deadline=cached.deadline)
    assert ncbi.control.requests() == []

"""PubMed behind a cache, over the local NCBI: what is asked again, and what never."""

import re
import zlib
from dataclasses import replace
from datetime import timedelta
from threading import Barrier, Thread

import pytest

from bio_mcp.adapters.caching.codecs import SCHEME
from bio_mcp.adapters.caching.invalidation import InvalidatingAnnouncements
from bio_mcp.cache_use import counting
from bio_mcp.errors import InvalidInput, NcbiFailed
from bio_mcp.literature.changes import ChangeKind, CorpusChange
from bio_mcp.literature.records import RetractionStatus
from tests.adapters.caching.keeping import LIFETIMES, Broken, kept_at

ABSENT = "99999999"


@pytest.fixture
def kept(ncbi, tmp_path):
    with kept_at(ncbi.base_url, tmp_path) as kept:
        yield kept


@pytest.fixture
def pmids(ncbi):
    return [str(pmid) for pmid in ncbi.control.pmids()[:5]]


def ask(kept, name, pmids, pubmed=None):
    """One request of each kind, as something that can be compared."""
    pubmed, deadline = pubmed or kept.pubmed, kept.deadline
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
def test_the_same_is_asked_once_until_its_lifetime_is_over(kept, ncbi, pmids, name):
    first = ask(kept, name, pmids)
    asked = len(ncbi.control.requests())
    kept.clock.now += LIVES[name] - 1
    assert ask(kept, name, pmids) == first == ask(kept, name, pmids, kept.again())
    assert len(ncbi.control.requests()) == asked
    kept.clock.now += 1
    assert ask(kept, name, pmids) == first
    assert len(ncbi.control.requests()) == 2 * asked


@pytest.mark.parametrize("name", LIVES)
def test_a_kind_that_lives_for_no_time_is_always_asked(kept, ncbi, pmids, name):
    never = kept.again(replace(LIFETIMES, record_s=0, search_s=0, link_s=0, info_s=0))
    ask(kept, name, pmids, never)
    asked = len(ncbi.control.requests())
    ask(kept, name, pmids, never)
    assert len(ncbi.control.requests()) == 2 * asked


@pytest.mark.parametrize("name", LIVES)
def test_a_failure_is_never_kept_and_never_hidden(kept, ncbi, pmids, name):
    ncbi.control.fault(status=500, times=50)
    for _ in range(2):
        with pytest.raises(NcbiFailed):
            ask(kept, name, pmids)
    ncbi.control.clear_faults()
    assert ask(kept, name, pmids) == ask(kept, name, pmids, kept.live.pubmed)


@pytest.mark.parametrize("name", LIVES)
def test_what_was_kept_is_there_during_an_outage_and_its_end_is_an_error(kept, ncbi, pmids, name):
    first = ask(kept, name, pmids)
    ncbi.control.fault(status=500, times=50)
    assert ask(kept, name, pmids) == first
    kept.clock.now += LIVES[name]
    with pytest.raises(NcbiFailed):
        ask(kept, name, pmids)


@pytest.mark.parametrize("name", ["esummary", "efetch"])
def test_only_what_is_not_kept_is_asked_for(kept, ncbi, pmids, name):
    ask(kept, name, pmids[1:3])
    kept.clock.now += 7
    ncbi.control.clear_requests()
    with counting() as lookups:
        whole = ask(kept, name, pmids)
    assert whole == ask(kept, name, pmids, kept.live.pubmed)
    assert ncbi.control.requests()[0]["params"]["id"] == ",".join([pmids[0], *pmids[3:]])
    assert lookups.summary == {"status": "mixed", "hits": 2, "misses": 3, "age_s": 7}


def test_a_call_is_told_of_hits_and_misses(kept, pmids):
    with counting() as lookups:
        ask(kept, "esummary", pmids)
    assert lookups.summary == {"status": "miss", "hits": 0, "misses": 5}
    kept.clock.now += 42.9
    with counting() as lookups:
        ask(kept, "esummary", pmids)
        ask(kept, "einfo", pmids)
        ask(kept, "einfo", pmids)
    assert lookups.summary == {"status": "mixed", "hits": 6, "misses": 1, "age_s": 42}
    with counting() as lookups:
        kept.pubmed.contact()
        kept.pubmed.check(deadline=kept.deadline)
    assert lookups.summary is None


def test_a_call_that_failed_is_told_of_its_misses(kept, ncbi, pmids):
    ncbi.control.fault(status=500, times=50)
    with counting() as lookups, pytest.raises(NcbiFailed):
        ask(kept, "esummary", pmids)
    assert lookups.summary == {"status": "miss", "hits": 0, "misses": 5}


def test_what_a_search_depends_on_is_in_its_key(kept, ncbi):
    def search(term="cancer", **more):
        return kept.pubmed.esearch(term, deadline=kept.deadline, **{"retmax": 5, **more})

    search()
    for different in ({"retmax": 6}, {"sort": "pub_date"}, {"history": True}, {"term": "(cancer)"}):
        asked = len(ncbi.control.requests())
        search(**different)
        search(**different)
        assert len(ncbi.control.requests()) == asked + 1
    asked = len(ncbi.control.requests())
    kept.day += timedelta(days=1)
    search()
    assert len(ncbi.control.requests()) == asked + 1


def test_links_of_another_kind_are_other_links(kept, ncbi, pmids):
    for more in ({}, {"command": "neighbor_score"}, {"link_name": "pubmed_pubmed_citedin"}):
        kept.pubmed.elink(pmids[:1], deadline=kept.deadline, **more)
    assert len(ncbi.control.requests("elink")) == 3


def test_another_source_shares_nothing(kept, ncbi, pmids):
    ask(kept, "efetch", pmids)
    asked = len(ncbi.control.requests())
    ask(kept, "efetch", pmids, kept.again(source="http://mirror/"))
    assert len(ncbi.control.requests()) == 2 * asked


def test_what_is_not_there_is_asked_for_each_time(kept, ncbi, pmids):
    def gone():
        assert kept.pubmed.esearch("zzznothing[uid]", deadline=kept.deadline, retmax=5).ids == ()
        assert set(kept.pubmed.esummary([ABSENT], deadline=kept.deadline).missing) == {ABSENT}
        assert list(kept.pubmed.efetch([ABSENT], deadline=kept.deadline)) == []
        assert pmids[0] in kept.pubmed.efetch_text([pmids[0], ABSENT], style="xml", deadline=kept.deadline)

    gone()
    asked = len(ncbi.control.requests())
    gone()
    assert len(ncbi.control.requests()) == 2 * asked


def test_a_paper_that_comes_to_pubmed_is_seen_at_once(kept, ncbi, pmids):
    assert list(kept.pubmed.efetch([ABSENT], deadline=kept.deadline)) == []
    xml = ncbi.control.record(int(pmids[0]))
    ncbi.control.put(f"<PubmedArticleSet>{xml.replace(pmids[0], ABSENT)}</PubmedArticleSet>")
    assert [each.pmid for each in kept.pubmed.efetch([ABSENT], deadline=kept.deadline)] == [ABSENT]


def test_summaries_of_a_kept_search_take_no_request_where_all_are_kept(kept, ncbi):
    page = kept.pubmed.esearch("cancer", deadline=kept.deadline, retmax=5, history=True)
    first = kept.pubmed.summaries_of(page, 3, deadline=kept.deadline)
    asked = len(ncbi.control.requests())
    assert kept.pubmed.summaries_of(page, 3, deadline=kept.deadline) == first
    assert kept.pubmed.esummary(page.ids[:2], deadline=kept.deadline).found == first.found[:2]
    assert len(ncbi.control.requests()) == asked
    with counting() as lookups:
        more = kept.pubmed.summaries_of(page, 5, deadline=kept.deadline)
    assert [each.pmid for each in more.found] == list(page.ids)
    assert lookups.summary["misses"] == 5
    assert len(ncbi.control.requests()) == asked + 1


def test_a_kept_search_that_ncbi_has_forgotten_is_summed_up_by_pmid(kept, ncbi):
    kept.pubmed.esearch("cancer", deadline=kept.deadline, retmax=3, history=True)
    ncbi.control.expire_history()
    page = kept.pubmed.esearch("cancer", deadline=kept.deadline, retmax=3, history=True)
    found = kept.pubmed.summaries_of(page, 3, deadline=kept.deadline).found
    assert [each.pmid for each in found] == list(page.ids)


@pytest.mark.parametrize("name", ["efetch", "esummary"])
def test_a_retraction_is_seen_as_soon_as_the_lifetime_is_over(kept, ncbi, name):
    def standing():
        if name == "efetch":
            return next(kept.pubmed.efetch([pmid], deadline=kept.deadline)).retraction
        return kept.pubmed.esummary([pmid], deadline=kept.deadline).found[0].retraction

    pmid = next(str(each) for each in ncbi.control.pmids() if is_plain(ncbi, each))
    before = standing()
    assert before is not RetractionStatus.RETRACTED
    retract(ncbi, pmid)
    kept.clock.now += LIFETIMES.record_s - 1
    assert standing() is before
    kept.clock.now += 1
    assert standing() is RetractionStatus.RETRACTED


FORMS = {"efetch": 1, "esummary": 1, "xml": 2, "medline": 2}  # and how many of two papers are asked for with one


@pytest.mark.parametrize(
    ("first", "second"), [(form, told) for form in FORMS for told in ("efetch", "esummary") if form != told]
)
def test_a_retraction_seen_in_one_form_is_not_denied_in_another(kept, ncbi, pmids, first, second):
    both = [next(str(each) for each in ncbi.control.pmids() if is_plain(ncbi, each)), pmids[1]]
    ask(kept, first, both)
    retract(ncbi, both[0])
    ask(kept, second, both)
    ncbi.control.clear_requests()
    assert ask(kept, first, both) == ask(kept, first, both, kept.live.pubmed)
    assert ncbi.control.requests()[0]["params"]["id"].split(",") == both[: FORMS[first]]
    ask(kept, first, both)
    assert len(ncbi.control.requests()) == 2


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kind", [each for each in ChangeKind if each is not ChangeKind.NEW])
def test_news_of_a_paper_ends_what_is_kept_of_it_before_it_is_told(kept, ncbi, pmids, form, kind):
    class Listener:
        def publish(self, news):
            self.heard = news, ask(kept, form, pmids[:2], kept.again())

    ask(kept, form, pmids[:2])
    retract(ncbi, pmids[0])
    news, listener = [CorpusChange(kind, pmids[0], 2)], Listener()
    InvalidatingAnnouncements(listener, lambda: kept.pubmed).publish(news)
    assert listener.heard == (news, ask(kept, form, pmids[:2], kept.live.pubmed))


def test_news_of_new_papers_alone_needs_nothing_kept(ncbi):
    class Listener:
        def publish(self, news):
            self.heard = news

    def nothing():
        raise AssertionError("asked for what is kept")

    news, listener = [CorpusChange(ChangeKind.NEW, "7", 1)], Listener()
    InvalidatingAnnouncements(listener, nothing).publish(news)
    assert listener.heard == news


def is_plain(ncbi, pmid):
    xml = ncbi.control.record(pmid)
    return xml.count("<PublicationTypeList>") == 1 and not re.search("Retract|Erratum|Concern", xml)


def retract(ncbi, pmid):
    notice = '<PublicationTypeList><PublicationType UI="D016441">Retracted Publication</PublicationType>'
    ncbi.control.revise(pmid=int(pmid), day="2025/08/17", replace={"<PublicationTypeList>": notice})


def test_fifty_who_want_the_same_at_once_ask_once(kept, ncbi, pmids):
    def want(number):
        pubmed = kept.pubmed
        ready.wait()
        answers[number] = [ask(kept, name, pmids, pubmed) for name in LIVES]

    ready, answers = Barrier(50), {}
    threads = [Thread(target=want, args=(number,)) for number in range(50)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    asked = len(ncbi.control.requests())
    alone = [ask(kept, name, pmids, kept.live.pubmed) for name in LIVES]
    assert all(answers[number] == alone for number in range(50))
    assert len(ncbi.control.requests()) == 2 * asked


def test_what_was_kept_damaged_is_asked_for_again(kept, ncbi, pmids):
    whole = {name: ask(kept, name, pmids) for name in LIVES}
    for damage in (
        b"",
        b"\0",
        b"\1\0\0",
        zlib.compress(b"{}"),
        zlib.compress(b"[[], 1]"),
        b"\1" + zlib.compress(b"[]"),
    ):
        with kept.cache._transaction("BEGIN IMMEDIATE") as connection:
            connection.execute("UPDATE answers SET value = ? WHERE key NOT LIKE '%.text.%'", (damage,))
            connection.execute("UPDATE answers SET value = substr(value, 1, 40) WHERE key LIKE '%.text.%'")
        assert {name: ask(kept, name, pmids) for name in LIVES} == whole


def test_one_record_in_the_place_of_another_is_not_taken_for_it(kept, ncbi, pmids):
    whole = {name: ask(kept, name, pmids[:1]) for name in ("efetch", "esummary", "elink")}
    ask(kept, "efetch", pmids[1:2]), ask(kept, "esummary", pmids[1:2]), ask(kept, "elink", pmids[1:2])
    with kept.cache._transaction("BEGIN IMMEDIATE") as connection:
        for kind in ("record", "summary", "links"):
            rows = connection.execute("SELECT key, value FROM answers WHERE key LIKE ?", (f"%.{kind}.%",)).fetchall()
            (one, first), (other, second) = rows
            connection.executemany("UPDATE answers SET value = ? WHERE key = ?", [(second, one), (first, other)])
    assert {name: ask(kept, name, pmids[:1]) for name in whole} == whole


def test_a_key_tells_nobody_what_was_asked(kept, pmids):
    kept.pubmed.esearch("a private question about cancer", deadline=kept.deadline, retmax=5)
    ask(kept, "efetch", pmids)
    with kept.cache._transaction("BEGIN") as connection:
        keys = [key for (key,) in connection.execute("SELECT key FROM answers")]
    assert keys
    assert all(re.fullmatch(rf"{SCHEME}\.[a-z]+\.[0-9a-f]{{64}}", key) for key in keys)


@pytest.mark.parametrize("name", LIVES)
def test_a_cache_that_fails_is_an_empty_one(ncbi, tmp_path, pmids, name):
    with kept_at(ncbi.base_url, tmp_path, cache=Broken()) as kept:
        assert ask(kept, name, pmids) == ask(kept, name, pmids, kept.live.pubmed)
        assert kept.cache.asked == 1


def test_a_cache_that_fails_does_not_hide_that_ncbi_fails(ncbi, tmp_path, pmids):
    ncbi.control.fault(status=500, times=50)
    with kept_at(ncbi.base_url, tmp_path, cache=Broken()) as kept, pytest.raises(NcbiFailed):
        ask(kept, "esummary", pmids)


def test_what_is_no_pmid_is_refused_before_anybody_is_asked(kept, ncbi):
    for refused in (kept.pubmed.esummary, kept.pubmed.efetch, kept.pubmed.elink):
        with pytest.raises(InvalidInput, match="is not a PMID"):
            refused(["x"], deadline=kept.deadline)
    with pytest.raises(InvalidInput, match="too many"):
        kept.pubmed.efetch([str(number) for number in range(1, 202)], deadline=kept.deadline)
    assert ncbi.control.requests() == []

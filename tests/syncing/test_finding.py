"""What a query has found, and what became of it: noted by syncs of real records, also where they are stopped."""

from datetime import UTC, date, datetime

import pytest

from bio_mcp.deadline import NEVER
from bio_mcp.errors import Failure, StoreFailed
from bio_mcp.literature.records import ChangeKind, Deletion
from bio_mcp.syncing.applying import apply_records
from bio_mcp.syncing.delta import sync_delta
from bio_mcp.syncing.queries import remove
from tests.support.corpus import Corpus, Over
from tests.support.hooked import Hooked, at, beyond, raising

EVERYTHING = "all[sb]"
FEW = 20
NEW, CHANGED, DELETED = ChangeKind.NEW, ChangeKind.CHANGED, ChangeKind.DELETED
TODAY = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture
def corpus(tmp_path, ncbi):
    ncbi.control.set_today("2026/01/01")
    ncbi.control.withdraw(ncbi.control.pmids()[FEW:])
    with Corpus(tmp_path, ncbi.base_url, date(2026, 1, 1)) as made:
        yield made


def run(corpus, key="k", term=EVERYTHING, **more):
    return sync_delta(key, term, 5, corpus, NEVER, lambda *_: None, **more)


def everything(ncbi):
    return sorted((str(pmid) for pmid in ncbi.control.pmids()), key=int)


def entries(corpus, key="k"):
    return corpus.news.since(key, "", 1_000)


def told(corpus, pmid, key="k"):
    return [(each.kind, each.version) for each in entries(corpus, key) if each.pmid == pmid]


def added(ncbi):
    """The PMID of a record that PubMed has from now on."""
    [pmid] = ncbi.control.clone(1, "2026/01/01")
    return str(pmid)


def test_a_first_sync_notes_every_paper_as_news_of_the_day_on_which_it_came_to_pubmed(corpus, ncbi):
    run(corpus)
    assert list(corpus.news.pmids("k")) == everything(ncbi)
    assert corpus.news.is_whole("k")
    for entry in entries(corpus):
        came = corpus.documents.get(entry.pmid).article.edat
        assert (entry.kind, entry.version, entry.at < TODAY) == (NEW, 1, True)
        assert abs(entry.at.date() - date.fromisoformat(came[:10])).days <= 1
    assert len(entries(corpus)) == FEW


def test_what_comes_later_is_news_of_now(corpus, ncbi):
    run(corpus)
    before, pmid = corpus.now(), added(ncbi)
    run(corpus)
    assert entries(corpus)[-1].pmid == pmid
    assert entries(corpus)[-1].at >= before
    assert told(corpus, pmid) == [(NEW, 1)]


def test_what_another_query_brought_before_is_news_of_now_too(corpus, ncbi):
    run(corpus)
    before, pmid = corpus.now(), added(ncbi)
    run(corpus, "other", f"{pmid}[uid]")
    assert told(corpus, pmid) == []
    run(corpus)
    assert (entries(corpus)[-1].pmid, entries(corpus)[-1].at >= before) == (pmid, True)


def test_a_paper_that_changes_is_reported_whoever_notices_it(corpus, ncbi):
    run(corpus)
    first, second = everything(ncbi)[:2]
    for pmid in (first, second):
        ncbi.control.revise(int(pmid), "2026/01/01")
    run(corpus, "other", f"{first}[uid]")
    assert (told(corpus, first), told(corpus, second)) == ([(NEW, 1), (CHANGED, 2)], [(NEW, 1)])
    run(corpus)
    assert (told(corpus, first), told(corpus, second)) == ([(NEW, 1), (CHANGED, 2)], [(NEW, 1), (CHANGED, 2)])


def test_a_paper_that_goes_is_reported_and_is_of_the_query_no_more(corpus, ncbi):
    run(corpus)
    gone, *rest = everything(ncbi)
    apply_records([Deletion(gone)], corpus)
    assert told(corpus, gone) == [(NEW, 1), (DELETED, 1)]
    assert list(corpus.news.pmids("k")) == rest


def test_a_sync_of_known_papers_alone_finds_nothing(corpus, ncbi):
    run(corpus)
    run(corpus, "known", known_only=True)
    assert (list(corpus.news.pmids("known")), corpus.news.is_whole("known")) == ([], False)


def test_what_an_earlier_version_synced_is_not_whole_and_what_it_had_is_no_news(corpus, ncbi):
    run(corpus)
    corpus.news.forget("k")
    known = everything(ncbi)[0]
    ncbi.control.revise(int(known), "2026/01/01")
    before, pmid = corpus.now(), added(ncbi)
    run(corpus)
    assert not corpus.news.is_whole("k")
    by_pmid = {each.pmid: each for each in entries(corpus)}
    assert (by_pmid[pmid].at >= before, by_pmid[known].at < TODAY) == (True, True)


def test_a_query_that_is_removed_and_synced_again_is_whole(corpus, ncbi):
    run(corpus)
    remove("k", corpus)
    assert (entries(corpus), corpus.news.is_whole("k")) == ([], False)
    run(corpus)
    assert (list(corpus.news.pmids("k")), corpus.news.is_whole("k")) == (everything(ncbi), True)


def test_a_second_term_of_a_key_that_is_not_whole_does_not_make_it_whole(corpus, ncbi):
    run(corpus)
    corpus.news.forget("k")
    run(corpus, term=f"{everything(ncbi)[0]}[uid]")
    assert not corpus.news.is_whole("k")


@pytest.mark.parametrize("name", ["news", "documents", "passages", "heard"])
def test_a_sync_that_fails_anywhere_notes_all_of_it_once_when_it_goes_on(corpus, ncbi, name):
    run(corpus)
    known, pmid = everything(ncbi)[0], added(ncbi)
    ncbi.control.revise(int(known), "2026/01/01")
    port = {"heard": "announcements"}.get(name, name)
    for times in range(20):
        try:
            fail = at(beyond(times), raising(StoreFailed, "the disk is full"))
            run(Over(corpus, **{port: Hooked(getattr(corpus, port), before=fail)}))
        except Failure:
            continue
        break
    run(corpus)
    assert (told(corpus, known), told(corpus, pmid)) == ([(NEW, 1), (CHANGED, 2)], [(NEW, 1)])
    assert list(corpus.news.pmids("k")) == everything(ncbi)

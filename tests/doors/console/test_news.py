"""The page of news."""

from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from bio_mcp.errors import StoreFailed
from bio_mcp.literature.records import Correction, Deletion, RetractionStatus
from bio_mcp.ports.state import Found
from bio_mcp.syncing.applying import apply_records
from tests.doors.console.pages import Page, browser
from tests.doors.console.test_corpora import Broken
from tests.support.corpus import Corpus
from tests.support.memory_corpus import article

HOSTILE = "<script>alert(1)</script>"


@contextmanager
def corpus_in(home):
    with Corpus(home) as made:
        old, going = article("1", title="Old."), article("2", title="Going.")
        apply_records([old, going], made)
        for key in ("topic", HOSTILE):
            made.checkpoints.advance(key, "t", None, {"edat": "2025-12-31"})
            made.news.set_whole(key)
        made.news.find("topic", [Found("1", 1, datetime(2020, 1, 1, tzinfo=UTC)), Found("2", 1)])
        notice = Correction("RetractionIn", "J Test. 2026;1:1", "99")
        retracted = replace(old, title=f"{HOSTILE} Old.", retraction=RetractionStatus.RETRACTED, corrections=(notice,))
        apply_records([retracted, Deletion("2")], made)
        yield made


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    with corpus_in(tmp_path_factory.mktemp("news")) as made:
        yield made


@pytest.fixture(scope="module")
def look(corpus):
    client = browser(corpus)
    return lambda path: Page(client.get(path))


def test_the_news_of_a_query_are_shown_the_newest_first_with_what_differs(look):
    page = look("/news?query_key=topic")
    titles = [" ".join(each.split()) for each in page.texts("h2")]
    assert titles == [
        "PMID 2 deleted", f"{HOSTILE} Old. retracted", f"{HOSTILE} Old. changed", "PMID 2 new", f"{HOSTILE} Old. new",
    ]  # fmt: skip
    assert "Retraction in: J Test. 2026;1:1" in page.texts("p")
    assert HOSTILE in "".join(page.texts("ins"))


def test_the_followed_queries_are_offered(look):
    page = look("/news")
    assert sorted(page.texts("option")) == sorted([HOSTILE, "topic"])
    assert page.texts("h2") == []


def test_a_query_without_news_and_one_that_nobody_follows_say_so(look):
    assert "Nothing is new." in look(f"/news?query_key={HOSTILE}").texts("p")
    assert look("/news?query_key=other").status == 404


def test_a_store_that_fails_is_no_page_without_news(corpus):
    page = Page(browser(Broken(corpus, "news", StoreFailed("The news are away."))).get("/news?query_key=topic"))
    assert (page.status, "The news are away." in page.source) == (503, True)

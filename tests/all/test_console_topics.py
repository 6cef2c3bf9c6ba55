"""The page Topics in a real browser: a topic is followed, synced and read, by keyboard alone and without scripts."""

from contextlib import contextmanager
from datetime import UTC, date, datetime, timedelta

import pytest

from bio_mcp.catalog import TOOLS
from bio_mcp.doors.queue_worker import work_once, worker
from bio_mcp.ports.state import Found
from bio_mcp.syncing.applying import apply_records
from tests.all.browsing import LOOKS, looked_at, opened, overflow, violations
from tests.doors.console.busy import sync_of
from tests.doors.console.pages import browser
from tests.doors.console.revised import VERSIONS
from tests.doors.serving import running
from tests.support.corpus import Corpus
from tests.support.retracting import plain_papers, retract, term
from tests.support.sample_corpus import articles

DAY = date(2026, 1, 1)
IDLE_S = 0.05


@pytest.fixture
def corpus(tmp_path, ncbi):
    ncbi.control.set_today("2026/01/01")
    with Corpus(tmp_path, ncbi.base_url, DAY) as made:
        yield made


@contextmanager
def served(corpus):
    with running(browser(corpus).app) as url:
        yield url


def pressed(page, name):
    """Go to a button or link by the Tab key alone, and press Enter."""
    for _ in range(60):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.textContent.trim()") == name:
            page.keyboard.press("Enter")
            return
    raise AssertionError(f"the Tab key does not come to {name!r}")


def clicked(page, name):
    page.get_by_role("button", name=name, exact=True).or_(page.get_by_role("link", name=name, exact=True)).click()


def seen(page, wanted):
    """Wait for something, and without scripts look again by the link that is there for it."""
    for _ in range(200):
        again = page.get_by_role("link", name="See how far it is now")
        if wanted.is_visible():
            return
        if again.count():
            again.click()
        page.wait_for_timeout(100)
    raise AssertionError("it does not come")


@pytest.mark.parametrize(
    ("press", "scripts"), [(clicked, True), (pressed, True), (clicked, False)], ids=["mouse", "keyboard", "no scripts"]
)
def test_a_topic_is_followed_synced_and_read(chromium, corpus, ncbi, press, scripts):
    pmids = plain_papers(ncbi, 12)
    with served(corpus) as url, opened(chromium, url, scripts=scripts) as (page, complaints):
        page.goto("/")
        press(page, "Topics")
        page.get_by_text("No topic is followed yet").wait_for()
        page.get_by_label("Term").fill(term(pmids))
        page.get_by_label("Term").press("Enter")
        page.get_by_text("12 papers in PubMed").wait_for()
        page.get_by_label("Name").fill("Plain papers")
        press(page, "Follow")
        page.get_by_role("heading", name="Plain papers").wait_for()
        assert page.locator("progress").or_(page.get_by_text("0 papers read")).first.is_visible()
        looked_at(page, f"topics-begun-{scripts}")
        while work_once(corpus.continuations, TOOLS, corpus):
            pass
        seen(page, page.get_by_text("12 new"))
        assert page.locator(".cards h4").count() == 12
        press(page, "Mark as read")
        page.get_by_text("Nothing is unread").wait_for()

        retract(ncbi, pmids[5])
        with worker(corpus.continuations, TOOLS, corpus, idle_s=IDLE_S):
            press(page, "Sync now")
            seen(page, page.get_by_role("heading", name="Retracted").first)
        assert page.locator(".cards h4").count() == 1
        looked_at(page, f"topics-retracted-{scripts}")
        if scripts:
            assert violations(page) == []
            with page.expect_download() as download:
                clicked(page, "E-mail digest")
            assert "Plain papers: 1 unread, 1 retracted" in download.value.path().read_text()
        press(page, "Mark as read")
        page.get_by_text("Nothing is unread").wait_for()
        assert complaints == []


def test_the_end_of_a_sync_is_said_and_what_is_being_typed_stays(chromium, corpus, ncbi):
    pmids = plain_papers(ncbi, 3)
    with served(corpus) as url, opened(chromium, url) as (page, complaints):
        page.goto("/topics")
        page.get_by_label("Term").fill(term(pmids))
        clicked(page, "Follow")
        clicked(page, "Follow")
        page.locator("#topics").wait_for()
        page.get_by_label("Term").fill("another")
        with worker(corpus.continuations, TOOLS, corpus, idle_s=IDLE_S):
            page.get_by_role("status").get_by_text("every paper is here").wait_for(state="attached")
        assert page.get_by_label("Term").input_value() == "another"
        assert page.evaluate("document.activeElement.id") == "term"
        assert complaints == []


@pytest.fixture(scope="module")
def full(tmp_path_factory):
    """The address of a console with topics in every state, and news of every kind."""
    with Corpus(tmp_path_factory.mktemp("topics"), day=DAY) as made:
        for records in (articles(), *([each] for each in VERSIONS[:1])):
            apply_records(records, made)
        for key, state in (("Herbs for osteoarthritis", "succeeded"), ("newborns", "running"), ("asthma", "failed")):
            job = sync_of(made, key, state, 0.2, total=400, counts={"inserted": 90, "updated": 5, "skipped": 5})
            made.jobs.put(job)
            made.checkpoints.advance(key, job.request["term"], None, {"edat": "2025-12-31"})
            made.news.set_whole(key)
        first = datetime(2025, 12, 28, 8, tzinfo=UTC)
        found = [Found(each.pmid, 1, first + timedelta(hours=7 * at)) for at, each in enumerate(articles()[:14])]
        made.news.find("Herbs for osteoarthritis", [*found, Found(VERSIONS[0].pmid, 1, first)], first=True)
        for each in VERSIONS[1:]:
            apply_records([each], made)
        with running(browser(made).app) as url:
            yield url


ADDRESSES = {
    "unread": "/topics?topic=Herbs+for+osteoarthritis",
    "everything": "/topics?topic=Herbs+for+osteoarthritis&everything=1",
    "running": "/topics?topic=newborns",
    "incomplete": "/topics?topic=asthma",
}


@pytest.mark.parametrize(("theme", "width"), LOOKS)
@pytest.mark.parametrize("name", ADDRESSES)
def test_the_page_is_accessible_and_fits_the_screen(chromium, full, name, theme, width):
    with opened(chromium, full, theme, width) as (page, complaints):
        page.goto(ADDRESSES[name])
        page.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")
        looked_at(page, f"topics-{name}-{theme}-{width}")
        assert violations(page) == []
        assert overflow(page) <= 0
        assert complaints == []


@pytest.mark.parametrize(("theme", "width"), LOOKS)
def test_the_count_and_the_empty_page_are_accessible_and_fit_the_screen(chromium, corpus, ncbi, theme, width):
    pmids = plain_papers(ncbi, 12)
    with served(corpus) as url, opened(chromium, url, theme, width) as (page, complaints):
        page.goto("/topics")
        looked_at(page, f"topics-empty-{theme}-{width}")
        assert violations(page) == []
        page.get_by_label("Term").fill(f"{term(pmids)} OR zzzyx[tiab]")
        clicked(page, "Follow")
        page.get_by_text("PubMed does not know").wait_for()
        looked_at(page, f"topics-count-{theme}-{width}")
        assert violations(page) == []
        assert overflow(page) <= 0
        clicked(page, "Follow")
        page.get_by_role("alert").wait_for()
        looked_at(page, f"topics-asked-again-{theme}-{width}")
        assert violations(page) == []
        assert [each for each in complaints if "status of 400" not in each] == []

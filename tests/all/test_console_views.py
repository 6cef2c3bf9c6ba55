"""Corpora, syncs, projects and evaluations in a real browser: both themes, wide and narrow, moving, without scripts."""

import pytest

from bio_mcp.errors import StoreFailed
from bio_mcp.syncing.cursor import SyncCursor
from tests.all.browsing import THEMES, WIDTHS, looked_at, opened, overflow, violations
from tests.doors.console.busy import add_everything, quiet_corpus
from tests.doors.console.pages import browser
from tests.doors.serving import running
from tests.support.sample_corpus import Corpus
from tests.support.sample_project import PROJECT


@pytest.fixture(scope="module")
def busy():
    with quiet_corpus() as made:
        add_everything(made)
        yield made


@pytest.fixture(scope="module")
def base(busy):
    """The address of a console over a corpus in which much goes on."""
    with running(browser(busy).app) as url:
        yield url


@pytest.fixture(scope="module")
def addresses(busy):
    """The pages that are looked at, by a name for their pictures."""
    syncs = {each.request["query_key"]: each.job_id for each in busy.jobs.newest("sync", 9)}
    return {
        "corpora": "/corpora",
        "syncs": "/syncs",
        "sync": f"/syncs/{syncs['broken']}",
        "projects": "/projects",
        "project": f"/projects/{PROJECT}",
        "evaluation": "/evaluation",
    }


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", ["corpora", "syncs", "sync", "projects", "project", "evaluation"])
def test_a_page_is_accessible_and_fits_the_screen_with_all_that_it_can_unfold(
    chromium, base, addresses, name, theme, width
):
    with opened(chromium, base, theme, width) as (page, complaints):
        page.goto(addresses[name])
        looked_at(page, f"{name}-{theme}-{width}")
        page.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")
        looked_at(page, f"{name}-unfolded-{theme}-{width}")
        assert violations(page) == []
        assert overflow(page) <= 0
        assert complaints == []


@pytest.mark.parametrize("path", ["/corpora", "/syncs", "/projects", "/evaluation"])
def test_an_empty_page_is_accessible_and_says_what_to_do(chromium, tmp_path, path):
    made = Corpus(tmp_path, [])
    with running(browser(made).app) as url, opened(chromium, url, width=390) as (page, complaints):
        page.goto(path)
        looked_at(page, f"empty{path.replace('/', '-')}")
        assert "bio-mcp" in page.locator(".empty").first.inner_text()
        assert violations(page) == []
        assert overflow(page) <= 0
        assert complaints == []
    made.close()


def moved(backends, query_key, inserted, state="running"):
    """Let the newest sync of a query go on, as another process does."""
    job = backends.jobs.latest("sync", query_key)
    cursor = SyncCursor.from_json(job.cursor)
    cursor.counts["inserted"] = inserted
    job.cursor, job.state, job.updated = cursor.to_json(), state, backends.now()
    backends.jobs.put(job)


@pytest.mark.parametrize("scripts", [True, False])
def test_a_running_sync_is_seen_to_move_and_to_end(chromium, scripts):
    with quiet_corpus() as made:
        add_everything(made)
        with (
            running(browser(made).app) as url,
            opened(chromium, url, scripts=scripts) as (page, complaints),
        ):
            page.goto("/syncs")
            running_one = page.locator("li", has_text="newborns")
            assert "100 of 400 records" in running_one.inner_text()
            moved(made, "newborns", 190)
            if not scripts:
                page.get_by_role("link", name="See how far it is now").click()
            running_one.get_by_text("200 of 400 records").wait_for()
            moved(made, "newborns", 390, "succeeded")
            if not scripts:
                page.get_by_role("link", name="See how far it is now").click()
            running_one.get_by_text("390 added").wait_for()
            assert page.locator("progress").count() == 0
            assert page.locator("[hx-get]").count() == 0
            assert complaints == []


class Failing:
    """Backends whose jobs fail once `broken` is set."""

    def __init__(self, backends):
        self._backends, self.broken = backends, False

    def __getattr__(self, name):
        if name == "jobs" and self.broken:
            raise StoreFailed("The store is away for a moment.")
        return getattr(self._backends, name)


def test_a_page_that_moves_leaves_the_keyboard_where_it_is_and_tells_of_an_outage(chromium):
    with quiet_corpus() as made:
        add_everything(made)
        failing = Failing(made)
        with running(browser(failing).app) as url, opened(chromium, url) as (page, complaints):
            page.goto("/syncs")
            page.get_by_role("link", name="newborns").focus()
            moved(made, "newborns", 190)
            page.get_by_text("200 of 400 records").wait_for()
            assert page.evaluate("document.activeElement.textContent") == "newborns"
            assert complaints == []
            failing.broken = True
            page.get_by_text("The store is away for a moment.").wait_for()
            assert page.locator("nav").is_visible()


def test_every_page_is_reached_by_the_menu_and_leads_to_what_it_names(chromium, base):
    with opened(chromium, base) as (page, complaints):
        page.goto("/corpora")
        page.get_by_role("row", name="broken").get_by_role("link").click()
        assert "broken" in page.locator("h1").inner_text()
        page.get_by_role("link", name="Projects").click()
        page.get_by_role("link", name=PROJECT, exact=True).click()
        page.get_by_role("link", name="Perfusion index").click()
        assert "/papers/" in page.url
        page.get_by_role("link", name="Evaluation").click()
        page.get_by_role("link", name="report").first.click()
        assert page.get_by_text("recall 0.9").is_visible()
        assert complaints == []

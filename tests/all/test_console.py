"""The console in a real browser: clicked through, in both themes, on a phone, without scripts, judged by axe."""

from urllib.parse import urlencode

import pytest

from bio_mcp.errors import StoreFailed
from bio_mcp.syncing.applying import apply_records
from bio_mcp.syncing.cursor import SyncCursor
from tests.all.browsing import THEMES, WIDTHS, looked_at, opened, overflow, violations
from tests.doors.console.busy import add_everything, quiet_corpus
from tests.doors.console.pages import browser
from tests.doors.console.revised import VERSIONS
from tests.doors.serving import running
from tests.support.sample_corpus import Corpus, articles
from tests.support.sample_project import PROJECT
from tests.support.touched_ports import small_corpus

QUESTION = "alcohol among young adults"
PAPER = articles()[0].pmid
LOOKED_AT = {
    "home": "/",
    "hits": "/?" + urlencode({"q": QUESTION}),
    "no-sense": "/?" + urlencode({"q": QUESTION, "year_from": "soon"}),
    "paper": f"/papers/{PAPER}",
    "connect": "/connect",
    "missing": "/nothing-here",
    "revised": "/papers/7",
}


@pytest.fixture(scope="module")
def base():
    """The address of a console over the sample corpus and a paper that was revised and retracted."""
    with small_corpus() as made:
        for version in VERSIONS:
            apply_records([version], made)
        with running(browser(made).app) as url:
            yield url


@pytest.fixture
def page(chromium, base):
    with opened(chromium, base) as (made, complaints):
        yield made
        assert complaints == []


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", LOOKED_AT)
def test_a_page_is_accessible_and_fits_the_screen(chromium, base, name, theme, width):
    with opened(chromium, base, theme, width) as (page, complaints):
        page.goto(LOOKED_AT[name])
        looked_at(page, f"{name}-{theme}-{width}")
        page.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")
        assert violations(page) == []
        assert overflow(page) <= 0
        assert [each for each in complaints if "status of 4" not in each] == []


@pytest.mark.parametrize("theme", THEMES)
def test_a_search_with_its_answer_and_open_reasons_is_accessible(chromium, base, theme):
    with opened(chromium, base, theme) as (page, complaints):
        page.goto(LOOKED_AT["hits"])
        page.get_by_text("Why here").first.click()
        page.get_by_role("button", name="Answer from the corpus").click()
        page.get_by_text("answers are given from").wait_for()
        looked_at(page, f"answered-{theme}")
        assert violations(page) == []
        assert complaints == []


def test_a_question_leads_to_hits_their_reasons_a_paper_and_its_citations(page):
    page.goto("/")
    page.get_by_label("Search the corpus").fill(QUESTION)
    page.keyboard.press("Enter")
    page.wait_for_url("**/?q=alcohol**")
    why = page.locator("details.why").first
    assert not why.get_by_text("cosine").is_visible()
    why.get_by_text("Why here").click()
    assert why.get_by_text("cosine").is_visible()
    title = page.locator(".hit h3 a").first
    name = title.inner_text()
    title.click()
    page.wait_for_url("**/papers/*")
    assert page.locator("h1").inner_text() == name
    assert page.locator("pre").filter(has_text="PMID: ").first.is_visible()
    page.get_by_text("BibTeX").click()
    assert page.locator("pre").filter(has_text="@article").is_visible()


def test_an_answer_comes_beside_the_hits_without_leaving_them(page):
    page.goto(LOOKED_AT["hits"])
    page.get_by_role("button", name="Answer from the corpus").click()
    page.locator("#answer").get_by_text("answers are given from").wait_for()
    assert page.locator(".hit").count() == 10
    assert page.evaluate("document.activeElement.id") == "answer-title"  # where a reader of the screen reads on
    assert page.url.endswith(LOOKED_AT["hits"])


def test_everything_can_be_done_without_scripts(chromium, base):
    with opened(chromium, base, scripts=False) as (page, complaints):
        page.goto("/")
        page.get_by_label("Search the corpus").fill(QUESTION)
        page.keyboard.press("Enter")
        page.locator(".hit").first.wait_for()
        page.get_by_role("button", name="Answer from the corpus").click()
        page.locator("#answer").get_by_text("answers are given from").wait_for()
        assert page.url.endswith("/answer")
        page.get_by_text("What a search for it finds").click()
        page.locator(".hit h3 a").first.click()
        page.get_by_text("BibTeX").click()
        assert page.locator("pre").filter(has_text="@").is_visible()
        assert complaints == []


def test_every_page_is_reached_by_the_keyboard(page):
    page.goto("/")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.name") == "q"


def test_a_script_that_got_in_would_be_refused(chromium, base):
    with opened(chromium, base) as (page, complaints):
        page.goto("/")
        page.evaluate("""() => {
            const script = document.createElement("script");
            script.textContent = "document.title = 'bad'";
            document.body.append(script);
        }""")
        assert page.title() != "bad"
        assert any("Content Security Policy" in each for each in complaints)


def test_a_form_that_got_in_would_be_sent_nowhere_else(chromium, base):
    with opened(chromium, base) as (page, complaints):
        page.goto("/")
        page.evaluate("""() => {
            document.body.innerHTML = '<form action="http://127.0.0.1:9/steal"><button>go</button></form>';
            document.querySelector("button").click();
        }""")
        page.wait_for_timeout(200)
        assert page.url == f"{base}/"
        assert any("form-action" in each for each in complaints)


@pytest.mark.parametrize(("theme", "background"), [("light", "rgb(255, 255, 255)"), ("dark", "rgb(13, 17, 23)")])
def test_a_page_is_as_bright_as_its_reader_prefers(chromium, base, theme, background):
    with opened(chromium, base, theme) as (page, _):
        page.goto("/")
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") == background


@pytest.fixture(scope="module")
def busy():
    with quiet_corpus() as made:
        add_everything(made)
        yield made


@pytest.fixture(scope="module")
def busy_base(busy):
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
    chromium, busy_base, addresses, name, theme, width
):
    with opened(chromium, busy_base, theme, width) as (page, complaints):
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


def test_every_page_is_reached_by_the_menu_and_leads_to_what_it_names(chromium, busy_base):
    with opened(chromium, busy_base) as (page, complaints):
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


BASE = "http://page.test"
PAGE = "<link rel=icon href=data:,><img src=/picture>"


@pytest.mark.parametrize("fails", [False, True])
def test_only_a_request_that_fails_is_a_complaint(chromium, fails):
    with opened(chromium, BASE) as (page, complaints):
        page.route("**/", lambda route: route.fulfill(content_type="text/html", body=PAGE))
        page.route("**/picture", lambda route: route.abort("connectionreset") if fails else None)
        with page.expect_event("requestfailed"):
            with page.expect_request("**/picture"):
                page.goto("/", wait_until="commit")
            if not fails:
                page.goto("about:blank")
        assert [each for each in complaints if each.endswith("/picture")] == [f"{BASE}/picture"] * fails

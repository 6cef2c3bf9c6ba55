"""The console in a real browser: clicked through, in both themes, on a phone, without scripts, and judged by axe."""

from urllib.parse import urlencode

import pytest

from bio_mcp.syncing.importing import import_records
from tests.all.browsing import THEMES, WIDTHS, looked_at, opened, overflow, violations
from tests.doors.console.pages import browser
from tests.doors.console.revised import VERSIONS
from tests.doors.serving import running
from tests.support.sample_corpus import articles
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
            import_records([version], made)
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

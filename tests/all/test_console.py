"""The console in a real browser: clicked through, in both themes, on a phone, without scripts, judged by axe."""

import re
from time import sleep
from urllib.parse import urlencode

import pytest

from bio_mcp.errors import StoreFailed
from bio_mcp.literature.citing import cite
from bio_mcp.syncing.applying import apply_records
from bio_mcp.syncing.cursor import SyncCursor
from tests.all.browsing import LOOKS, looked_at, opened, overflow, violations
from tests.doors.console.busy import add_everything, quiet_corpus
from tests.doors.console.pages import browser
from tests.doors.console.revised import VERSIONS
from tests.doors.serving import running
from tests.support.sample_corpus import Corpus, articles
from tests.support.sample_graph import add_graph
from tests.support.sample_project import PROJECT

QUESTION = "alcohol among young adults"
PAPER = articles()[0].pmid
LOOKED_AT = {
    "home": "/",
    "hits": "/?" + urlencode({"q": QUESTION}),
    "weaker": "/?" + urlencode({"q": QUESTION, "weak": "1"}),
    "nothing": "/?" + urlencode({"q": "nobody[au]"}),
    "admin": "/admin",
    "no-sense": "/?" + urlencode({"q": QUESTION, "year_from": "soon"}),
    "paper": f"/papers/{PAPER}",
    "connect": "/admin/connect",
    "references": "/references",
    "graph": "/graph?q=Testwort",
    "drug": "/graph?q=placebin",
    "missing": "/nothing-here",
    "revised": "/papers/7",
}

NOTE_THE_WAIT = """() => document.addEventListener("submit", () => setTimeout(() => {
    sessionStorage.seen = [...document.querySelectorAll(".working")].filter(
        each => each.checkVisibility({visibilityProperty: true})).map(each => each.textContent).join();
    sessionStorage.heard = document.getElementById("status").textContent;
}, 500))"""


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    """The address of a console over the sample corpus and a paper that was revised and retracted."""
    made = Corpus(tmp_path_factory.mktemp("console"), articles())
    for records in (made.articles, *([each] for each in VERSIONS)):
        apply_records(records, made)
    add_graph(made)
    with running(browser(made).app) as url:
        yield url
    made.close()


@pytest.mark.parametrize(("theme", "width"), LOOKS)
@pytest.mark.parametrize("name", LOOKED_AT)
def test_a_page_is_accessible_and_fits_the_screen(chromium, base, name, theme, width):
    with opened(chromium, base, theme, width) as (page, complaints):
        page.goto(LOOKED_AT[name])
        looked_at(page, f"{name}-{theme}-{width}")
        page.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")
        assert violations(page) == []
        assert overflow(page) <= 0
        assert [each for each in complaints if "status of 4" not in each] == []


@pytest.mark.parametrize(("theme", "width"), LOOKS)
def test_an_answer_above_its_papers_is_accessible_and_fits_the_screen(chromium, base, theme, width):
    with opened(chromium, base, theme, width) as (page, complaints):
        page.goto(LOOKED_AT["hits"])
        page.get_by_role("button", name="Answer").click()
        page.locator("#answer").wait_for()
        looked_at(page, f"answered-{theme}-{width}")
        assert violations(page) == []
        assert overflow(page) <= 0
        assert complaints == []


def test_print_has_question_answer_and_sources_and_nothing_that_is_pressed(page):
    page.goto(LOOKED_AT["hits"])
    page.get_by_role("button", name="Answer").click()
    page.wait_for_url("**/answers/*")
    page.emulate_media(media="print")
    looked_at(page, "print")
    assert page.get_by_text(QUESTION).locator("visible=true").count() == 1
    assert page.locator("#answer .claims").is_visible()
    assert page.locator("#answer table").get_by_text("PMID").first.is_visible()
    assert page.locator("#hits-title").is_visible()
    assert page.locator("button, input, select, summary").locator("visible=true").count() == 0


def test_a_paper_opens_beside_the_list_and_is_closed_again(page):
    page.goto(LOOKED_AT["hits"])
    title = page.locator(".hit h3 a").nth(1)
    name = title.inner_text()
    title.focus()
    page.keyboard.press("Enter")
    beside = page.locator("#beside")
    beside.get_by_role("heading", level=1).wait_for()
    assert beside.get_by_role("heading", level=1).inner_text() == name
    assert page.evaluate("document.activeElement.tagName") == "H1"  # where a reader of the screen reads on
    assert page.url.endswith(LOOKED_AT["hits"])
    looked_at(page, "beside")
    assert violations(page) == []
    beside.get_by_role("button", name="Close").click()
    assert not beside.is_visible()
    assert page.evaluate("document.activeElement.textContent") == name


def test_a_question_leads_to_an_answer_its_sentence_in_the_paper_and_back(page):
    page.goto("/")
    page.get_by_role("searchbox", name="Search").fill(QUESTION)
    page.keyboard.press("Enter")
    page.wait_for_url("**/?q=alcohol+among+young+adults")  # and nothing that was left empty
    page.get_by_role("button", name="Answer").click()
    page.wait_for_url("**/answers/*")
    source = page.get_by_role("link", name="Source 1")
    source.click()
    quoted = page.locator("#beside mark#quote")
    quoted.wait_for()
    assert page.evaluate("document.activeElement.id") == "quote"  # seen and read first
    assert quoted.inner_text() in page.locator("#answer").inner_text()
    page.locator("#answer table").get_by_role("link").first.click()
    page.wait_for_url("**/papers/*")
    page.go_back()
    assert page.locator("#answer .claims").is_visible()  # an answer survives Back


def test_papers_are_selected_cited_and_exported(page):
    page.goto(LOOKED_AT["hits"])
    for number in (0, 1):
        page.get_by_role("checkbox", name="Select").nth(number).check()
    assert page.get_by_text("2 selected").is_visible()
    page.get_by_label("Format").select_option("nbib")
    with page.expect_download() as download:
        page.get_by_role("button", name="Export").click()
    assert download.value.path().read_text().count("PMID- ") == 2
    page.get_by_role("button", name="Cite").click()
    page.get_by_role("heading", name="2 citations").wait_for()
    assert violations(page) == []
    page.go_back()
    page.get_by_text("2 selected").wait_for()


def test_references_are_checked_filtered_and_corrected(page):
    wrong = re.sub(r"(PY|DA)  - \d{4}", r"\1  - 1999", cite(articles()[1], "ris"))
    page.goto("/references")
    page.get_by_label("References", exact=True).fill(f"{cite(articles()[0], 'ris')}\n{wrong}")
    page.get_by_role("button", name="Check references").click()
    page.get_by_role("cell", name="year 1999").wait_for()
    assert violations(page) == []
    page.get_by_role("radio", name="Found").check()
    assert not page.get_by_role("cell", name="year 1999").is_visible()
    with page.expect_download() as download:
        page.get_by_role("button", name="Corrected list").click()
    assert download.value.path().read_text().count("TY  - ") == 2


def test_a_server_that_is_away_is_told_of_where_one_looks(chromium, base):
    with opened(chromium, base) as (page, _):
        page.goto(LOOKED_AT["hits"])
        page.context.set_offline(True)
        page.locator(".hit h3 a").first.click()
        page.get_by_role("alert").get_by_text("The server did not answer").wait_for()


@pytest.mark.parametrize(
    ("path", "button", "waits"),
    [
        (LOOKED_AT["hits"], "Search", "Searching…"),
        (LOOKED_AT["hits"], "Answer", "Reading the papers…"),
        ("/references", "Check references", "Checking the references…"),
    ],
    ids=["search", "answer", "references"],
)
def test_a_wait_is_seen_and_heard(chromium, base, path, button, waits):
    def late(route):
        sleep(1)
        route.continue_()

    with opened(chromium, base) as (page, _):
        page.goto(path)
        assert not page.get_by_text(waits).last.is_visible()
        if path == "/references":
            page.get_by_role("textbox", name="References").fill("A title. 2020")
        page.evaluate(NOTE_THE_WAIT)
        page.route("**/*", late)
        page.get_by_role("button", name=button, exact=True).click()
        page.wait_for_load_state()
        assert page.evaluate("[sessionStorage.seen, sessionStorage.heard]") == [waits, waits]


def test_a_paper_that_is_awaited_is_heard_of(chromium, base):
    with opened(chromium, base) as (page, _):
        page.goto(LOOKED_AT["hits"])
        page.route("**/papers/*", lambda _: None)
        page.locator(".hit h3 a").first.click()
        page.get_by_role("status").get_by_text("Opening the paper…").wait_for()


def test_everything_can_be_done_without_scripts(chromium, base):
    with opened(chromium, base, scripts=False) as (page, complaints):
        page.goto("/")
        page.get_by_role("searchbox", name="Search").fill(QUESTION)
        page.keyboard.press("Enter")
        page.locator(".hit").first.wait_for()
        page.get_by_role("button", name="Answer").click()
        page.wait_for_url("**/answers/*")
        page.get_by_role("link", name="Source 1").click()
        assert page.locator("mark#quote").is_visible()
        page.get_by_text("BibTeX").click()
        assert page.locator("pre").filter(has_text="@").is_visible()
        page.go_back()
        page.get_by_role("checkbox", name="Select").first.check()
        page.get_by_role("button", name="Cite").click()
        page.get_by_role("heading", name="1 citation").wait_for()
        assert complaints == []


def test_every_page_is_reached_by_the_keyboard(page):
    page.goto("/")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.name") == "q"


def test_the_menu_admin_folds_when_it_is_left(page):
    page.goto("/")
    menu, people = page.get_by_text("Admin", exact=True), page.get_by_role("link", name="People")
    menu.focus()
    page.keyboard.press("Enter")
    people.wait_for()
    page.keyboard.press("Tab")
    page.keyboard.press("Escape")
    assert not people.is_visible()
    assert page.evaluate("document.activeElement.textContent") == "Admin"
    menu.click()
    page.get_by_role("searchbox").click()
    assert not people.is_visible()


def test_weaker_matches_unfold_and_are_selected_with_the_others(page):
    page.goto(LOOKED_AT["hits"])
    strong = page.locator(".hit").count()
    page.get_by_text("weaker matches").click()
    page.locator("#weak .hit").first.wait_for()
    assert page.locator(".hit").count() > strong
    page.locator("#weak").get_by_role("checkbox", name="Select").first.check()
    page.get_by_role("checkbox", name="Select").first.check()
    assert page.get_by_text("2 selected").is_visible()
    page.locator("#weak h3 a").first.click()
    page.locator("#beside h1").wait_for()
    assert violations(page) == []


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
        page.wait_for_timeout(1_000)
        assert page.url == f"{base}/"
        assert any("form-action" in each for each in complaints)


@pytest.mark.parametrize(("theme", "background"), [("light", "rgb(255, 255, 255)"), ("dark", "rgb(16, 22, 28)")])
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
        "corpora": "/admin/corpora",
        "syncs": "/admin/syncs",
        "sync": f"/admin/syncs/{syncs['broken']}",
        "projects": "/library",
        "project": f"/library/{PROJECT}",
        "evaluation": "/admin/evaluation",
    }


@pytest.mark.parametrize(("theme", "width"), LOOKS)
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


@pytest.mark.parametrize("path", ["/admin/corpora", "/admin/syncs", "/admin/evaluation"])
def test_an_empty_page_is_accessible_and_says_what_to_do(chromium, tmp_path, path):
    made = Corpus(tmp_path, [])
    with running(browser(made).app) as url, opened(chromium, url, width=390) as (page, complaints):
        page.goto(path)
        looked_at(page, f"empty{path.replace('/', '-')}")
        assert page.locator(".empty").first.is_visible()
        assert page.locator("main .button").first.is_visible()
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
            page.goto("/admin/syncs")
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
            page.goto("/admin/syncs")
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
        page.goto("/admin/corpora")
        page.get_by_role("row", name="broken").get_by_role("link").click()
        assert "broken" in page.locator("h1").inner_text()
        page.get_by_role("link", name="Library").click()
        page.get_by_role("link", name=PROJECT, exact=True).click()
        page.get_by_role("link", name="its record in PubMed").first.click()
        assert "/papers/" in page.url
        page.get_by_text("Admin").click()
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

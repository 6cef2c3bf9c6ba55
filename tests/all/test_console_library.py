"""The Library in a real browser: two PDFs dropped, read, asked, and the quotation marked on its page."""

from pathlib import Path
from urllib.parse import urlencode

import pytest

from bio_mcp.catalog import TOOLS
from bio_mcp.doors.queue_worker import worker
from bio_mcp.syncing.applying import apply_records
from tests.adapters.parsers.pages import drawn, scan, typeset
from tests.all.browsing import LOOKS, looked_at, opened, overflow, violations
from tests.doors.console.pages import browser
from tests.doors.serving import running
from tests.support.sample_corpus import Corpus, articles

DATA = Path(__file__).parents[1] / "data/pdf"
FILES = [DATA / "demarchis2016.pdf", DATA / "micropub001725.pdf"]
PROJECT = "/library/hands-and-flies"
QUESTION = "Does rotating the forearm change hand opening?"
ANSWER = "no differences were found with regard to the individual finger extension"
TITLE = "Multi-contact functional electrical stimulation for hand opening"
SCANNED = [
    "Curcumin for functional dyspepsia",
    "We searched four databases for randomised trials that compared curcumin with placebo.",
    "Five trials with 412 adults were included; the dose was 500 mg a day in all of them.",
    "After four weeks symptoms had fallen by 38% and did not change with placebo.",
]


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    """The address of a console over the sample corpus, with a worker for what is sent."""
    made = Corpus(tmp_path_factory.mktemp("library"), articles())
    apply_records(made.articles, made)
    with worker(made.continuations, TOOLS, made, idle_s=0.1), running(browser(made).app) as url:
        yield url
    made.close()


def letters(text):
    return "".join(filter(str.isalnum, text))


def wait_until_read(page, count):
    """Wait until so many files are read, which the page shows by itself."""
    page.get_by_role("heading", name=f"{count} document").wait_for(timeout=60_000)
    page.locator(".added-files .state-complete").nth(count - 1).wait_for(timeout=60_000)


def dropped(page, files):
    """Drop the files on the form, as from a folder."""
    given = page.evaluate_handle("() => new DataTransfer()")
    for path in files:
        added = "([to, bytes, name]) => to.items.add(new File([new Uint8Array(bytes)], name))"
        page.evaluate(added, [given, list(path.read_bytes()), path.name])
    page.dispatch_event("#add", "dragover", {"dataTransfer": given})
    page.dispatch_event("#add", "drop", {"dataTransfer": given})


def new_project(page, name, project_id):
    """Make a project on the page, which leads to it."""
    page.goto("/library")
    page.get_by_label("Name").fill(name)
    page.get_by_role("button", name="New project").click()
    page.get_by_role("heading", name=project_id).wait_for()


@pytest.fixture(scope="module")
def project(chromium, base):
    """The path of a project into which two PDFs were dropped."""
    with opened(chromium, base) as (page, complaints):
        new_project(page, "Hands and Flies", "hands-and-flies")
        dropped(page, FILES)
        page.locator(".added-files li").nth(1).wait_for()
        looked_at(page, "library-being-read")
        wait_until_read(page, 2)
        assert complaints == []
    return PROJECT


def test_two_pdfs_that_were_dropped_are_asked_and_the_quotation_is_marked_on_its_page(chromium, base, project):
    with opened(chromium, base) as (page, complaints):
        page.goto(project)
        page.get_by_role("searchbox", name="Question").fill(QUESTION)
        page.get_by_role("button", name="Ask").click()
        claim = page.locator("#answer .claims li").filter(has_text=ANSWER).first
        said = claim.inner_text()
        claim.get_by_role("link", name="Source").click()
        page.locator("#pdf mark#quote").wait_for(timeout=30_000)
        marked = letters("".join(page.locator("#pdf mark").all_inner_texts()))
        assert letters(ANSWER) in marked
        assert marked in letters(said)
        assert page.evaluate("document.activeElement.id") == "quote"
        assert "page 6" in page.locator("#pdf-state").inner_text()
        assert TITLE in page.get_by_role("heading", level=1).inner_text()
        assert violations(page) == []
        page.go_back()
        assert page.locator("#answer .claims").is_visible()  # an answer survives Back
        assert complaints == []


def pressed(page, name):
    """Go on by Tab until the button of this name has the focus, and press it."""
    wanted = page.get_by_role("button", name=name, exact=True).first.element_handle()
    for _ in range(60):
        page.keyboard.press("Tab")
        if page.evaluate("element => document.activeElement === element", wanted):
            page.keyboard.press("Enter")
            return
    raise AssertionError(f"Tab reaches no button {name}")


def test_it_is_all_done_by_the_keyboard(chromium, base):
    with opened(chromium, base) as (page, complaints):
        page.goto("/library")
        page.get_by_label("Name").focus()
        page.keyboard.type("By keys")
        page.keyboard.press("Enter")
        page.get_by_role("heading", name="by-keys").wait_for()
        page.wait_for_load_state()
        with page.expect_file_chooser() as chooser:
            page.locator("input[type=file]").press("Space")
        chooser.value.set_files(FILES)
        pressed(page, "Add documents")
        wait_until_read(page, 2)
        page.get_by_role("searchbox", name="Question").focus()
        page.keyboard.type(QUESTION)
        page.keyboard.press("Enter")
        number = page.locator("#answer .claims li").filter(has_text=ANSWER).first.get_by_role("link")
        number.focus()
        page.keyboard.press("Enter")
        page.locator("#pdf mark#quote").wait_for(timeout=30_000)
        assert page.evaluate("document.activeElement.id") == "quote"
        assert complaints == []


def test_it_is_all_done_without_scripts_but_for_the_mark_on_the_page(chromium, base):
    with opened(chromium, base, scripts=False) as (page, complaints):
        page.goto("/library")
        page.get_by_label("Name").fill("Without scripts")
        page.get_by_role("button", name="New project").click()
        page.locator("input[type=file]").set_input_files(FILES)
        with page.expect_navigation():
            page.get_by_role("button", name="Add documents").click()
        for _ in range(120):
            if not (again := page.get_by_role("link", name="See how far it is now")).count():
                break
            page.wait_for_timeout(500)
            with page.expect_navigation():
                again.click()
        assert page.get_by_role("heading", name="2 documents").is_visible()
        page.get_by_role("searchbox", name="Question").fill(QUESTION)
        page.get_by_role("button", name="Ask").click()
        page.locator("#answer .claims li").filter(has_text=ANSWER).first.get_by_role("link").click()
        assert ANSWER in page.locator("#cited").inner_text()
        link = page.get_by_role("link", name="Open the PDF at this page").get_attribute("href")
        assert link.endswith("#page=6")
        assert page.request.get(f"{base}{link}").body() == FILES[0].read_bytes()
        page.locator("summary", has_text="sections").click()
        assert ANSWER in page.locator("mark#quote").inner_text()
        assert complaints == []


def test_a_scan_shows_the_words_of_the_quotation_in_boxes(chromium, base, tmp_path):
    path = tmp_path / "scan.pdf"
    path.write_bytes(scan(drawn(typeset(SCANNED))))
    with opened(chromium, base) as (page, complaints):
        new_project(page, "Scans", "scans")
        dropped(page, [path])
        wait_until_read(page, 1)
        page.locator("#document-1").click()
        page.get_by_role("heading", level=1).wait_for()
        page.goto(f"{page.url}?{urlencode({'page': 1, 'quote': SCANNED[3]})}")
        boxes = page.locator("#pdf mark.box")
        boxes.first.wait_for(timeout=60_000)
        assert letters("".join(boxes.all_inner_texts())) == letters(SCANNED[3])
        places = boxes.evaluate_all("all => all.map(each => each.getBoundingClientRect().toJSON())")
        assert max(each["y"] for each in places) - min(each["y"] for each in places) < 2 * places[0]["height"]
        assert places == sorted(places, key=lambda each: each["x"])  # on one line
        looked_at(page, "library-scan")
        assert violations(page) == []
        assert complaints == []


def test_papers_of_a_search_are_saved_and_asked(chromium, base):
    with opened(chromium, base) as (page, complaints):
        page.goto("/?" + urlencode({"q": "alcohol among young adults"}))
        page.get_by_role("checkbox", name="Select").first.check()
        page.get_by_role("button", name="Save").click()
        page.get_by_label("new project").fill("Read later")
        looked_at(page, "library-save")
        assert violations(page) == []
        page.get_by_role("button", name="Save").click()
        page.get_by_role("heading", name="read-later").wait_for()
        assert page.get_by_role("heading", name="1 document").is_visible()
        assert "the abstract alone" in page.locator(".cards").inner_text()
        assert complaints == []


def test_what_is_missing_is_added(chromium, base, project):
    with opened(chromium, base) as (page, complaints):
        page.goto(project)
        page.get_by_role("link", name="Analysis of Transcripts").click()
        page.locator("summary", has_text="Edit").click()
        page.get_by_label("Journal").fill("Micropubl Biol")
        page.get_by_role("button", name="Save changes").click()
        page.get_by_text("Micropubl Biol").first.wait_for()
        assert complaints == []


def test_a_wrong_value_is_emptied_and_a_document_is_deleted(chromium, base):
    with opened(chromium, base) as (page, complaints):
        new_project(page, "Brief", "brief")
        dropped(page, FILES[:1])
        wait_until_read(page, 1)
        page.get_by_role("link", name=TITLE).click()
        page.locator("summary", has_text="Edit").click()
        page.get_by_label("Year").fill("")
        page.get_by_role("button", name="Save changes").click()
        page.get_by_text("Missing year").wait_for()  # the form is open where something is missing
        assert page.get_by_label("Year").input_value() == ""
        page.locator("summary", has_text="Delete").click()
        looked_at(page, "library-edit")
        pressed(page, "Delete document")
        page.get_by_role("heading", name="0 documents").wait_for()
        assert complaints == []


@pytest.mark.parametrize(
    ("files", "said"), [(21, "more than the 20"), (1, "is empty")], ids=["too-many", "nothing-in-it"]
)
def test_what_cannot_be_sent_is_told_of_where_one_looks(chromium, base, project, tmp_path, files, said):
    paths = [tmp_path / f"{number}.txt" for number in range(files)]
    for each in paths:
        each.write_text("text" if files > 1 else "")
    with opened(chromium, base) as (page, complaints):
        page.goto(project)
        dropped(page, paths)
        page.get_by_role("alert").get_by_text(said).wait_for()
        assert complaints == []


@pytest.mark.parametrize(("theme", "width"), LOOKS)
def test_the_pages_are_accessible_and_fit_the_screen(chromium, base, project, theme, width):
    asked = urlencode({"q": QUESTION, "project": "hands-and-flies"})
    with opened(chromium, base, theme, width) as (page, complaints):
        for name, path in (("projects", "/library"), ("project", project), ("asked", f"/library?{asked}")):
            page.goto(path)
            looked_at(page, f"library-{name}-{theme}-{width}")
            assert violations(page) == []
            assert overflow(page) <= 0
        page.locator("#answer .claims").get_by_role("link").first.click()
        page.locator("#pdf mark#quote").wait_for(timeout=30_000)
        looked_at(page, f"library-document-{theme}-{width}")
        page.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")
        assert violations(page) == []
        assert overflow(page) <= 0
        assert complaints == []


def test_an_empty_library_is_accessible_and_says_what_to_do(chromium, tmp_path):
    made = Corpus(tmp_path, [])
    with running(browser(made).app) as url, opened(chromium, url, width=390) as (page, complaints):
        page.goto("/library")
        looked_at(page, "library-empty")
        assert "drop your PDFs" in page.locator(".empty").inner_text()
        assert violations(page) == []
        assert overflow(page) <= 0
        assert complaints == []
    made.close()

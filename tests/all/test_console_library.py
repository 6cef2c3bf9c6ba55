"""The Library in a real browser: two PDFs dropped, read, asked, and the quotation marked on its page."""

from pathlib import Path

import pytest

from bio_mcp.catalog import TOOLS
from bio_mcp.doors.queue_worker import worker
from bio_mcp.syncing.applying import apply_records
from tests.all.browsing import looked_at, opened, violations
from tests.doors.console.pages import browser
from tests.doors.serving import running
from tests.support.sample_corpus import Corpus, articles

DATA = Path(__file__).parents[1] / "data/pdf"
FILES = [DATA / "demarchis2016.pdf", DATA / "micropub001725.pdf"]
QUESTION = "Does rotating the forearm change hand opening?"
TITLE = "Multi-contact functional electrical stimulation for hand opening"


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    """The address of a console over the sample corpus, with a worker for what is sent."""
    made = Corpus(tmp_path_factory.mktemp("library"), articles())
    apply_records(made.articles, made)
    with worker(made.continuations, TOOLS, made, idle_s=0.1), running(browser(made).app) as url:
        yield url
    made.close()


def read(page):
    """Wait until both files are read."""
    page.get_by_role("heading", name="2 documents").wait_for(timeout=60_000)
    page.locator(".state-complete").nth(1).wait_for(timeout=60_000)


def dropped(page, files):
    """Drop the files on the form, as from a folder."""
    given = page.evaluate_handle("() => new DataTransfer()")
    for path in files:
        content = list(path.read_bytes())
        page.evaluate(
            "([to, bytes, name]) => to.items.add(new File([new Uint8Array(bytes)], name, {type: 'application/pdf'}))",
            [given, content, path.name],
        )
    page.dispatch_event("#add", "dragover", {"dataTransfer": given})
    page.dispatch_event("#add", "drop", {"dataTransfer": given})


@pytest.fixture(scope="module")
def project(chromium, base):
    """A project into which two PDFs were dropped; returns its path."""
    with opened(chromium, base) as (page, complaints):
        page.goto("/library")
        page.get_by_label("Name").fill("Hands and Flies")
        page.get_by_role("button", name="New project").click()
        page.get_by_role("heading", name="hands-and-flies").wait_for()
        looked_at(page, "library-project-empty")
        dropped(page, FILES)
        page.locator(".added-files li").nth(1).wait_for()
        read(page)
        looked_at(page, "library-project")
        assert complaints == []
        yield "/library/hands-and-flies"


def test_two_pdfs_are_dropped_asked_and_the_quotation_is_marked_on_its_page(chromium, base, project):
    with opened(chromium, base) as (page, complaints):
        page.goto(project)
        page.get_by_role("searchbox", name="Question").fill(QUESTION)
        page.get_by_role("button", name="Ask").click()
        claim = page.locator("#answer .claims li").filter(has_text="no differences were found").first
        said = claim.inner_text()
        looked_at(page, "library-asked")
        claim.get_by_role("link", name="Source").click()
        marked = page.locator("#pdf mark").first
        marked.wait_for(timeout=30_000)
        assert page.evaluate("document.activeElement.id") == "quote"
        text = " ".join(page.locator("#pdf mark").all_inner_texts())
        letters = "".join(filter(str.isalnum, text))
        assert letters in "".join(filter(str.isalnum, said))
        assert len(letters) > 80
        looked_at(page, "library-document")
        assert TITLE in page.get_by_role("heading", level=1).inner_text()
        assert violations(page) == []
        assert complaints == []

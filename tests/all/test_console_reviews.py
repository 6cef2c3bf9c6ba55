"""A review in a real browser: fifty papers screened by two people, from their import to the export; by the keyboard
alone and without scripts too."""

import csv
import random
import re

import pytest

from bio_mcp.syncing.applying import apply_records
from tests.all.browsing import LOOKS, looked_at, opened, overflow, violations
from tests.doors.console.pages import browser
from tests.doors.serving import running
from tests.support.sample_corpus import Corpus, articles

SUBJECTS = ("statins in adults with heart failure", "retinoids in adolescents with acne")
FEW = 6  # papers of a review that is screened by hand


def exported_file(papers):
    """The records of a search in a database, every second one of a subject, and the first one twice."""
    records = []
    for at in [*range(papers), 0]:
        subject = SUBJECTS[at % 2]
        abstract = f"We studied {subject}. Participants were followed for {at + 2} years, and outcomes were better."
        records.append(
            f"TY  - JOUR\nTI  - Trial {at + 1} of {subject}\nAU  - Doe, Jane\nAU  - Roe, Richard\nAB  - {abstract}\n"
            f"JO  - Journal of trials\nPY  - {2000 + at % 25}\nVL  - {at + 1}\nSP  - {at * 10 + 1}\nER  - \n"
        )
    return "\n".join(records).encode()


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    made = Corpus(tmp_path_factory.mktemp("reviews"), articles()[:8])
    apply_records(made.articles, made)
    with running(browser(made).app) as url:
        yield url
    made.close()


def make(page, name, papers):
    """Make a review and import a file."""
    page.goto("/reviews")
    page.get_by_label("Name").fill(name)
    page.get_by_label("Inclusion words").fill("statins heart failure adults")
    page.get_by_role("button", name="New review").click()
    page.get_by_role("heading", name=name).wait_for()
    page.get_by_label("RIS, NBIB").set_input_files(
        {"name": "embase.ris", "mimeType": "text/plain", "buffer": exported_file(papers)}
    )
    page.get_by_label("Database").fill("Embase")
    page.get_by_role("button", name="Import").click()
    page.get_by_text(f"{papers} records are new").wait_for()


def screen_as(page, who):
    page.get_by_role("link", name="Screen", exact=True).click()
    page.get_by_label("Screening as").fill(who)
    page.keyboard.press("Enter")
    page.wait_for_url("**as=" + who)


def is_relevant(page):
    return SUBJECTS[0] in page.locator("#paper-title").inner_text()


def pressed(page, key):
    """Press a key that decides, and wait for the next paper."""
    with page.expect_navigation():
        page.keyboard.press(key)


def test_fifty_papers_are_screened_by_two_people_with_kappa_conflicts_prisma_and_export(page):
    make(page, "statins", 50)
    wrong = random.Random(3)  # noqa: S311  no secret
    for who, errs in (("ann", 0.0), ("bob", 0.1)):
        screen_as(page, who)
        for _ in range(50):
            include = is_relevant(page) != (wrong.random() < errs)
            pressed(page, "i" if include else "e")
        page.get_by_text("Nothing is left to decide").wait_for()
    page.get_by_role("link", name="Conflicts").click()
    agreed = page.get_by_text("ann and bob agree in").first.inner_text()
    assert re.search(
        r"agree in 4\d of 50 \(\d\d\.\d %\), Cohen's kappa 0\.\d\d \(95 % CI 0\.\d\d to \d\.\d\d\)", agreed
    )
    page.get_by_label("Screening as").fill("cem")
    page.keyboard.press("Enter")
    page.wait_for_url("**as=cem")
    conflicts = 50 - int(re.search(r"in (\d+) of", agreed)[1])
    assert conflicts
    for left in reversed(range(conflicts)):
        first = page.locator(".cards > li").first
        relevant = SUBJECTS[0] in first.inner_text()
        first.get_by_role("button", name="Include" if relevant else "Exclude").click()
        page.get_by_text(f"{left} open" if left else "There is no conflict left.").first.wait_for()
    page.get_by_role("link", name="PRISMA").click()
    numbers = {row[0]: row[1] for row in (each.split("\t") for each in page.locator("table").inner_text().split("\n"))}
    assert (numbers["Records identified"], numbers["Duplicate records"]) == ("51", "1")
    assert (numbers["Records screened"], numbers["Reports sought for retrieval"]) == ("50", "25")
    with page.expect_download() as download:
        page.get_by_role("link", name="Download").click()
    assert "Records screened (n = 50)" in download.value.path().read_text()
    page.get_by_role("link", name="Overview").click()
    page.get_by_label("Format").select_option("CSV")
    with page.expect_download() as download:
        page.get_by_role("button", name="Export").click()
    with download.value.path().open(encoding="utf-8-sig") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 50
    assert sum(row["included"] == "1" for row in rows) == 25
    assert all("ann: " in row["abstract_decisions"] and "bob: " in row["abstract_decisions"] for row in rows)


def focused(page):
    return page.evaluate("document.activeElement.textContent.trim() || document.activeElement.name || ''")


def tab_to(page, name, most=60):
    """Press Tab until what has this name has the focus."""
    for _ in range(most):
        page.keyboard.press("Tab")
        if focused(page).startswith(name):
            return
    raise AssertionError(f"{name} is not reached by the keyboard")


def test_a_review_is_done_by_the_keyboard_alone(page):
    page.goto("/")
    tab_to(page, "Reviews")
    page.keyboard.press("Enter")
    page.wait_for_url("**/reviews")
    tab_to(page, "name")
    page.keyboard.type("by keys")
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="by keys").wait_for()
    tab_to(page, "file")
    page.wait_for_load_state()
    with page.expect_file_chooser() as chooser:
        page.keyboard.press("Space")
    chooser.value.set_files({"name": "a.ris", "mimeType": "text/plain", "buffer": exported_file(FEW)})
    tab_to(page, "Import")
    page.keyboard.press("Enter")
    page.get_by_text(f"{FEW} records are new").wait_for()
    tab_to(page, "Screen")
    page.keyboard.press("Enter")
    page.locator("#paper-title").wait_for()
    first = page.locator("#paper-title").inner_text()
    pressed(page, "m")
    pressed(page, "u")
    assert page.locator("#paper-title").inner_text() == first  # undo shows it again
    for who in ("ann", "bob"):
        tab_to(page, "as")
        page.keyboard.press("ControlOrMeta+a")
        page.keyboard.type(who)
        page.keyboard.press("Enter")
        page.wait_for_url(f"**as={who}*")
        for at in range(FEW):
            if is_relevant(page) or (who == "bob" and not at):
                pressed(page, "i")
            elif at % 2:
                pressed(page, "e")
            else:
                page.keyboard.press("r")
                page.keyboard.type("skin, i.e. no heart")  # its letters decide nothing
                pressed(page, "Enter")
    page.get_by_text("Nothing is left to decide").wait_for()
    tab_to(page, "Conflicts")
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Exclude").first.wait_for()
    while page.get_by_role("button", name="Include").count():
        tab_to(page, "Exclude", 90)
        with page.expect_navigation():
            page.keyboard.press("Enter")
    page.get_by_text("There is no conflict left.").first.wait_for()
    tab_to(page, "Screen")
    page.keyboard.press("Enter")
    page.get_by_text("Nothing is left to decide").wait_for()
    tab_to(page, "Full text")
    page.keyboard.press("Enter")
    page.locator("#paper-title").wait_for()
    page.keyboard.press("e")
    assert focused(page) == "reason"  # which a full text is not excluded without
    page.keyboard.type("no control")
    pressed(page, "Enter")
    page.get_by_text("no control").wait_for()
    tab_to(page, "PRISMA")
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="The same in numbers").wait_for()
    tab_to(page, "Download")
    with page.expect_download():
        page.keyboard.press("Enter")
    page.keyboard.press("Shift+Tab")
    tab_to(page, "Overview", 90)
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="Searches").wait_for()
    tab_to(page, "Export")
    with page.expect_download() as download:
        page.keyboard.press("Enter")
    assert download.value.path().read_text().count("TY  - ") == FEW


def test_keys_decide_nothing_once_they_are_switched_off(page):
    make(page, "no keys", FEW)
    page.get_by_role("link", name="Screen", exact=True).click()
    page.get_by_role("checkbox", name="Keys decide").uncheck()
    page.keyboard.press("i")
    page.reload()
    page.keyboard.press("i")
    assert page.get_by_text(f"{FEW} of {FEW} left").is_visible()
    page.get_by_role("checkbox", name="Keys decide").check()
    pressed(page, "i")


def test_a_review_is_done_without_scripts(chromium, base):
    with opened(chromium, base, scripts=False) as (page, complaints):
        make(page, "no scripts", FEW)
        for who in ("ann", "bob"):
            screen_as(page, who)
            assert not page.get_by_text("Single keys decide").is_visible()
            for at in range(FEW):
                name = "Include" if is_relevant(page) or (who == "bob" and not at) else "Exclude"
                page.get_by_role("button", name=name).click()
        page.get_by_text("Nothing is left to decide").wait_for()
        page.get_by_role("button", name="Undo").click()
        page.get_by_role("button", name="Maybe").click()
        page.get_by_role("link", name="Conflicts").click()
        page.get_by_role("button", name="Exclude").first.click()
        page.get_by_text("Settled by a third decision").wait_for()
        page.get_by_role("link", name="PRISMA").click()
        with page.expect_download():
            page.get_by_role("link", name="Download").click()
        page.get_by_role("link", name="Overview").click()
        with page.expect_download() as download:
            page.get_by_role("button", name="Export").click()
        assert download.value.path().read_text().count("TY  - ") == FEW
        assert complaints == []


def test_papers_of_a_search_come_into_a_review(page):
    page.goto("/?q=heart")
    page.get_by_role("checkbox", name="Select").first.check()
    page.get_by_role("button", name="Add to review").click()
    page.get_by_label("Name").fill("of a search")
    page.get_by_role("button", name="New review").click()
    page.get_by_text("1 record is new").wait_for()
    page.get_by_role("cell", name="–").wait_for()


@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "no scripts"])
def test_what_the_corpus_has_for_a_search_comes_into_a_review_and_is_searched_again(chromium, base, scripts):
    with opened(chromium, base, scripts=scripts) as (page, complaints):
        make(page, f"of the corpus {scripts}", FEW)
        page.get_by_label("Question, or search as on the page Search").fill("patients OR study")
        page.keyboard.press("Enter")
        row = page.get_by_role("row").filter(has_text="patients OR study")
        found = int(row.get_by_role("cell").nth(2).inner_text())
        assert 0 < found <= 8
        page.get_by_text(f"{found} records are new").wait_for()
        page.get_by_role("button", name="Search again").click()
        page.get_by_text("0 records are new").wait_for()
        assert complaints == []


@pytest.fixture(scope="module")
def screened(chromium, base):
    """The address of a review with conflicts, merges and full texts."""
    with opened(chromium, base) as (page, _):
        make(page, "looked at", 12)
        page.get_by_label("RIS, NBIB").set_input_files(
            {"name": "scopus.ris", "mimeType": "text/plain", "buffer": exported_file(3)}
        )
        page.get_by_label("Database").fill("Scopus")
        page.get_by_role("button", name="Import").click()
        page.get_by_text("0 records are new").wait_for()
        for who in ("ann", "bob"):
            screen_as(page, who)
            for at in range(10):
                pressed(page, "i" if is_relevant(page) or (who == "bob" and at > 7) else "e")
    return "/reviews/looked%20at"


PAGES = ("", "/screen", "/screen?stage=full_text", "/conflicts", "/records", "/duplicates", "/prisma", "list")


@pytest.mark.parametrize(("theme", "width"), LOOKS)
@pytest.mark.parametrize("path", PAGES)
def test_a_page_of_a_review_is_accessible_and_fits_the_screen(chromium, base, screened, path, theme, width):
    with opened(chromium, base, theme, width) as (page, complaints):
        page.goto("/reviews" if path == "list" else f"{screened}{path}")
        name = re.sub(r"\W+", "-", path).strip("-") or "overview"
        looked_at(page, f"{name}-{theme}-{width}")
        page.evaluate("document.querySelectorAll('main details').forEach(each => each.open = true)")
        assert violations(page) == []
        assert overflow(page) <= 0
        assert complaints == []

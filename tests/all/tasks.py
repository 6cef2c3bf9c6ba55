"""Tasks that a researcher does in the console, from start to end, by mouse or by keyboard alone."""

import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bio_mcp.literature.citing import cite
from bio_mcp.literature.records import Article, RetractionStatus
from bio_mcp.syncing.applying import apply_records
from tests.all.browsing import looked_at
from tests.doors.console.pages import browser
from tests.doors.console.revised import VERSIONS
from tests.doors.serving import running
from tests.support.sample_corpus import Corpus, articles
from tests.support.sample_graph import add_graph

QUESTION = "alcohol among young adults"
WRONG, INVENTED = 3, 5  # of thirty references
FAR = 300  # presses of Tab


@contextmanager
def console(directory: Path) -> Iterator[str]:
    """The address of a console over the sample, with a paper that was revised and retracted."""
    made = Corpus(directory, [*articles(), VERSIONS[-1]])
    for records in (articles(), *([each] for each in VERSIONS)):
        apply_records(records, made)
    add_graph(made)
    with running(browser(made).app) as url:
        yield url
    made.close()


class Person:
    """Somebody at a page, with a mouse or with the keyboard alone. `acts` counts clicks, or keys that stand for one."""

    def __init__(self, page: Any, *, keyboard: bool = False) -> None:
        self.page, self.keyboard, self.acts = page, keyboard, 0

    def chooses(self, target: Any, key: str = "Enter") -> None:
        """Click it, or go to it by Tab and press a key there."""
        self.acts += 1
        if not self.keyboard:
            target.click()
            return
        self.goes_to(target)
        self.page.keyboard.press(key)

    def goes_to(self, target: Any) -> None:
        """Press Tab until it has the focus."""
        for _ in range(FAR):
            if target.evaluate("each => each === document.activeElement"):
                return
            self.page.keyboard.press("Tab")
        raise AssertionError(f"{target} is not reached by Tab")

    def types(self, target: Any, text: str) -> None:
        """Put a text into a field; as from the clipboard, where it has several lines."""
        if self.keyboard:
            self.goes_to(target)
            self.page.keyboard.insert_text(text)
        else:
            target.fill(text)

    def picks(self, target: Any, name: str) -> None:
        """Pick an option of a list that folds out."""
        self.acts += 1
        if self.keyboard:
            self.goes_to(target)
            self.page.keyboard.type(name)
        else:
            target.select_option(label=name)

    def downloads(self, target: Any) -> str:
        """The text of the file that a button gives."""
        with self.page.expect_download() as download:
            self.chooses(target)
        text: str = download.value.path().read_text(encoding="utf-8")
        return text


def evidence(person: Person) -> tuple[str, str]:
    """Ask, see a sentence of the answer marked in its paper, and export that. Returns the sentence and the file."""
    page = person.page
    page.goto("/")
    person.types(page.get_by_role("searchbox", name="Search"), QUESTION)
    person.acts += 1
    page.keyboard.press("Enter") if person.keyboard else page.get_by_role("searchbox").press("Enter")
    person.chooses(page.get_by_role("button", name="Answer"))
    page.wait_for_url("**/answers/*")
    source = page.get_by_role("link", name="Source 1").first
    pmid = re.search(r"/papers/(\d+)", source.get_attribute("href"))[1]
    person.chooses(source)
    quote = page.locator("mark#quote")
    quote.wait_for()
    marked = quote.inner_text()
    looked_at(page, f"task-evidence-{'paper' if '/papers/' in page.url else 'beside'}")
    if "/papers/" in page.url:  # without scripts a paper is a page of its own
        person.acts += 1
        page.go_back()
    person.chooses(page.locator(f"input[name=pmid][value='{pmid}']"), "Space")
    return marked, person.downloads(page.get_by_role("button", name="Export"))


def cited() -> list[Article]:
    """The papers of the list that there are: first those of which nothing is to be said."""
    return sorted(articles(), key=lambda each: each.retraction is not RetractionStatus.CLEAR)


def verdicts() -> dict[str, int]:
    """How many references of the list there are by verdict, in the order of the page."""
    by = Counter(each.retraction for each in articles())
    counted = {
        "All": 30,
        "Retracted": by[RetractionStatus.RETRACTED] + 1,
        "Not found": INVENTED,
        "Doubtful": WRONG,
        "Corrected": by[RetractionStatus.CORRECTED],
        "Found": by[RetractionStatus.CLEAR] - WRONG,
    }
    assert sum(counted.values()) == 60
    return counted


def thirty_references() -> str:
    """A list in RIS: right ones, some of a wrong year, one that was retracted, and invented ones."""
    listed = [cite(each, "ris") for each in cited()]
    listed[:WRONG] = [re.sub(r"(PY|DA)  - \d{4}", r"\1  - 1999", each) for each in listed[:WRONG]]
    listed.append(cite(VERSIONS[-1], "ris"))
    for number in range(INVENTED):
        title = f"Turtles in space and their {('shells', 'eyes', 'songs', 'diets', 'dreams')[number]}"
        listed.append(f"TY  - JOUR\nAU  - Nobody, A.\nTI  - {title}\nJO  - J Invented Res\nPY  - 1987\nER  - \n")
    assert len(listed) == len(articles()) + 1 + INVENTED == 30
    return "\n".join(listed)


def references(person: Person) -> tuple[dict[str, int], str]:
    """Check thirty references, and take the corrected list. Returns how many there are by verdict, and the list."""
    page = person.page
    page.goto("/")
    person.chooses(page.get_by_role("link", name="References"))
    person.types(page.get_by_role("textbox", name="References"), thirty_references())
    person.chooses(page.get_by_role("button", name="Check references"))
    page.get_by_role("radio", name="Retracted").wait_for()
    looked_at(page, "task-references")
    shown = page.locator(".filter label").all_inner_texts()
    counts = {name: int(count) for name, count in (each.strip().rsplit(" ", 1) for each in shown)}
    person.picks(page.get_by_label("Format"), "Plain text")
    return counts, person.downloads(page.get_by_role("button", name="Corrected list"))


def right_years(listed: str) -> bool:
    """Whether each of the altered references has the year of its paper again."""
    lines = {re.search(r"PMID: (\d+)", line)[1]: line for line in listed.splitlines()}
    return all(str(_year(each)) in lines[each.pmid] for each in cited()[:WRONG])


def _year(article: Article) -> int | None:
    return article.publication_date.year if article.publication_date else None

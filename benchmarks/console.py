"""What does the console ask of a browser and of a person? `python -m benchmarks.console`

Chromium at 1,440 px over the sample of the tests, on loopback: bytes and requests of the first load, compressed as they
are sent; the largest contentful paint (LCP) of pages, the median of five loads without a cache; and how many clicks, or
keys that stand for one, the tasks of `tests/all/tasks.py` take by mouse and by keyboard alone. It needs what `make
screens` installs.
"""

import tempfile
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any
from urllib.parse import urlencode

from playwright.sync_api import sync_playwright

from tests.all.browsing import FLAGS, opened
from tests.all.tasks import QUESTION, Person, console, evidence, references
from tests.support.sample_corpus import articles

LOADS = 5
PAGES = {
    "Search": "/",
    "papers found": "/?" + urlencode({"q": QUESTION}),
    "a paper": f"/papers/{articles()[0].pmid}",
    "References": "/references",
    "Graph": "/graph?" + urlencode({"q": "Testwort"}),
    "People": "/admin/people",
}
TASKS: dict[str, Callable[[Person], object]] = {
    "1 evidence marked and exported": evidence,
    "4 thirty references corrected": references,
}
LCP = """() => new Promise(done => new PerformanceObserver(list => done(list.getEntries().at(-1).startTime))
    .observe({type: "largest-contentful-paint", buffered: true}))"""


def first_load(chromium: Any, base: str, path: str) -> tuple[int, int, float]:
    """Bytes of the bodies as they are sent, requests, and LCP in milliseconds of a page that nothing is cached of."""
    with opened(chromium, base) as (page, _):
        asked: list[Any] = []
        page.on("requestfinished", lambda request: asked.append(request))
        page.goto(path, wait_until="networkidle")
        lcp: float = page.evaluate(LCP)
        return sum(each.sizes()["responseBodySize"] for each in asked), len(asked), lcp


def main() -> None:
    """Print the figures."""
    with tempfile.TemporaryDirectory() as directory, console(Path(directory)) as base, sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=FLAGS)
        print("first load                       bytes  requests   LCP")
        for name, path in PAGES.items():
            loads = [first_load(chromium, base, path) for _ in range(LOADS)]
            size, requests, _ = loads[0]
            print(f"{name:<30} {size:>7,} {requests:>9}  {median(each[2] for each in loads):>4.0f} ms")
        print("\nclicks or keys                   mouse  keyboard")
        for name, task in TASKS.items():
            acts = []
            for keyboard in (False, True):
                with opened(chromium, base) as (page, _):
                    person = Person(page, keyboard=keyboard)
                    task(person)
                    acts.append(person.acts)
            print(f"{name:<32} {acts[0]:>5} {acts[1]:>9}")
        chromium.close()


if __name__ == "__main__":
    main()

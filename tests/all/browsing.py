"""A real browser, Chromium, that sees pages as people do: in both themes and in forced colours, wide and on a phone,
with scripts or not."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.all.node import PROGRAMS

FLAGS = (
    "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --hide-scrollbars"
).split()
THEMES = ("light", "dark")
LOOKS = (("light", 1440), ("dark", 768), ("light", 320), ("forced", 1440))  # theme or forced colours, and width
LEVELS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
LEFT = "net::ERR_ABORTED"  # the browser's own word for a request that it gave up because its page was left
PICTURES = os.environ.get("PICTURES")  # a folder for a picture of each page that is looked at


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    """The browser of a module's tests. While it runs, this thread can run no event loop of another test."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=FLAGS)
        yield launched
        launched.close()


@contextmanager
def opened(
    chromium: Any, base: str, theme: str = "light", width: int = 1440, *, scripts: bool = True
) -> Iterator[tuple[Any, list[str]]]:
    """A page of a browser, and what it complains of: errors, and what the policy refused."""
    forced = theme == "forced"
    context = chromium.new_context(
        base_url=base,
        color_scheme="dark" if forced else theme,
        forced_colors="active" if forced else "none",
        viewport={"width": width, "height": 900},
        java_script_enabled=scripts,
    )
    complaints: list[str] = []
    page = context.new_page()
    page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("requestfailed", lambda request: complaints.append(request.url) if request.failure != LEFT else None)
    try:
        yield page, complaints
    finally:
        context.close()


@pytest.fixture
def page(chromium: Any, base: str) -> Iterator[Any]:
    """A page of the module's `base`, of which the browser complains of nothing."""
    with opened(chromium, base) as (made, complaints):
        yield made
        assert complaints == []


def violations(page: Any) -> list[str]:
    """What axe finds against WCAG, A and AA: the rule, and the elements that break it."""
    source = PROGRAMS / "axe-core/axe.min.js"
    assert source.exists(), "axe-core is not installed in .cache/npm: run make test-all"
    page.evaluate(source.read_text())
    found = page.evaluate("levels => axe.run(document, {runOnly: levels})", LEVELS)
    return [f"{each['id']}: {[node['html'] for node in each['nodes']]}" for each in found["violations"]]


def looked_at(page: Any, name: str) -> None:
    """Take a picture of the whole page where somebody wants to look at it."""
    if PICTURES:
        page.screenshot(path=Path(PICTURES) / f"{name}.png", full_page=True)


def overflow(page: Any) -> int:
    """Pixels by which the page is wider than the screen."""
    wide: int = page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
    return wide

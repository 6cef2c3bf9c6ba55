"""The console as a browser without scripts sees it: fetched, and read as HTML."""

from html.parser import HTMLParser
from typing import Any

from starlette.testclient import TestClient

from bio_mcp.doors.console.routes import routes
from bio_mcp.doors.mcp.http import application
from bio_mcp.doors.running import in_process
from bio_mcp.settings import Settings

BASE = "http://127.0.0.1:3010"
VOID = {"meta", "link", "input", "br", "img", "hr"}


def open_to_all(app: Any) -> Any:
    """The guard of a console that only this machine reaches."""
    return app


def browser(backends: Any, guard: Any = open_to_all, **settings: Any) -> TestClient:
    """A client of the whole HTTP application over `backends`."""
    return browser_of(in_process(backends), guard, **settings)


def browser_of(invoke: Any, guard: Any = open_to_all, **settings: Any) -> TestClient:
    """A client of the whole HTTP application that has tools run by `invoke`."""
    given = Settings(**settings)
    pages = routes(invoke, guard, resource=given.resource_url)
    app = application(given, invoke, None, public=False, pages=pages)
    return TestClient(app, base_url=BASE, headers={"sec-fetch-site": "same-origin"})


class Page(HTMLParser):
    """A page's elements, each as (tag, attributes, text within), and every text of it."""

    def __init__(self, answer: Any) -> None:
        super().__init__()
        self.status, self.elements, self._open = answer.status_code, [], []
        self.source = answer.text
        self.feed(answer.text)
        assert self._open == []  # every element is closed, in order

    def handle_starttag(self, tag, attrs):
        element = [tag, dict(attrs), ""]
        self.elements.append(element)
        if tag not in VOID:
            self._open.append(element)

    def handle_endtag(self, tag):
        assert self._open.pop()[0] == tag

    def handle_data(self, data):
        for element in self._open:
            element[2] += data

    def all(self, tag, **attributes):
        """The elements with this tag and these attributes; `cls` is one of its classes."""
        cls = attributes.pop("cls", None)
        return [
            each
            for each in self.elements
            if each[0] == tag
            and all(each[1].get(name) == value for name, value in attributes.items())
            and (cls is None or cls in (each[1].get("class") or "").split())
        ]

    def text(self, tag, **attributes):
        """The text of the first such element, with single spaces."""
        return " ".join(self.all(tag, **attributes)[0][2].split())

    def texts(self, *tags):
        """The texts of the elements with these tags, in their order, with single spaces."""
        return [" ".join(text.split()) for tag, _, text in self.elements if tag in tags]

    def rows(self):
        """The texts of the cells of each row of the tables."""
        rows: list[list[str]] = []
        for tag, _, text in self.elements:
            if tag == "tr":
                rows.append([])
            elif tag in ("td", "th"):
                rows[-1].append(" ".join(text.split()))
        return rows

    @property
    def links(self):
        return [attributes["href"] for _, attributes, _ in self.all("a")]

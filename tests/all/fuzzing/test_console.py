"""A thousand requests that no browser should send to the console: each is answered by a page, and none leaks."""

import random
import re
from urllib.parse import quote

import pytest

from bio_mcp.doors.console.rendering import POLICY
from bio_mcp.doors.console.routes import routes
from bio_mcp.doors.running import in_process
from tests.all.fuzzing.conftest import told
from tests.all.fuzzing.values import STRINGS
from tests.doors.console.pages import Page, browser, open_to_all

EACH = 1_000
FIELDS = ("q", "year_from", "year_to", "kind", "order", "top_k", "next", "code", "x")


@pytest.fixture(scope="module")
def client(corpus):
    return browser(corpus)


@pytest.fixture(scope="module")
def paths(corpus):
    """The paths of the console's routes, by method."""
    found = routes(in_process(corpus), open_to_all)
    return [(method, each.path) for each in found for method in sorted(each.methods)]


def given(rng):
    """Fields of a query or a form, with values of any kind."""
    return [(rng.choice(FIELDS), rng.choice(STRINGS)[:2_000]) for _ in range(rng.choice((0, 1, 1, 2, 5)))]


def text(value):
    return value.encode("utf-8", "replace").decode()


def test_no_request_breaks_a_page(corpus, client, paths):
    rng = random.Random("console")  # noqa: S311  the same ones each time
    shown = 0
    for _ in range(EACH):
        method, path = rng.choice(paths)
        path = re.sub(r"{\w+(:path)?}", lambda _: quote(text(rng.choice(STRINGS)[:500]), safe=""), path)
        fields = [(name, text(value)) for name, value in given(rng)]
        sent = {"params": fields} if method != "POST" else {"data": dict(fields)}
        answer = client.request(method, path, **sent, follow_redirects=False)
        assert answer.status_code < 500, (method, path, fields)
        assert told(corpus, answer.text) == [], (method, path, fields)
        if answer.headers.get("content-type", "").startswith("text/html") and answer.text:
            assert answer.headers["content-security-policy"] == POLICY
            page = Page(answer)  # which is whole
            assert all(inner == "" and a["src"].startswith("/static/") for _, a, inner in page.all("script"))
            assert not any(name.startswith("on") for _, a, _ in page.elements for name in a)
            shown += answer.status_code == 200
    assert shown > EACH / 10

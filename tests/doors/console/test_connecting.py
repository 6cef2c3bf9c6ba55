"""The page that says how to connect a client."""

import base64
import json
from urllib.parse import parse_qs, unquote, urlsplit

from tests.doors.console.pages import BASE, Page, browser
from tests.sample_corpus import corpus


def test_it_gives_the_address_at_which_the_browser_found_it(get):
    page = get("/connect")
    assert page.text("pre", cls="address") == f"{BASE}/mcp"
    assert f"claude mcp add --transport http bio-mcp {BASE}/mcp" in page.source


def test_it_gives_the_public_address_where_there_is_one():
    page = Page(browser(corpus(), resource_url="https://lit.example.org/mcp").get("/connect"))
    assert page.text("pre", cls="address") == "https://lit.example.org/mcp"


def test_its_buttons_install_this_server(get):
    vscode, cursor = [link for link in get("/connect").links if not link.startswith(("/", "#"))]
    assert json.loads(unquote(urlsplit(vscode).query)) == {"name": "bio-mcp", "type": "http", "url": f"{BASE}/mcp"}
    given = parse_qs(urlsplit(cursor).query)
    assert json.loads(base64.b64decode(given["config"][0])) == {"url": f"{BASE}/mcp"}

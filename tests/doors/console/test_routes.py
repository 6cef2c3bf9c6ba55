"""Which pages there are, and for whom; how to connect a client."""

import base64
import json
import re
from functools import partial
from urllib.parse import parse_qs, unquote, urlsplit

import pytest
from starlette.responses import PlainTextResponse

from bio_mcp.callers import ANONYMOUS, Caller
from bio_mcp.doors.auth.access import access
from bio_mcp.doors.auth.sessions import Sessions, SignedIn
from bio_mcp.doors.auth.tokens import KEY
from bio_mcp.doors.console.pages import PAGES
from bio_mcp.doors.console.rendering import ADMIN, MENU, POLICY
from bio_mcp.settings import Settings
from tests.doors.auth.minting import SECRET
from tests.doors.console.pages import BASE, Page, browser
from tests.support.sample_corpus import corpus

PATHS = ["/", "/?q=pain", "/admin/connect", "/papers/1", "/nothing-here", "/static/console.css", "/static/nothing.js"]


@pytest.mark.parametrize("path", PATHS)
def test_no_page_runs_what_is_not_the_consoles_own_or_is_shown_in_a_frame(client, path):
    headers = client.get(path).headers
    assert headers["content-security-policy"] == POLICY
    assert "unsafe" not in POLICY
    assert (headers["x-frame-options"], headers["x-content-type-options"]) == ("DENY", "nosniff")
    assert headers["referrer-policy"] == "same-origin"


@pytest.mark.parametrize("path", ["/", "/?q=pain", "/admin/connect"])
def test_a_page_has_no_script_or_style_within_and_nothing_from_another_host(get, path):
    page = get(path)
    scripts, styles = page.all("script"), page.all("link")
    assert all(attributes["src"].startswith("/static/") and text == "" for _, attributes, text in scripts)
    assert all(attributes["href"].startswith("/static/") for _, attributes, _ in styles)
    assert page.all("style") == []
    assert all(attributes["src"].startswith("/static/") for _, attributes, _ in page.all("img"))
    assert not any(name == "style" or name.startswith("on") for _, given, _ in page.elements for name in given)


def test_the_menu_names_every_page_and_marks_the_open_one(get):
    for path, menu, *_ in (*MENU, *ADMIN):
        current = get(path).all("a", **{"aria-current": "page"})
        assert [(attributes["href"], text) for _, attributes, text in current] == [(path, menu)]


def test_the_page_admin_says_what_each_page_is_for(get):
    assert get("/admin").texts("h2", "p")[1:-1] == [text for _, *texts in ADMIN for text in texts]


def test_an_address_of_no_page_is_reported_as_a_page(get):
    page = get("/nothing-here")
    assert (page.status, page.text("h1")) == (404, "There is no such page")


ODD = ["none", "..%2f..%2fetc%2fpasswd", "a/../b", "%2e%2e/secret", "%00", "<b>", "none.html", "a" * 64 + ".html"]


@pytest.mark.parametrize("name", ODD)
def test_what_is_not_there_is_a_page_that_says_so(busy, look, name):
    of_another_kind = busy.jobs.newest("evaluation", 1)[0].job_id
    paths = [f"/{each}/{name}" for each in ("admin/syncs", "library", "exports", "answers", "admin/evaluation/reports")]
    for page in map(look, [*paths, f"/admin/syncs/{of_another_kind}", f"/exports/{of_another_kind}"]):
        assert page.status == 404
        assert page.all("h1")
        assert "<b>" not in page.source


@pytest.mark.parametrize(
    ("path", "button"),
    [
        ("/", "Follow a topic"),
        ("/topics", "Follow"),
        ("/library", "New project"),
        ("/admin/corpora", "Follow a topic"),
        ("/admin/syncs", "Follow a topic"),
        ("/admin/evaluation", "Search"),
        ("/admin/people", "Connect a client on this computer"),
    ],
)
def test_where_there_is_nothing_a_page_says_so_with_a_button_and_no_command(nothing, path, button):
    page = Page(nothing.get(path))
    assert page.status == 200
    assert page.all("p", cls="empty")
    assert button in page.texts("a", "button")
    assert "bio-mcp " not in page.text("main")
    assert page.all("svg") == []


@pytest.mark.parametrize(
    ("path", "says"),
    [
        ("/?q=pain&cursor=abc", "This is a page of another search."),
        ("/?q=pain&year_from=soon", "From year: Give a whole number"),
        ("/?q=(((", "The question: it has no word"),
        ("/?q=pain+AND+(", "Expected a term"),
        ("/admin/syncs/none", "There is nothing at this address"),
        ("/papers/1", "PMID 1 is not in the corpus"),
        ("/topics?topic=none", "The button Follow of the page Topics begins one."),
    ],
)
def test_a_failure_is_told_in_words_of_the_page(get, path, says):
    page = get(path)
    assert says in page.text("div", cls="problem")
    assert not re.search(r"bio-mcp |_[a-z]+\b|\bpmid:|cursor", page.text("div", cls="problem"))


def test_pages_are_not_stored_and_files_are_until_their_content_changes(client):
    assert client.get("/").headers["cache-control"] == "no-store"
    [address] = re.findall(r"/static/console\.css\?v=[0-9a-f]{16}", client.get("/").text)
    named, bare = client.get(address), client.get("/static/console.css")
    assert "immutable" in named.headers["cache-control"]
    assert bare.headers["cache-control"] == "no-cache"
    again = client.get(address, headers={"if-none-match": named.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")


@pytest.mark.parametrize(
    "name", ["../console.py", "..%2Fconsole.py", "%2e%2e/console.py", "htmx.LICENSE", "/etc/hostname"]
)
def test_no_other_file_is_served(client, name):
    answer = client.get(f"/static/{name}")
    assert answer.status_code == 404
    assert "import" not in answer.text


@pytest.mark.parametrize(
    "sent",
    [
        {"origin": "https://evil.example"},
        {"origin": "https://evil.example", "sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {"sec-fetch-site": ""},
    ],
)
def test_another_host_and_a_form_of_another_site_are_refused(client, sent):
    assert client.get("/", headers={"host": "evil.example"}).status_code == 421
    for path in ("/answers", "/exports"):
        assert client.post(path, data={"q": "pain"}, headers=sent).status_code == 403


def test_a_form_of_the_consoles_own_origin_is_served(client):
    sent = {"origin": "http://127.0.0.1:3010", "sec-fetch-site": ""}
    assert client.post("/answers", data={"q": "pain"}, headers=sent).status_code == 200


def test_files_are_compressed_for_browsers_that_read_it_and_stay_below_64_kb(client):
    def sent(encoding):
        pages = [client.get("/", headers={"accept-encoding": encoding})]
        names = re.findall(r'(?:src|href)="(/static/[^"]+)"', pages[0].text)
        return pages + [client.get(name, headers={"accept-encoding": encoding}) for name in dict.fromkeys(names)]

    compressed = sent("gzip")
    assert sum(int(each.headers["content-length"]) for each in compressed) < 64 * 1024
    assert [each.text for each in compressed] == [each.text for each in sent("identity")]


class Refusing:
    """A guard that lets nobody through."""

    def __init__(self, app):
        self._app = app

    async def __call__(self, scope, receive, send):
        await PlainTextResponse("sign in", 401)(scope, receive, send)


class As:
    """A guard that takes everybody for one caller."""

    def __init__(self, caller):
        self._caller = caller

    def __call__(self, app):
        async def signed_in(scope, receive, send):
            await app({**scope, KEY: self._caller}, receive, send)

        return signed_in


@pytest.mark.parametrize("path", ["/", "/?q=pain", "/admin/connect", "/papers/1", *(p.path for p in PAGES)])
def test_every_page_stands_behind_the_guard_and_no_file_does(path):
    guarded = browser(corpus(), Refusing)
    assert (guarded.get(path).status_code, guarded.get(path).text) == (401, "sign in")
    assert guarded.post("/answers", data={"q": "pain"}).status_code == 401
    assert guarded.get("/static/console.css").status_code == 200


@pytest.mark.parametrize("path", ["/.well-known/openid-configuration", "/nothing-here"])
def test_what_is_not_there_is_missing_for_everybody(path):
    assert browser(corpus(), Refusing).get(path).status_code == 404


def test_a_caller_without_the_scope_is_told_what_it_would_allow():
    page = Page(browser(corpus(), As(Caller("ann", frozenset({"sync"})))).get("/?q=pain"))
    assert page.status == 403
    assert page.text("div", cls="problem").endswith("for the right to search and read what this server holds.")


@pytest.mark.parametrize(("scopes", "shown"), [({"read", "live"}, True), ({"read"}, False)], ids=["with", "without"])
def test_a_button_is_there_for_callers_with_its_scope(scopes, shown):
    page = Page(browser(corpus(), As(Caller("ann", frozenset(scopes)))).get("/references"))
    assert (page.status, "Check references" in page.texts("button")) == (200, shown)
    assert bool(page.all("p", cls="empty")) is not shown


def test_whoever_comes_without_a_token_can_sign_in(get):
    page = Page(browser(corpus(), As(ANONYMOUS)).get("/?q=pain"))
    assert "/sign-in?next=/" in page.links
    assert page.all("form", action="/sign-out") == []


def test_a_caller_is_named_and_can_sign_out(get):
    page = Page(browser(corpus(), As(Caller("ann", frozenset({"read"})))).get("/"))
    assert "ann" in page.text("form", action="/sign-out")
    assert get("/").all("form", action="/sign-out") == []


def test_where_everybody_may_read_everybody_may_see_the_console():
    settings = Settings.from_env({"BIO_MCP_PUBLIC_READ": "on", "MCP_AUTH_SECRET_KEY": SECRET})
    guard = partial(SignedIn, access=access(settings), sessions=Sessions(lambda: corpus().authorizations, https=False))
    visitor = browser(corpus(), guard)
    page = Page(visitor.get("/?q=1900:3000[dp]"))
    assert (page.status, "/sign-in?next=/" in page.links) == (200, True)
    assert len(page.all("li", cls="hit")) >= 10
    assert visitor.get("/admin/connect").status_code == 200


def test_it_gives_the_address_at_which_the_browser_found_it(get):
    page = get("/admin/connect")
    assert page.text("pre", cls="address") == f"{BASE}/mcp"
    assert f"claude mcp add --transport http bio-mcp {BASE}/mcp" in page.source


def test_it_gives_the_public_address_where_there_is_one():
    page = Page(browser(corpus(), resource_url="https://lit.example.org/mcp").get("/admin/connect"))
    assert page.text("pre", cls="address") == "https://lit.example.org/mcp"


def test_its_buttons_install_this_server(get):
    vscode, cursor = [link for link in get("/admin/connect").links if not link.startswith(("/", "#"))]
    assert json.loads(unquote(urlsplit(vscode).query)) == {"name": "bio-mcp", "type": "http", "url": f"{BASE}/mcp"}
    given = parse_qs(urlsplit(cursor).query)
    assert json.loads(base64.b64decode(given["config"][0])) == {"url": f"{BASE}/mcp"}

"""Who may open a page: people who are signed in, holders of a token, and where there are no tokens, this machine."""

from dataclasses import replace
from datetime import timedelta

import pytest
from starlette.responses import JSONResponse
from starlette.testclient import TestClient

from bio_mcp.adapters.embedded.side_files import SqliteAuthorizations
from bio_mcp.callers import Caller
from bio_mcp.doors.auth.access import access
from bio_mcp.doors.auth.sessions import LIFETIME, SESSION, OwnForms, Sessions, SignedIn, hashed, owner_of, safe_next
from bio_mcp.doors.auth.tokens import KEY
from bio_mcp.errors import StoreFailed
from bio_mcp.literature.clock import utc_now
from bio_mcp.settings import Settings
from tests.doors.auth.minting import SECRET, hs256

ANN = Caller("ann", frozenset({"read", "live"}), "lab")
BASE = "https://mcp.example.org"


async def who(scope, receive, send):
    caller = scope.get(KEY)
    found = [caller.subject, sorted(caller.scopes), caller.tenant] if caller else None
    await JSONResponse(found)(scope, receive, send)


@pytest.fixture
def store(tmp_path, closed):
    return closed(SqliteAuthorizations(tmp_path))


@pytest.fixture
def sessions(store):
    return Sessions(lambda: store, https=True)


def browser(sessions, tokens=True):
    policy = access(Settings(auth_secret=SECRET)) if tokens else None
    return TestClient(OwnForms(SignedIn(who, policy, sessions)), BASE, follow_redirects=False)


def signed_in(sessions, caller=ANN):
    made, response = browser(sessions), JSONResponse(None)
    sessions.begin(caller, response)
    name, _, secret = response.headers["set-cookie"].partition(";")[0].partition("=")
    made.cookies.set(name, secret)
    return made, secret


def test_a_page_knows_who_is_signed_in(sessions):
    made, _ = signed_in(sessions)
    assert made.get("/corpora").json() == ["ann", ["live", "read"], "lab"]


def test_without_tokens_everybody_on_this_machine_may_come_in(sessions):
    assert browser(sessions, tokens=False).get("/").json() is None


def test_the_holder_of_a_token_may_come_in_too(sessions):
    bearer = {"authorization": f"Bearer {hs256(scope='read')}"}
    assert browser(sessions).get("/", headers=bearer).json() == ["ada", ["read"], ""]
    writing = {"authorization": f"Bearer {hs256(scope='ingest')}"}
    assert browser(sessions).get("/", headers=writing).status_code == 403
    assert browser(sessions).get("/", headers={"authorization": "Bearer x"}).status_code == 401


@pytest.mark.parametrize("cookie", [None, "", "x", hashed("x"), "é", "a;b"])
def test_a_browser_that_is_not_signed_in_is_sent_to_the_sign_in_page(sessions, cookie):
    sent = {"cookie": f"{sessions.cookie}={cookie}".encode()} if cookie is not None else {}
    answer = browser(sessions).get("/papers/1?all=1&b=2", headers=sent)
    assert (answer.status_code, answer.headers["location"]) == (303, "/sign-in?next=/papers/1%3Fall%3D1%26b%3D2")


def test_what_cannot_sign_in_is_refused(sessions):
    made = browser(sessions)
    assert made.post("/", headers={"origin": BASE}).status_code == 401
    part = made.get("/syncs", headers={"hx-request": "true"})
    assert (part.status_code, part.headers["hx-redirect"]) == (401, "/sign-in")


def test_who_may_not_read_sees_no_page(sessions):
    made, _ = signed_in(sessions, Caller("ann", frozenset({"ingest"}), "lab"))
    answer = made.get("/")
    assert (answer.status_code, "needs the scope read" in answer.text) == (403, True)


def test_the_store_has_no_cookie_and_the_cookie_no_name(sessions, store, tmp_path):
    _, secret = signed_in(sessions)
    assert store.get(SESSION, hashed(secret)).owner == owner_of(ANN)
    assert not any(secret.encode() in path.read_bytes() for path in tmp_path.iterdir())


@pytest.mark.parametrize(("https", "name"), [(True, "__Host-bio-mcp"), (False, "bio-mcp")])
def test_the_cookie_is_no_scripts_and_no_other_sites(store, https, name):
    response = JSONResponse(None)
    Sessions(lambda: store, https=https).begin(ANN, response)
    first, *attributes = response.headers["set-cookie"].lower().split("; ")
    assert first.startswith(f"{name.lower()}=")
    assert {"httponly", "samesite=lax", "path=/", f"max-age={14 * 86_400}"} <= set(attributes)
    assert ("secure" in attributes, any("domain" in each for each in attributes)) == (https, False)


def test_who_has_signed_out_is_out_also_with_the_old_cookie(sessions):
    made, secret = signed_in(sessions)
    response = JSONResponse(None)
    sessions.end(secret)
    sessions.forget(response)
    assert made.get("/").status_code == 303
    assert f'{sessions.cookie}=""; ' in response.headers["set-cookie"]


def test_a_session_ends_after_its_time(store, sessions):
    made, secret = signed_in(sessions)
    found = store.get(SESSION, hashed(secret))
    assert timedelta(0) <= utc_now() + LIFETIME - found.expires < timedelta(minutes=10)
    store.put(replace(found, expires=utc_now() - timedelta(seconds=1)))
    assert made.get("/").status_code == 303


def test_whoever_is_revoked_is_out_at_once_and_nobody_else(store, sessions):
    ann, _ = signed_in(sessions)
    others = [signed_in(sessions, Caller(*who))[0] for who in [("ann", ANN.scopes), ("bob", ANN.scopes, "lab")]]
    store.revoke(owner_of(ANN))
    assert [each.get("/").status_code for each in (ann, *others)] == [303, 200, 200]


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"sec-fetch-site": "same-origin"}, 200),
        ({"origin": BASE}, 200),
        ({"origin": BASE, "sec-fetch-site": "same-origin"}, 200),
        ({}, 403),
        ({"origin": "null"}, 403),
        ({"origin": "https://allowed.example.org"}, 403),
        ({"origin": BASE, "sec-fetch-site": "cross-site"}, 403),
        ({"sec-fetch-site": "same-site"}, 403),
        ({"sec-fetch-site": "none"}, 403),
    ],
    ids=str,
)
def test_a_form_of_another_sites_page_changes_nothing(sessions, headers, status):
    made, _ = signed_in(sessions)
    assert made.post("/", headers=headers).status_code == status
    assert made.get("/", headers=headers).status_code == 200


def test_an_outage_of_the_store_is_no_sign_out(sessions, caplog):
    def failing():
        raise StoreFailed("the store cannot be reached")

    made = browser(Sessions(failing, https=True))
    answer = made.get("/", headers={"cookie": "__Host-bio-mcp=secret"})
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "5")
    assert "secret" not in caplog.text


@pytest.mark.parametrize("path", ["/", "/papers/1?a=b", "/a//b", "/ümlaut"])
def test_a_sign_in_leads_back_to_a_page_of_this_site(path):
    assert safe_next(path) == path


ELSEWHERE = [
    "//evil.example",
    "/\\evil.example",
    "\\\\evil",
    "https://evil.example",
    "javascript:1",
    "/a\r\nb: c",
    "/\t/x",
]


@pytest.mark.parametrize("path", ["", "x", *ELSEWHERE])
def test_a_sign_in_leads_to_no_other_site(path):
    assert safe_next(path) == "/"

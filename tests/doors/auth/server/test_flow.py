"""People sign in by a link, once, and out; the code flow connects a client that a person allows something."""

from datetime import timedelta

import jwt
import pytest

from bio_mcp.callers import Caller
from bio_mcp.doors.auth.server import code_in
from bio_mcp.doors.auth.sessions import owner_of
from bio_mcp.errors import InvalidInput
from tests.doors.auth.minting import OTHER_SECRET, RESOURCE, SECRET
from tests.doors.auth.server.team import ANN, BACK, DOCUMENT, ORIGIN, Asking, Team, hidden, parameters
from tests.doors.wire import ACCEPT, MODERN


def named(team, tokens):
    return team.access.permitted(team.access.tokens.check(tokens.json()["access_token"]))


def test_a_client_acts_for_the_person_who_allowed_it(team, client, ann):
    answer = client.answer(ann)
    assert answer.headers["location"].startswith(f"{BACK}?")
    back = parameters(answer)
    assert (set(back), back["state"], back["iss"]) == ({"code", "state", "iss"}, "st", ORIGIN)
    tokens = client.exchange(back["code"])
    assert named(team, tokens) == Caller("ann", frozenset({"read", "live"}), "lab", client.id)
    granted = tokens.json()
    assert (granted["token_type"], granted["scope"], granted["expires_in"]) == ("Bearer", "read live", 900)
    assert tokens.headers["cache-control"] == "no-store"


def test_its_token_opens_the_endpoint(client, ann):
    token = client.exchange(client.code(ann)).json()["access_token"]
    meta = {"io.modelcontextprotocol/protocolVersion": MODERN, "io.modelcontextprotocol/clientCapabilities": {}}
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": meta}}
    sent = {"accept": ACCEPT, "mcp-protocol-version": MODERN, "mcp-method": "tools/list"}
    for authorization, status in [(f"Bearer {token}", 200), ("Bearer x", 401)]:
        answer = client.browser.post("/mcp", json=body, headers={**sent, "authorization": authorization})
        assert answer.status_code == status


def test_a_person_who_is_not_signed_in_signs_in_first_and_comes_back(team, client):
    browser = team.browser()
    sent = browser.get(client.request())
    assert sent.headers["location"].startswith("/sign-in?next=/authorize%3F")
    page = browser.get(sent.headers["location"])
    code = team.people.invite(ANN, timedelta(days=1))
    back = browser.post("/sign-in", data={**hidden(page), "code": f"{ORIGIN}/sign-in?code={code}"})
    assert back.headers["location"] == client.request()
    assert browser.get(back.headers["location"]).headers["location"].startswith("/consent?")


def test_a_person_allows_less_than_was_asked_for(team, client, ann):
    tokens = client.exchange(parameters(client.answer(ann, scopes=["read"]))["code"])
    assert (tokens.json()["scope"], named(team, tokens).scopes) == ("read", {"read"})


def test_nobody_allows_more_than_they_may_themselves(team, client, ann):
    everything = "read live sync ingest admin"
    answer = client.answer(ann, scopes=everything.split(), scope=everything)
    assert client.exchange(parameters(answer)["code"]).json()["scope"] == "read live"


@pytest.mark.parametrize("scope", [None, "", "openid offline_access"])
def test_a_client_that_names_no_scope_of_ours_leaves_it_to_the_person(client, ann, scope):
    assert client.exchange(client.code(ann, scope=scope)).json()["scope"] == "read live"


def test_whoever_chooses_nothing_allows_nothing(client, ann, store):
    answer = client.answer(ann, scopes=[])
    assert (answer.status_code, "Nothing was chosen" in answer.text) == (400, True)
    assert store.of("grant", owner_of(ANN)) == []


def test_the_log_says_who_signed_in_and_who_allowed_whom_what(team, client, caplog):
    caplog.set_level("INFO", "bio_mcp")
    browser, code = team.browser(), team.people.invite(ANN, timedelta(days=1))
    browser.post("/sign-in", data={"code": code, "next": "/"})
    client.answer(browser)
    lines = [(each.subject, each.getMessage()) for each in caplog.records if hasattr(each, "subject")]
    assert lines == [("ann", "signed in"), ("ann", "allowed Claude: read live")]


def test_a_refusal_is_reported_to_the_client(client, ann, store):
    back = parameters(client.answer(ann, decision="deny"))
    assert back == {"error": "access_denied", "state": "st", "iss": ORIGIN}
    assert store.of("grant", owner_of(ANN)) == []


def test_a_refresh_token_gives_the_next_ones(team, client, ann):
    first = client.exchange(client.code(ann)).json()
    second = client.refresh(first["refresh_token"])
    assert named(team, second) == Caller("ann", frozenset({"read", "live"}), "lab", client.id)
    assert len({first["refresh_token"], second.json()["refresh_token"]}) == 2
    assert len({first["access_token"], second.json()["access_token"]}) == 2


def test_a_client_may_ask_for_less_for_once(team, client, ann):
    first = client.exchange(client.code(ann)).json()
    less = client.refresh(first["refresh_token"], scope="read")
    assert (less.json()["scope"], named(team, less).scopes) == ("read", {"read"})
    assert client.refresh(less.json()["refresh_token"]).json()["scope"] == "read live"


@pytest.mark.parametrize("which", ["refresh_token", "access_token"])
def test_a_client_ends_its_own_grant(team, client, ann, which):
    tokens = client.exchange(client.code(ann)).json()
    form = {"client_id": client.id, "token": tokens[which]}
    assert client.browser.post("/revoke", data=form).status_code == 200
    assert client.refresh(tokens["refresh_token"]).json()["error"] == "invalid_grant"
    assert client.browser.post("/revoke", data=form).status_code == 200


def test_a_person_who_is_revoked_takes_every_grant_along(team, client, ann):
    tokens = client.exchange(client.code(ann)).json()
    code = client.code(ann)
    team.people.revoke(ANN)
    assert client.refresh(tokens["refresh_token"]).json()["error"] == "invalid_grant"
    assert client.exchange(code).json()["error"] == "invalid_grant"
    assert ann.get(client.request()).headers["location"].startswith("/sign-in")


def test_a_client_with_a_secret_needs_it(team, ann):
    client = Asking(team, token_endpoint_auth_method="client_secret_post")
    secret = client.registered.json()["client_secret"]
    code = client.code(ann)
    assert client.exchange(code).status_code == 401
    assert client.exchange(code, client_secret="x" * len(secret)).json()["error"] == "invalid_client"
    tokens = client.exchange(code, client_secret=secret).json()
    assert client.refresh(tokens["refresh_token"]).status_code == 401
    assert client.refresh(tokens["refresh_token"], client_secret=secret).status_code == 200


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]"])
def test_a_program_on_this_machine_may_listen_on_any_port(team, ann, host):
    client = Asking(team, redirect_uris=[f"http://{host}/callback"])
    uri = f"http://{host}:54321/callback"
    answer = client.answer(ann, redirect_uri=uri)
    assert answer.headers["location"].startswith(f"{uri}?code=")
    assert client.exchange(parameters(answer)["code"], redirect_uri=uri).status_code == 200


def described(team, **changed):
    """A client whose id is the address of what it publishes."""
    team.documents[DOCUMENT] = {"client_id": DOCUMENT, "client_name": "Claude", "redirect_uris": [BACK], **changed}
    client = Asking(team)
    client.id = DOCUMENT
    return client


def test_a_client_is_known_by_the_address_of_its_description(team, ann):
    client = described(team)
    tokens = client.exchange(client.code(ann))
    assert named(team, tokens).client == DOCUMENT
    assert client.refresh(tokens.json()["refresh_token"]).status_code == 200


def test_tokens_come_also_while_the_description_cannot_be_fetched(team, ann):
    client = described(team)
    code = client.code(ann)
    team.documents.clear()
    assert client.refresh(client.exchange(code).json()["refresh_token"]).status_code == 200


def test_nothing_is_fetched_for_whoever_is_not_signed_in(team):
    client = described(team)
    assert team.browser().get(client.request()).headers["location"].startswith("/sign-in")
    assert client.exchange("x").status_code == 401
    assert team.fetched == []


PUBLISHED = {
    "claude": (["https://claude.ai/api/mcp/auth_callback", "https://claude.com/api/mcp/auth_callback"], {}),
    "claude-code": (["http://localhost/callback", "http://127.0.0.1/callback"], {"token_endpoint_auth_method": "none"}),
    "chatgpt": (
        ["https://chatgpt.com/connector_platform_oauth_redirect"],
        {
            "token_endpoint_auth_method": "private_key_jwt",
            "token_endpoint_auth_methods_supported": ["none", "private_key_jwt"],
            "jwks_uri": "https://chatgpt.com/oauth/jwks.json",
        },
    ),
    "vscode": (["http://127.0.0.1:33418/", "https://vscode.dev/redirect"], {"token_endpoint_auth_method": "none"}),
}
"""Where known clients have people sent back to, and what they say of authentication."""


@pytest.mark.parametrize("name", PUBLISHED)
def test_known_clients_are_connected_by_what_they_publish(team, ann, name):
    redirects, more = PUBLISHED[name]
    client = described(team, redirect_uris=redirects, **more)
    for uri in redirects:
        tokens = client.exchange(client.code(ann, redirect_uri=uri), redirect_uri=uri)
        assert (tokens.status_code, tokens.json()["scope"]) == (200, "read live")


@pytest.mark.parametrize(
    "changed",
    [
        {"client_id": "https://client.example/oauth/other.json"},
        {"client_id": None},
        {"redirect_uris": []},
        {"redirect_uris": "https://client.example/back"},
        {"redirect_uris": ["http://client.example/back", "javascript:alert(1)"]},
        {"redirect_uris": ["https://client|example/", 7, None, "https://[::1/"]},
        {"client_secret": "x"},
        {"token_endpoint_auth_method": "client_secret_post"},
        {"token_endpoint_auth_method": "private_key_jwt"},
        {"token_endpoint_auth_method": "private_key_jwt", "token_endpoint_auth_methods_supported": "none"},
    ],
    ids=str,
)
def test_a_description_that_does_not_fit_is_no_client(team, ann, changed):
    answer = ann.get(described(team, **changed).request())
    assert (answer.status_code, "location" in answer.headers) == (400, False)
    assert "is not answered" in answer.text


@pytest.mark.parametrize(
    "address",
    [
        "http://client.example/c.json",
        "https://client.example/",
        "https://client.example/a/../c.json",
        "https://client.example/c.json#x",
        "https://[::1/c.json",
        "file:///etc/passwd",
    ],
)
def test_what_is_no_address_of_a_description_is_not_fetched(team, client, ann, address):
    assert ann.get(client.request(client_id=address)).status_code == 400
    assert team.fetched == []


def test_a_key_that_was_replaced_still_knows_its_clients_and_one_that_is_gone_does_not(client, ann, store, portal):
    code = client.code(ann)
    both = Team(store, portal, keys=[OTHER_SECRET, SECRET])
    client.browser = both.browser()
    tokens = client.exchange(code)
    assert both.access.tokens.check(tokens.json()["access_token"]).subject == "ann"
    client.browser = Team(store, portal, keys=[OTHER_SECRET]).browser()
    assert client.refresh(tokens.json()["refresh_token"]).json()["error"] == "invalid_client"


@pytest.mark.parametrize(("wanted", "has"), [("team", True), ("bio:read", True), ("bio:write", False)])
def test_a_token_has_what_the_settings_want_in_every_one_unless_it_would_allow_more(store, portal, wanted, has):
    team = Team(store, portal, auth_scopes=(wanted,))
    client, ann = Asking(team), team.person()
    token = client.exchange(client.code(ann)).json()["access_token"]
    assert team.access.tokens.check(token).scopes == {"read", "live", *([wanted] if has else [])}


def test_a_token_names_what_it_is_for(team, client, ann):
    claims = jwt.decode(client.exchange(client.code(ann)).json()["access_token"], options={"verify_signature": False})
    assert (claims["iss"], claims["aud"], claims["tenant"]) == (ORIGIN, RESOURCE, "lab")
    assert claims["exp"] - claims["iat"] == 900


DAY = timedelta(days=1)


def test_a_link_says_whom_it_signs_in_and_a_button_does_it(team):
    browser, code = team.browser(), team.people.invite(ANN, DAY)
    page = browser.get(f"/sign-in?code={code}")
    assert "Sign in as ann" in page.text
    assert "of <strong>lab</strong>" in page.text
    assert "search and read what this server holds" in page.text
    answer = browser.post("/sign-in", data=hidden(page))
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    cookie = answer.headers["set-cookie"]
    assert cookie.startswith("__Host-bio-mcp=")
    assert {"HttpOnly", "Secure", "SameSite=lax", "Path=/"} <= set(cookie.split("; "))


def test_a_link_is_good_once(team):
    code = team.people.invite(ANN, DAY)
    statuses = [team.browser().post("/sign-in", data={"code": code, "next": "/"}).status_code for _ in range(2)]
    assert statuses == [303, 400]
    assert "used already" in team.browser().get(f"/sign-in?code={code}").text


def test_a_link_ends_with_its_time(team):
    code = team.people.invite(ANN, -DAY)
    assert team.browser().post("/sign-in", data={"code": code, "next": "/"}).status_code == 400


@pytest.mark.parametrize("code", ["", "x", "é" * 3_000, "' OR 1=1 --", "\0"])
def test_what_is_no_code_signs_nobody_in(team, code):
    answer = team.browser().post("/sign-in", data={"code": code, "next": "/"})
    assert (answer.status_code, "set-cookie" in answer.headers) == (400, False)


@pytest.mark.parametrize("given", ["c0de", " c0de\n", f"{ORIGIN}/sign-in?code=c0de", f"{ORIGIN}/sign-in?a=b&code=c0de"])
def test_a_code_is_found_in_what_was_pasted(given):
    assert code_in(given) == "c0de"


@pytest.mark.parametrize("address", ["//evil.example", "https://evil.example", "/\\evil.example"])
def test_nobody_is_led_to_another_site(team, address):
    code = team.people.invite(ANN, DAY)
    assert 'name="next" value="/"' in team.browser().get("/sign-in", params={"next": address}).text
    assert team.browser().post("/sign-in", data={"code": code, "next": address}).headers["location"] == "/"


@pytest.mark.parametrize(
    "headers", [{"sec-fetch-site": "cross-site"}, {"sec-fetch-site": "", "origin": "null"}], ids=str
)
def test_another_sites_page_signs_nobody_in_or_out(team, headers):
    code = team.people.invite(ANN, DAY)
    refused = team.browser().post("/sign-in", data={"code": code, "next": "/"}, headers=headers)
    assert (refused.status_code, "set-cookie" in refused.headers) == (403, False)
    ann = team.person()
    ann.post("/sign-out", headers=headers)
    assert ann.get("/consent").status_code == 400


def test_who_signs_out_is_out(team):
    ann = team.person()
    assert ann.post("/sign-out").headers["location"] == "/sign-in"
    assert ann.get("/consent").headers["location"].startswith("/sign-in?next=")


def test_a_file_in_the_place_of_a_code_is_none(team):
    answer = team.browser().post("/sign-in", files={"code": ("x", b"x")}, data={"next": "/"})
    assert answer.status_code == 400


@pytest.mark.parametrize("subject", ["", " ", "a b", "a:b", "a\nb", "x" * 65, "<b>"])
def test_a_name_that_could_be_another_is_not_invited(team, subject):
    with pytest.raises(InvalidInput, match="64 letters"):
        team.people.invite(Caller(subject), DAY)
    with pytest.raises(InvalidInput, match="64 letters"):
        team.people.invite(Caller("ann", tenant=subject or " "), DAY)


def test_everyone_who_was_invited_is_listed_with_what_is_open(team):
    team.people.invite(Caller("bob", frozenset({"read"})), DAY)
    team.person()
    team.people.invite(ANN, DAY)
    assert team.people.everyone() == [Caller("bob", frozenset({"read"})), ANN]
    counts = {kind: len(found) for kind, found in team.people.open_for(ANN).items()}
    assert counts == {"invitation": 1, "session": 1, "grant": 0, "token": 0}
    assert team.people.revoke(ANN) == 2
    assert team.people.everyone() == [Caller("bob", frozenset({"read"}))]


def test_whoever_signs_in_again_leaves_the_session_before(team, store):
    ann = team.person()
    before = ann.cookies.get(team.sessions.cookie)
    ann.post("/sign-in", data={"code": team.people.invite(ANN, DAY), "next": "/"})
    assert (len(store.of("session", owner_of(ANN))), team.sessions.caller(before)) == (1, None)
    assert ann.get("/consent").status_code == 400


def test_one_grant_ends_alone(team, client):
    ann = team.person()
    tokens = [client.exchange(client.code(ann)).json()["refresh_token"] for _ in range(2)]
    first, second = team.people.open_for(ANN)["grant"]
    assert team.people.end(ANN, first.key[:12]) == 1
    assert team.people.open_for(ANN)["grant"] == [second]
    assert sorted(client.refresh(token).status_code for token in tokens) == [200, 400]
    assert team.people.end(Caller("bob"), second.key) == 0

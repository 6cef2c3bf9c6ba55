"""People sign in by a link that they were given, once, and out."""

from datetime import timedelta

import pytest

from bio_mcp.callers import Caller
from bio_mcp.doors.auth.server import code_in
from bio_mcp.doors.auth.sessions import People, owner_of
from bio_mcp.errors import InvalidInput
from bio_mcp.literature.clock import utc_now
from tests.doors.auth.server.team import ANN, ORIGIN, hidden

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


def test_a_link_ends_with_its_time(team, store):
    code = People(lambda: store, now=lambda: utc_now() - 2 * DAY).invite(ANN, DAY)
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
    assert counts == {"invitation": 1, "session": 1, "grant": 0}
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

"""The page People: what is open in one's name, tokens, budgets, and for administrators everybody of their tenant."""

import re
from dataclasses import replace
from datetime import timedelta

import pytest
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.testclient import TestClient

from bio_mcp.adapters.embedded.side_files import SqliteAuthorizations, SqliteBudgets
from bio_mcp.callers import Caller
from bio_mcp.doors.auth.access import access
from bio_mcp.doors.auth.sessions import GRANT, People, Sessions, naming, new_secret, owner_of
from bio_mcp.doors.auth.tokens import TokenRejected
from bio_mcp.doors.console import people
from bio_mcp.literature.clock import utc_now
from bio_mcp.scope import Limits, Meter
from bio_mcp.settings import Settings
from tests.doors.auth.minting import RESOURCE, SECRET
from tests.doors.console.pages import Page

BASE = "https://mcp.example.org"
SETTINGS = Settings(auth_secret=SECRET, resource_url=RESOURCE)
ANN = Caller("ann", frozenset({"read", "live"}), "lab")
BOSS = Caller("boss", frozenset({"read", "admin"}), "lab")


class Team:
    """The page over stores of its own, for people who are signed in."""

    def __init__(self, store, budgets):
        self.store, self.people = store, People(lambda: store)
        self.access = access(SETTINGS, lambda: store)
        self.limits = Limits(budgets, {"ncbi": 100, "calls": 9}, {"lab:embeddings": 50}, {})
        self.sessions = Sessions(lambda: store, https=True)
        pages = people.routes(self.access, self.sessions, lambda: store, lambda: self.limits)
        self.app = Starlette(routes=pages)

    def signed_in(self, caller):
        """A browser of the caller's."""
        made, response = self.anybody(), JSONResponse(None)
        self.sessions.begin(caller, response)
        name, _, secret = response.headers["set-cookie"].partition(";")[0].partition("=")
        made.cookies.set(name, secret)
        return made

    def anybody(self, **headers):
        sent = {"sec-fetch-site": "same-origin", **headers}
        return TestClient(self.app, BASE, headers=sent, follow_redirects=False)


@pytest.fixture
def team(tmp_path, closed):
    return Team(closed(SqliteAuthorizations(tmp_path)), closed(SqliteBudgets(tmp_path)))


def look(browser, query=""):
    return Page(browser.get(f"/admin/people{query}"))


def opened(page):
    """What is open, by the first cell of each row, with what it may do."""
    return {row[0]: row[1] for row in page.rows() if len(row) == 5}


def do(browser, what, **fields):
    return browser.post("/admin/people", data={"do": what, **fields})


def test_everybody_sees_what_is_open_in_their_own_name_and_nobody_elses(team):
    ann = team.signed_in(ANN)
    team.signed_in(BOSS)
    grant = naming(ANN, GRANT, new_secret(), owner_of(ANN), utc_now() + timedelta(days=9))
    team.store.put(replace(grant, content={**grant.content, "client": "Claude"}))
    page = look(ann)
    assert opened(page) == {"What": "May", "Browser this one": "read, live", "Program Claude": "read, live"}
    assert "Invite" not in page.texts("button")
    assert look(ann, "?subject=boss").status == 404


def test_a_program_is_ended(team):
    ann = team.signed_in(ANN)
    team.store.put(naming(ANN, GRANT, new_secret(), owner_of(ANN), utc_now() + timedelta(days=9)))
    [found] = [each[1]["value"] for each in look(ann).all("input", name="id")][1:]
    assert do(ann, "end", id=found).headers["location"] == "/admin/people"
    assert list(opened(look(ann))) == ["What", "Browser this one"]


def test_a_token_is_shown_once_does_what_was_chosen_and_is_good_until_it_is_ended(team):
    ann = team.signed_in(ANN)
    made = Page(do(ann, "token", name="nightly script", scope=["read", "admin"], days="90"))
    token = made.text("pre")
    assert team.access.tokens.check(token) == Caller("ann", frozenset({"read"}), "lab")
    page = look(ann)
    assert opened(page)["Token nightly script"] == "read"
    assert token not in page.source
    [found] = [each[1]["value"] for each in page.all("input", name="id")][1:]
    do(ann, "end", id=found)
    with pytest.raises(TokenRejected, match="was ended"):
        team.access.tokens.check(token)
    with pytest.raises(TokenRejected, match="was ended"):  # nor where nobody can look
        access(SETTINGS).tokens.check(token)


def test_a_token_of_the_command_is_listed_and_ended_by_an_administrator_of_its_tenant(team, cli, tmp_path):
    cli.home, cli.settings = tmp_path, {"auth_secret": SECRET, "resource_url": RESOURCE}
    token = cli("token", "--subject", "nightly-job", "--scopes", "read", "--tenant", "lab").out.strip()
    assert team.access.tokens.check(token).subject == "nightly-job"
    boss = team.signed_in(BOSS)
    assert ["nightly-job", "read"] in look(boss).rows()
    page = look(boss, "?subject=nightly-job")
    assert opened(page) == {"What": "May", "Token": "read"}
    [found] = [each[1]["value"] for each in page.all("input", name="id")]
    do(boss, "end", subject="nightly-job", id=found)
    with pytest.raises(TokenRejected, match="was ended"):
        team.access.tokens.check(token)


@pytest.mark.parametrize(
    "fields",
    [
        {"name": " ", "scope": "read"},
        {"name": "x" * 65, "scope": "read"},
        {"name": "x"},
        {"name": "x", "scope": "sync"},
    ],
    ids=["no name", "long name", "no scope", "not theirs"],
)
def test_a_token_that_cannot_be_made_is_explained(team, fields):
    ann = team.signed_in(ANN)
    answer = do(ann, "token", **fields)
    assert (answer.status_code, bool(Page(answer).all("div", cls="problem"))) == (400, True)
    assert len(opened(look(ann))) == 2


def test_an_administrator_invites_into_their_own_tenant_what_they_may_do_themselves(team):
    boss = team.signed_in(BOSS)
    page = Page(do(boss, "invite", name="cy", scope=["read", "ingest"], days="1"))
    link = page.text("pre")
    assert link.startswith(f"{BASE}/sign-in?code=")
    assert link not in look(boss).source
    assert team.people.accept(link.partition("=")[2]) == Caller("cy", frozenset({"read"}), "lab")
    assert ["cy", "read"] in look(boss).rows()


@pytest.mark.parametrize("fields", [{"name": "a b", "scope": "read"}, {"name": "cy"}], ids=["name", "no scope"])
def test_an_invitation_that_cannot_be_made_is_explained(team, fields):
    answer = do(team.signed_in(BOSS), "invite", **fields)
    assert (answer.status_code, bool(Page(answer).all("div", cls="problem"))) == (400, True)
    assert team.people.everyone() == []


def test_an_administrator_ends_what_others_of_the_tenant_have_open(team):
    ann, boss = team.signed_in(ANN), team.signed_in(BOSS)
    team.people.invite(ANN, timedelta(days=1))
    assert list(opened(look(boss, "?subject=ann"))) == ["What", "Browser", "Link not used yet"]
    assert do(boss, "revoke", subject="ann").headers["location"] == "/admin/people?subject=ann"
    assert "nothing open" in look(boss, "?subject=ann").text("p", cls="empty")
    assert ann.get("/admin/people").status_code == 303


def test_nobody_reaches_another_tenant(team):
    other = Caller("ann", ANN.scopes, "clinic")
    stranger, boss = team.signed_in(other), team.signed_in(BOSS)
    team.people.invite(other, timedelta(days=1))
    assert "nothing open" in look(boss, "?subject=ann").text("p", cls="empty")
    assert ["ann", "read, live"] not in look(boss).rows()
    do(boss, "revoke", subject="ann")
    assert len(opened(look(stranger))) == 3


@pytest.mark.parametrize("what", ["invite", "revoke", "end", "token", "", "other"])
def test_who_may_not_administer_changes_nothing_of_others(team, what):
    ann, boss = team.signed_in(ANN), team.signed_in(BOSS)
    [found] = [each[1]["value"] for each in look(boss).all("input", name="id")]
    answer = do(ann, what, subject="boss", id=found, name="x", scope="read")
    assert answer.status_code == 404
    assert list(opened(look(boss))) == ["What", "Browser this one"]
    assert team.people.everyone() == []


def test_what_was_used_today_is_shown_of_its_budgets(team):
    Meter(ANN, lambda: team.limits).spend("ncbi", 7)
    Meter(Caller("cy", tenant="lab"), lambda: team.limits).spend("embeddings", 5)
    rows = [row for row in look(team.signed_in(ANN)).rows() if len(row) == 4]
    assert rows[1:] == [["requests to NCBI", "ann", "7", "100"], ["embedded texts", "all of lab", "5", "50"]]


def test_a_form_of_another_site_and_a_token_without_a_session_are_refused(team):
    assert do(team.signed_in(BOSS), "invite", name="cy", scope="read").status_code == 200
    boss = team.signed_in(BOSS)
    boss.headers["sec-fetch-site"] = "cross-site"
    assert do(boss, "invite", name="dee", scope="read").status_code == 403
    token, _ = team.people.give_token(team.access, BOSS, "script", timedelta(days=1))
    program = team.anybody(authorization=f"Bearer {token}")
    assert re.match("/sign-in", program.get("/admin/people").headers["location"])
    assert do(program, "invite", name="dee", scope="read").status_code == 401
    assert [each.subject for each in team.people.everyone()] == ["boss", "cy"]


def test_where_nobody_signs_in_the_page_says_so(get):
    page = get("/admin/people")
    assert (page.status, page.text("h1")) == (200, "People")
    assert "Nobody signs in here" in page.text("p", cls="empty")

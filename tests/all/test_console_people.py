"""The page People in a browser: tokens, invitations and what is open, by keyboard, without scripts, judged by axe."""

import re

import httpx
import pytest

from tests.all.browsing import LOOKS, chromium, looked_at, opened, overflow, violations
from tests.all.team import team
from tests.doors.console.pages import browser
from tests.doors.serving import running
from tests.support.sample_corpus import Corpus

__all__ = ["chromium", "team"]  # fixtures

LISTING = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}


def sign_in(page, team, name, scopes="read,live"):
    page.goto(team.invite(name, scopes))
    page.get_by_role("button", name=f"Sign in as {name}").click()
    page.wait_for_url(f"{team.base}/")


def reached(team, token):
    """The status of the endpoint's answer to a token."""
    headers = {"authorization": f"Bearer {token}", "accept": "application/json, text/event-stream"}
    return httpx.post(f"{team.base}/mcp", json=LISTING, headers=headers).status_code


@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "no scripts"])
def test_a_token_is_made_used_and_ended(chromium, team, scripts):
    with opened(chromium, team.base, scripts=scripts) as (page, complaints):
        sign_in(page, team, "ann")
        page.goto("/admin/people")
        page.get_by_label("Name", exact=True).fill("nightly script")
        page.get_by_role("checkbox", name=re.compile("live")).uncheck()
        page.get_by_label("Good for").select_option("90")
        page.get_by_role("button", name="Make a token").click()
        token = page.locator("pre").inner_text()
        assert reached(team, token) == 200
        page.goto("/admin/people")
        assert page.locator("pre").count() == 0  # it is shown once
        assert page.get_by_role("row", name="nightly script").get_by_role("cell").first.inner_text() == "read"
        page.get_by_role("button", name="End: token nightly script").click()
        page.get_by_role("row", name="nightly script").wait_for(state="detached")
        assert reached(team, token) == 401
        assert complaints == []


def test_an_administrator_invites_by_keyboard_and_ends_what_others_have_open(chromium, team):
    with opened(chromium, team.base) as (page, _), opened(chromium, team.base) as (other, _):
        sign_in(page, team, "boss", "read,live,admin")
        page.goto("/admin/people")
        page.get_by_label("Name or e-mail address").focus()
        page.keyboard.type("cy")
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        link = page.get_by_role("status").locator("pre").inner_text()
        other.goto(link)
        other.get_by_role("button", name="Sign in as cy").click()
        other.wait_for_url(f"{team.base}/")
        page.get_by_role("link", name="cy").press("Enter")
        page.get_by_role("heading", name="cy", exact=True).wait_for()
        page.get_by_role("button", name="End all of it").press("Enter")
        page.get_by_text("cy has nothing open").wait_for()
        other.goto("/")
        assert "/sign-in" in other.url


@pytest.mark.parametrize(("theme", "width"), LOOKS)
def test_the_page_is_accessible_and_fits_the_screen(chromium, team, theme, width):
    with opened(chromium, team.base, theme, width) as (page, complaints):
        sign_in(page, team, "dee", "read,live,admin")
        page.goto("/admin/people")
        page.get_by_label("Name", exact=True).fill("a script with a name of some length")
        page.get_by_role("button", name="Make a token").click()
        page.get_by_role("heading", name="The token").wait_for()
        looked_at(page, f"people-{theme}-{width}")
        assert (violations(page), overflow(page) <= 0) == ([], True)
        page.goto("/admin/people?subject=nobody")
        looked_at(page, f"person-{theme}-{width}")
        assert (violations(page), overflow(page) <= 0) == ([], True)
        assert complaints == []


def test_a_computer_without_sign_in_says_so(chromium, tmp_path):
    made = Corpus(tmp_path, [])
    with running(browser(made).app) as url, opened(chromium, url, width=390) as (page, complaints):
        page.goto("/admin/people")
        looked_at(page, "people-nobody")
        assert page.get_by_text("Nobody signs in here").is_visible()
        assert violations(page) == []
        assert complaints == []
    made.close()

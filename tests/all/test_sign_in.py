"""Signing in and allowing a program, in a browser: what it does with cookies, forms and redirects, how it looks."""

import base64
import hashlib
import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlencode, urlsplit

import httpx
import pytest

from tests.all.browsing import LOOKS, chromium, looked_at, opened, overflow, violations
from tests.all.team import team

__all__ = ["chromium", "team"]  # fixtures

VERIFIER = "v" * 43
CHALLENGE = base64.urlsafe_b64encode(hashlib.sha256(VERIFIER.encode()).digest()).rstrip(b"=").decode()


@contextmanager
def program():
    """A program that waits on loopback for an answer; gives its address, and what it was sent."""
    sent = []

    class Waiting(BaseHTTPRequestHandler):
        def do_GET(self):
            sent.append({name: value for name, [value] in parse_qs(urlsplit(self.path).query).items()})
            self.send_response(200)
            self.send_header("content-type", "text/html")
            self.end_headers()
            self.wfile.write(b"<link rel=icon href=data:,><title>done</title><p>You may close this page.")

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Waiting) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/callback", sent
        finally:
            server.shutdown()
            thread.join()


def asking(team, back, name="Claude"):
    """The client's id and the address that it sends a person to."""
    metadata = {"redirect_uris": [back], "token_endpoint_auth_method": "none", "client_name": name}
    client_id = httpx.post(f"{team.base}/register", json=metadata).json()["client_id"]
    asked = {
        "response_type": "code",
        "client_id": client_id,
        "redirect_uri": back,
        "code_challenge": CHALLENGE,
        "code_challenge_method": "S256",
        "state": "st",
        "resource": f"{team.base}/mcp",
    }
    return client_id, f"{team.base}/authorize?{urlencode(asked)}"


def test_a_person_signs_in_allows_a_program_and_signs_out(chromium, team):
    with program() as (back, sent), opened(chromium, team.base) as (page, complaints):
        client_id, address = asking(team, back)
        page.goto(address)
        page.get_by_label("Link or code").fill(team.invite())
        page.get_by_role("button", name="Sign in").click()
        page.get_by_text("A program that calls itself").wait_for()
        assert page.get_by_text("this computer").is_visible()
        page.get_by_label("ask PubMed").uncheck()
        page.get_by_role("button", name="Allow").click()
        page.get_by_text("You may close this page").wait_for()
        form = {"grant_type": "authorization_code", "code": sent[0]["code"], "redirect_uri": back}
        form |= {"client_id": client_id, "code_verifier": VERIFIER}
        assert httpx.post(f"{team.base}/token", data=form).json()["scope"] == "read"
        page.goto("/")
        page.get_by_role("button", name="Sign out").click()
        page.get_by_role("heading", name="Sign in").wait_for()
        page.goto("/")
        assert "/sign-in" in page.url
        assert complaints == []
    [grant] = json.loads(team.run("admin", "people", "--subject", "ann", "--json"))["grants"]
    assert (grant["client"], grant["scopes"]) == ("Claude", ["read"])


def test_a_program_is_refused_without_scripts(chromium, team):
    with program() as (back, sent), opened(chromium, team.base, scripts=False) as (page, _):
        _, address = asking(team, back)
        page.goto(team.invite("bob"))
        page.get_by_role("button", name="Sign in as bob").click()
        page.wait_for_url(f"{team.base}/")
        page.goto(address)
        page.get_by_role("button", name="Refuse").click()
        page.get_by_text("You may close this page").wait_for()
    assert sent == [{"error": "access_denied", "state": "st", "iss": team.base}]


@pytest.mark.parametrize(("theme", "width"), LOOKS)
def test_its_pages_are_accessible_and_fit_the_screen(chromium, team, theme, width):
    with opened(chromium, team.base, theme, width) as (page, complaints):
        link = team.invite("cy", "read,live,sync,ingest,admin")
        _, address = asking(team, "https://claude.ai/api/mcp/auth_callback", "A program with a name of some length")
        for name, at in [("sign-in", "/sign-in"), ("used", "/sign-in?code=x"), ("invited", link), ("consent", address)]:
            page.goto(at)
            if name == "invited":
                looked_at(page, f"{name}-{theme}-{width}")
                assert (violations(page), overflow(page) <= 0) == ([], True)
                page.get_by_role("button", name="Sign in as cy").click()
                page.wait_for_url(f"{team.base}/")
                continue
            looked_at(page, f"{name}-{theme}-{width}")
            assert (violations(page), overflow(page) <= 0) == ([], True)
        page.goto("/consent?request=x")
        looked_at(page, f"too-old-{theme}-{width}")
        assert (violations(page), overflow(page) <= 0) == ([], True)
        assert [each for each in complaints if "status of 4" not in each] == []

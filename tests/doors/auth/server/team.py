"""An authorization server beside the sample tools, people with browsers, and a client by hand."""

import base64
import hashlib
import json
import re
from dataclasses import replace
from html import unescape
from urllib.parse import parse_qs, urlencode, urlsplit

from starlette.responses import Response
from starlette.testclient import TestClient

from bio_mcp.callers import Caller
from bio_mcp.doors.auth import server as sign_in
from bio_mcp.doors.auth.access import access
from bio_mcp.doors.auth.sessions import People, Sessions
from bio_mcp.doors.auth.tokens import hmac_keys
from bio_mcp.doors.console import people
from bio_mcp.errors import InvalidInput
from bio_mcp.refreshing import RefreshingValue
from bio_mcp.settings import Settings
from tests.doors.auth.minting import RESOURCE, SECRET
from tests.doors.conftest import sample_app

ORIGIN = "https://mcp.example.org"
BACK = "https://client.example/back"
DOCUMENT = "https://client.example/oauth/client.json"
VERIFIER = "v" * 43
CHALLENGE = base64.urlsafe_b64encode(hashlib.sha256(VERIFIER.encode()).digest()).rstrip(b"=").decode()
ANN = Caller("ann", frozenset({"read", "live"}), "lab")
FIELD = re.compile(r'<input type="hidden" name="(\w+)" value="([^"]*)">')


class Team:
    """The server over `store`; `documents` is what clients publish, by address, `keys` are the newest first."""

    def __init__(self, store, portal, keys=(SECRET,), **settings):
        given = Settings(auth_secret=SECRET, resource_url=RESOURCE, **settings)
        configured = access(given)
        tokens = replace(configured.tokens, keys=RefreshingValue(lambda: hmac_keys(keys)))
        self.access = replace(configured, tokens=tokens)
        self.documents, self.fetched, self._portal = {}, [], portal
        self.store = store
        self.people = People(self._stored)
        self.sessions = Sessions(self._stored, https=True)
        pages = sign_in.routes(self.access, self.sessions, self._stored, self._read)
        pages += people.routes(self.access, self.sessions, self._stored, lambda: None)
        self.app = sample_app(given, access=self.access, public=True, pages=pages)

    def _stored(self):
        return self.store

    def _read(self, address):
        self.fetched.append(address)
        if address not in self.documents:
            raise InvalidInput("its host answers 404 instead of a document")
        return json.dumps(self.documents[address]).encode()

    def browser(self):
        """A browser of nobody."""
        browser = TestClient(self.app, ORIGIN, headers={"sec-fetch-site": "same-origin"}, follow_redirects=False)
        browser.portal = self._portal  # one thread for all, as each would cost more than its test
        return browser

    def person(self, caller=ANN):
        """The browser of a person who is signed in."""
        browser, response = self.browser(), Response()
        self.sessions.begin(caller, response)
        name, _, secret = response.headers["set-cookie"].partition(";")[0].partition("=")
        browser.cookies.set(name, secret, domain="mcp.example.org")
        return browser


def hidden(page):
    """The hidden fields of a page's form."""
    return {name: unescape(value) for name, value in FIELD.findall(page.text)}


class Asking:
    """A client that has registered itself with `metadata`, and what it asks."""

    def __init__(self, team, **metadata):
        self.team, self.browser = team, team.browser()
        given = {"redirect_uris": [BACK], "token_endpoint_auth_method": "none", "client_name": "Claude", **metadata}
        self.registered = self.browser.post("/register", json=given)
        self.id = self.registered.json().get("client_id")

    def request(self, **changed):
        """The address that it sends a person to; a parameter that is changed to None is left out."""
        asked = {
            "response_type": "code",
            "client_id": self.id,
            "redirect_uri": BACK,
            "code_challenge": CHALLENGE,
            "code_challenge_method": "S256",
            "state": "st",
            "resource": RESOURCE,
            "scope": "read live",
            **changed,
        }
        return f"/authorize?{urlencode({name: value for name, value in asked.items() if value is not None})}"

    def answer(self, person, scopes=("read", "live"), decision="allow", **changed):
        """Where the person's browser is sent who decides so."""
        page = person.get(person.get(self.request(**changed)).headers["location"])
        decided = {**hidden(page), "decision": decision, "scope": list(scopes)}
        return person.post("/consent", data=decided)

    def code(self, person, **changed):
        return parameters(self.answer(person, **changed))["code"]

    def token(self, **form):
        return self.browser.post("/token", data={"client_id": self.id, **form})

    def exchange(self, code, **changed):
        form = {"grant_type": "authorization_code", "code": code, "redirect_uri": BACK, "code_verifier": VERIFIER}
        return self.token(**{**form, "resource": RESOURCE, **changed})

    def refresh(self, token, **changed):
        return self.token(grant_type="refresh_token", refresh_token=token, **changed)


def parameters(response):
    """The parameters of the address that a response leads to."""
    return {name: value for name, [value] in parse_qs(urlsplit(response.headers["location"]).query).items()}

"""3,000 requests without sense to the pages of signing in, connecting and people: none makes them fail, or gives
anything."""

import json
import random
from urllib.parse import urlencode

from bio_mcp.callers import Caller
from bio_mcp.doors.auth.server import REQUESTS_A_MINUTE
from tests.doors.auth.server.conftest import ann, client, portal, store, team
from tests.doors.auth.server.team import BACK, CHALLENGE, DOCUMENT, RESOURCE, VERIFIER, Team

__all__ = ["ann", "client", "portal", "store", "team"]  # fixtures

PATHS = ["/authorize", "/consent", "/token", "/register", "/revoke", "/sign-in", "/sign-out", "/admin/people"]
BOSS = Caller("boss", frozenset({"read", "admin"}), "lab")
NAMES = (
    "client_id redirect_uri response_type code_challenge code_challenge_method state scope resource grant_type code "
    "code_verifier refresh_token client_secret token token_type_hint request decision next assertion "
    "do id name subject days"
).split()
TEXTS = [
    *("", "x", "\0", "é", "\u202e", "\ud800", "%00", "{}", "[]", "1e999", "a" * 3_000),
    *(DOCUMENT, BACK, RESOURCE, CHALLENGE, VERIFIER, "http://127.0.0.1:1/cb", "javascript:1", "https://[::1/"),
    *("registered.", "registered.a.b", "S256", "plain", "code", "read", "read admin", "allow", "none"),
    *("invite", "end", "revoke", "boss"),
    *("authorization_code", "refresh_token", "urn:ietf:params:oauth:grant-type:jwt-bearer", "client_secret_post"),
]
KEYS = "redirect_uris client_name token_endpoint_auth_method grant_types response_types scope client_uri jwks".split()
VALUES = [1, None, [], {}, "x", ["https://a/b"], ["\ud800"], [BACK], "none", ["authorization_code"], ["code"]]
TYPES = ["application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "text/plain"]


def sent(dice, browser, path, texts, good):
    """One request to `path`, and its answer."""
    if path == "/register":
        body = {"redirect_uris": [BACK], **{dice.choice(KEYS): dice.choice(VALUES) for _ in range(4)}}
        return browser.post(path, content=json.dumps(body))
    given = {dice.choice(NAMES): dice.choice(texts).encode("utf-8", "surrogatepass") for _ in range(dice.randint(0, 8))}
    query = urlencode({**good, **given} if path == "/authorize" and dice.random() < 0.5 else given)
    if dice.random() < 0.5:
        return browser.get(f"{path}?{query}")
    return browser.post(path, content=query, headers={"content-type": dice.choice(TYPES)})


def fuzzed(dice, team, texts, good):
    """As many requests as one address may send in a minute: what failed, and what let somebody in."""
    person, stranger, wrong = team.person(BOSS), team.browser(), []
    for _ in range(REQUESTS_A_MINUTE):
        path = dice.choice(PATHS)
        answer = sent(dice, dice.choice([person, stranger]), path, texts, good)
        if answer.status_code >= 500 or (path == "/token" and "access_token" in answer.text):
            wrong.append((path, answer.text[:200]))
        person = team.person(BOSS) if path in ("/sign-out", "/admin/people") else person
    return wrong


def test_no_request_makes_them_fail_or_lets_anybody_in(client, ann, store, portal):
    token = client.exchange(client.code(ann)).json()
    good = {"response_type": "code", "client_id": client.id, "redirect_uri": BACK, "code_challenge": CHALLENGE}
    texts = [*TEXTS, client.id, token["access_token"], client.code(ann)]
    for seed in range(10):
        team = Team(store, portal)
        team.documents[DOCUMENT] = {"client_id": DOCUMENT, "redirect_uris": [BACK]}
        assert fuzzed(random.Random(seed), team, texts, good) == []  # noqa: S311  no secret
    assert client.refresh(token["refresh_token"]).status_code == 200

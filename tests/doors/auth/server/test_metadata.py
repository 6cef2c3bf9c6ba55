"""Where the authorization server stands, how clients find it, and where it sends people back to."""

import pytest

from bio_mcp.callers import SCOPES
from bio_mcp.doors.auth.access import access
from bio_mcp.doors.auth.clients import comparable, host_of, is_allowed
from bio_mcp.errors import StoreFailed
from bio_mcp.settings import Settings
from tests.doors.auth.minting import ISSUER, RESOURCE, SECRET
from tests.doors.auth.server.team import ORIGIN

KEYS = "https://issuer.example.org/keys"


@pytest.mark.parametrize(
    ("given", "issuer"),
    [
        ({"auth_secret": SECRET, "resource_url": RESOURCE}, ORIGIN),
        ({"auth_secret": SECRET, "resource_url": RESOURCE, "auth_issuer": ORIGIN}, ORIGIN),
        ({"auth_secret": SECRET, "resource_url": "http://127.0.0.1:3010/mcp"}, "http://127.0.0.1:3010"),
        ({"auth_secret": SECRET}, ""),
        ({"auth_secret": SECRET, "resource_url": RESOURCE, "auth_issuer": ISSUER}, ""),
    ],
)
def test_it_stands_where_there_are_a_secret_and_an_address_and_no_other_issuer(given, issuer):
    policy = access(Settings(**given))
    assert (policy.issuer, policy.issues_tokens) == (issuer, bool(issuer))


def test_another_issuer_stays_the_only_one():
    policy = access(Settings(auth_jwks_url=KEYS, auth_issuer=ISSUER, resource_url=RESOURCE))
    assert (policy.issuer, policy.issues_tokens) == (ISSUER, False)


@pytest.mark.parametrize("path", ["", "/mcp"])
def test_the_endpoint_names_it_and_it_names_what_it_offers(team, path):
    browser = team.browser()
    resource = browser.get(f"/.well-known/oauth-protected-resource{path}").json()
    assert (resource["resource"], resource["authorization_servers"]) == (RESOURCE, [ORIGIN])
    assert resource["scopes_supported"] == list(SCOPES)
    told = browser.get(f"/.well-known/oauth-authorization-server{path}")
    assert (told.status_code, told.headers["content-type"]) == (200, "application/json")
    body = told.json()
    assert body["issuer"] == ORIGIN
    assert {name: body[f"{name}_endpoint"] for name in ("authorization", "token", "registration", "revocation")} == {
        "authorization": f"{ORIGIN}/authorize",
        "token": f"{ORIGIN}/token",
        "registration": f"{ORIGIN}/register",
        "revocation": f"{ORIGIN}/revoke",
    }
    assert (body["code_challenge_methods_supported"], body["response_types_supported"]) == (["S256"], ["code"])
    assert body["client_id_metadata_document_supported"]
    assert body["authorization_response_iss_parameter_supported"]


class Out:
    """A store that cannot be reached."""

    def __getattr__(self, name):
        raise StoreFailed("the store at 10.0.0.1 cannot be reached")


def test_an_outage_of_the_store_is_reported_as_one_and_uses_nothing_up(team, client, ann, store):
    code = client.code(ann)
    team.store = Out()
    for answer in (client.exchange(code), ann.get(client.request()), ann.post("/sign-in", data={"code": "x"})):
        assert (answer.status_code, answer.headers["retry-after"], "10.0.0.1" in answer.text) == (503, "5", False)
    team.store = store
    assert client.exchange(code).status_code == 200


GOOD = [
    ("https://claude.ai/api/mcp/auth_callback", "claude.ai"),
    ("https://client.example:8443/a?b=c", "client.example"),
    ("http://127.0.0.1:1/cb", "this computer"),
    ("http://localhost/cb", "this computer"),
    ("http://[::1]:7/cb", "this computer"),
    ("cursor://anysphere.cursor-mcp/oauth/callback", "the program cursor"),
    ("com.example.app:/oauth", "the program com.example.app"),
]


@pytest.mark.parametrize(("uri", "told"), GOOD)
def test_an_address_that_is_allowed_is_named_to_the_person(uri, told):
    assert (is_allowed(uri), host_of(uri)) == (True, told)


@pytest.mark.parametrize(
    "uri",
    [
        "",
        "x",
        "/back",
        "//evil.example",
        "http://client.example",
        "http://192.168.0.1/",
        "http://localhost.evil.example/",
        "https:///back",
        "https://client.example/\\evil",
        "https://client.example/a b",
        "https://client.example/#",
        "https://clïent.example/",
        "https://a@client.example/",
        "https://client.example:x/",
        "https://client.example:99999/",
        "https://client|example/",
        "https://xn--/",
        "https://256.256.256.256/",
        "https://[::1/",
        "javascript:alert(1)",
        "java\tscript:alert(1)",
        "JavaScript:alert(1)",
        "data:text/html,x",
        "file:///etc/passwd",
        "intent://x#Intent;scheme=https;end",
        "blob:https://client.example/x",
        "unknown://x",
        "https://client.example/" + "x" * 500,
    ],
)
def test_others_are_not(uri):
    assert not is_allowed(uri)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("http://127.0.0.1/cb", "http://127.0.0.1:9/cb", True),
        ("http://[::1]:1/cb", "http://[::1]:2/cb", True),
        ("http://localhost:1/cb", "http://127.0.0.1:1/cb", False),
        ("http://127.0.0.1:1/cb", "http://127.0.0.1:1/other", False),
        ("https://127.0.0.1:1/cb", "https://127.0.0.1:2/cb", False),
        ("https://client.example", "https://client.example/", True),
        ("https://client.example:1/cb", "https://client.example:2/cb", False),
    ],
)
def test_the_port_of_loopback_alone_makes_no_difference(one, other, same):
    assert (comparable(one) == comparable(other)) == same

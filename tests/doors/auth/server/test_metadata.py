"""Where the authorization server stands, and how clients find it."""

import pytest

from bio_mcp.callers import SCOPES
from bio_mcp.doors.auth.access import access
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

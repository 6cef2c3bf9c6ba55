"""Programs present what an organisation's identity provider asserts of a person (ID-JAG), and nobody signs in.

draft-ietf-oauth-identity-assertion-authz-grant-04, sections 4.4 and 7.2; RFC 7523, section 3.
"""

import json
import time
from itertools import count

import httpx2
import jwt
import pytest
from mcp.client import Client
from mcp.client.auth.extensions.identity_assertion import IdentityAssertionOAuthProvider
from mcp.client.streamable_http import streamable_http_client

from bio_mcp.callers import Caller
from bio_mcp.doors.auth.access import access
from bio_mcp.doors.auth.clients import managed
from bio_mcp.errors import Misconfigured, StoreFailed
from bio_mcp.settings import Settings
from tests.doors.auth.issuer import publishing
from tests.doors.auth.minting import OTHER_SECRET, RESOURCE, SECRET, b64, by_hand, curve_key, jwk, public_pem, rsa_key
from tests.doors.auth.server.team import DOCUMENT, ORIGIN, Asking, Team
from tests.doors.auth.server.test_official_client import Memory

IDP = "https://idp.example.org"
GRANT = "urn:ietf:params:oauth:grant-type:jwt-bearer"
KIND = {"typ": "oauth-id-jag+jwt", "kid": "first"}
NUMBERS = count(1)


def curve_jwk(kid="curve"):
    made = json.loads(jwt.algorithms.ECAlgorithm.to_jwk(curve_key().public_key()))
    return {**made, "kid": kid, "use": "sig", "alg": "ES256"}


class Organisation:
    """A team with an identity provider, and a program of the organisation that presents its assertions."""

    def __init__(self, store, portal, keys, secrets=(SECRET,), **settings):
        self.keys = keys
        given = {"idp_issuer": IDP, "idp_jwks_url": keys.url, **settings}
        self.team = Team(store, portal, secrets, **given)
        self.browser = self.team.browser()
        self.program = managed("Claude", self.team.access.tokens.keys.get())

    def claims(self, **changed):
        """What a good assertion claims; a claim that is changed to None is left out."""
        now = int(time.time())
        made = {"iss": IDP, "sub": "u-17", "aud": ORIGIN, "resource": RESOURCE, "client_id": self.program.client_id}
        made |= {"jti": f"jti-{next(NUMBERS)}", "iat": now, "exp": now + 300, "scope": "read live", **changed}
        return {name: value for name, value in made.items() if value is not None}

    def assertion(self, key=None, algorithm="RS256", headers=KIND, **changed):
        return jwt.encode(self.claims(**changed), key or rsa_key("first"), algorithm=algorithm, headers=headers)

    def present(self, assertion, **changed):
        form = {"grant_type": GRANT, "assertion": assertion, "client_id": self.program.client_id}
        form |= {"client_secret": self.program.client_secret, "resource": RESOURCE, **changed}
        return self.browser.post("/token", data={name: value for name, value in form.items() if value is not None})

    def caller(self, answer):
        return self.team.access.permitted(self.team.access.tokens.check(answer.json()["access_token"]))


@pytest.fixture(scope="module")
def published():
    with publishing(jwk(), curve_jwk()) as keys:
        yield keys


@pytest.fixture
def organisation(store, portal, published):
    published.keys, published.status = [jwk(), curve_jwk()], 200
    return Organisation(store, portal, published)


def error(answer):
    return answer.status_code, answer.json()["error"]


def test_a_program_acts_for_the_person_of_whom_the_provider_asserts_something(organisation, caplog):
    caplog.set_level("INFO", "bio_mcp")
    answer = organisation.present(organisation.assertion())
    body = answer.json()
    assert organisation.caller(answer) == Caller(
        "u-17", frozenset({"read", "live"}), "", organisation.program.client_id
    )
    assert (body["token_type"], body["scope"], body["expires_in"]) == ("Bearer", "read live", 900)
    assert "refresh_token" not in body
    assert answer.headers["cache-control"] == "no-store"
    (line,) = [each for each in caplog.records if "identity provider" in each.getMessage()]
    assert (line.subject, body["access_token"] in caplog.text) == ("u-17", False)


def test_its_token_is_for_the_endpoint_alone(organisation):
    token = organisation.present(organisation.assertion()).json()["access_token"]
    claims = jwt.decode(token, options={"verify_signature": False})
    assert (claims["iss"], claims["aud"], claims["sub"]) == (ORIGIN, RESOURCE, "u-17")
    ended = organisation.browser.post(
        "/revoke",
        data={
            "token": token,
            "client_id": organisation.program.client_id,
            "client_secret": organisation.program.client_secret,
        },
    )
    assert ended.status_code == 200


def test_a_key_on_a_curve_signs_as_well(organisation):
    headers = {**KIND, "kid": "curve"}
    assert organisation.present(organisation.assertion(curve_key(), "ES256", headers)).status_code == 200


def test_keys_without_ids_are_tried_by_their_algorithms(organisation, published):
    published.keys = [{name: value for name, value in each.items() if name != "kid"} for each in published.keys]
    for key, algorithm in ((rsa_key("first"), "RS256"), (curve_key(), "ES256")):
        assertion = organisation.assertion(key, algorithm, {"typ": KIND["typ"]})
        assert organisation.present(assertion).status_code == 200


@pytest.mark.parametrize(
    ("asserted", "requested", "given"),
    [
        ("read live", None, "read live"),
        ("read live", "read", "read"),
        ("read", "read live admin", "read"),
        (None, None, "read live"),
        (None, "live", "live"),
        ("bio:read", None, "read live"),
        ("read live sync ingest admin", None, "read live"),  # no more than MCP_IDP_SCOPES
        ("bio:write", "bio:write", "read live"),
    ],
)
def test_what_is_allowed_was_asserted_and_asked_for_and_configured(organisation, asserted, requested, given):
    answer = organisation.present(organisation.assertion(scope=asserted), scope=requested)
    assert answer.json()["scope"] == given


@pytest.mark.parametrize(
    ("asserted", "requested"), [("admin", None), ("openid", None), ("read", "sync"), ("read", "x")]
)
def test_where_nothing_is_left_nothing_is_given(organisation, asserted, requested):
    assertion = organisation.assertion(scope=asserted)
    assert error(organisation.present(assertion, scope=requested)) == (400, "invalid_scope")


def test_claims_of_other_names_are_mapped(store, portal, published):
    mapped = {"idp_subject_claim": "oid", "idp_tenant_claim": "department", "idp_scopes": ("read", "ingest")}
    organisation = Organisation(store, portal, published, **mapped)
    answer = organisation.present(organisation.assertion(oid="o-1", department="cardiology", scope="ingest"))
    named = Caller("o-1", frozenset({"ingest"}), "cardiology", organisation.program.client_id)
    assert organisation.caller(answer) == named
    for lacking in ({"oid": "o-1"}, {"department": "cardiology"}, {"oid": "o-1", "department": ["cardiology"]}):
        assert error(organisation.present(organisation.assertion(**lacking))) == (400, "invalid_grant")


def test_an_assertion_is_good_once(organisation):
    assertion = organisation.assertion()
    answers = [organisation.present(assertion) for _ in range(3)]
    assert [answer.status_code for answer in answers] == [200, 400, 400]
    assert "used before" in answers[1].json()["error_description"]
    again = organisation.assertion(jti=jwt.decode(assertion, options={"verify_signature": False})["jti"])
    assert error(organisation.present(again)) == (400, "invalid_grant")


def test_an_outage_of_the_store_uses_no_assertion_up(organisation, store):
    class Out:
        def __getattr__(self, name):
            raise StoreFailed("the store at 10.0.0.1 cannot be reached")

    assertion = organisation.assertion()
    organisation.team.store = Out()
    answer = organisation.present(assertion)
    assert (*error(answer), "10.0.0.1" in answer.text) == (503, "temporarily_unavailable", False)
    organisation.team.store = store
    assert organisation.present(assertion).status_code == 200


NOW = int(time.time())


@pytest.mark.parametrize(
    "changed",
    [
        {"iss": "https://evil.example.org"},
        {"iss": f"{IDP}/"},
        {"aud": RESOURCE},
        {"aud": "https://another.example.org"},
        {"aud": [ORIGIN, "https://another.example.org"]},
        {"resource": "https://another.example.org/mcp"},
        {"resource": [7]},
        {"resource": {"a": 1}},
        {"client_id": "another"},
        {"client_id": ["another"]},
        {"exp": NOW - 120},
        {"exp": NOW + 10_000_000, "iat": NOW},
        {"exp": "later"},
        {"iat": NOW + 10_000_000, "exp": NOW + 10_000_300},
        {"nbf": NOW + 10_000},
        {"sub": ""},
        {"sub": 17},
        {"sub": "a\nb"},
        {"sub": "a" * 300},
        {"jti": ""},
        {"jti": "j" * 300},
        *({name: None} for name in ("iss", "aud", "sub", "client_id", "jti", "iat", "exp")),
    ],
    ids="-".join,
)
def test_an_assertion_that_says_something_else_is_refused(organisation, changed):
    assert error(organisation.present(organisation.assertion(**changed))) == (400, "invalid_grant")


@pytest.mark.parametrize("typ", [None, "JWT", "at+jwt", "oauth-id-jag", "OAUTH-ID-JAG+JWT", 7], ids=str)
def test_a_token_of_another_kind_is_none(organisation, typ):
    headers = {"kid": "first", "typ": typ}
    forged = by_hand({"alg": "HS256", **headers}, organisation.claims(), SECRET)
    of_kind = organisation.assertion(headers=headers) if not isinstance(typ, int) else forged
    assert error(organisation.present(of_kind)) == (400, "invalid_grant")


def forgeries(organisation):
    """Assertions that the provider did not sign, by how they were made."""
    claims = organisation.claims()
    good = organisation.assertion()
    header, payload, signature = good.split(".")
    other = b64(json.dumps({**claims, "sub": "root"}).encode())
    unsigned = b64(json.dumps({"alg": "none", **KIND}).encode())
    yield "not signed", f"{unsigned}.{payload}."
    yield "not signed, with a signature", f"{unsigned}.{payload}.{signature}"
    yield "another payload", f"{header}.{other}.{signature}"
    yield "the public key as a secret", by_hand({"alg": "HS256", **KIND}, claims, public_pem())
    yield "our secret", by_hand({"alg": "HS256", **KIND}, claims, SECRET)
    yield "another key", organisation.assertion(rsa_key("second"))
    yield "a key that is not published", organisation.assertion(rsa_key("second"), headers={**KIND, "kid": "second"})
    yield "a key of the other algorithm", organisation.assertion(curve_key(), "ES256", KIND)
    yield "another hash", organisation.assertion(algorithm="RS512")
    yield "PSS", organisation.assertion(algorithm="PS256")
    yield "a critical extension", organisation.assertion(headers={**KIND, "crit": ["x"], "x": 1})
    yield (
        "a key that comes along",
        organisation.assertion(rsa_key("second"), headers={"typ": KIND["typ"], "jwk": jwk("second")}),
    )
    yield "huge", organisation.assertion(more="x" * 20_000)
    yield "deep", f"{header}.{b64(b'[' * 9_000)}.{signature}"
    yield "no JWT", "x"
    yield "an access token of ours", organisation.present(organisation.assertion()).json()["access_token"]


def test_what_the_provider_did_not_sign_is_refused(organisation):
    for made, assertion in forgeries(organisation):
        assert error(organisation.present(assertion)) == (400, "invalid_grant"), made
    assert organisation.present("x" * 40_000).status_code == 413


def test_an_assertion_is_for_the_program_that_presents_it(organisation):
    other = managed("Another", organisation.team.access.tokens.keys.get())
    assertion = organisation.assertion()
    stolen = organisation.present(assertion, client_id=other.client_id, client_secret=other.client_secret)
    assert error(stolen) == (400, "invalid_grant")
    assert organisation.present(assertion).status_code == 200  # nothing was used up


@pytest.mark.parametrize("secret", [None, "", "x", SECRET])
def test_a_program_without_its_secret_is_refused(organisation, secret):
    assert error(organisation.present(organisation.assertion(), client_secret=secret)) == (401, "invalid_client")


def test_only_a_program_of_the_operator_may_present_assertions(organisation):
    team = organisation.team
    secret = Asking(team, token_endpoint_auth_method="client_secret_post")
    for client, given in [(secret, secret.registered.json()["client_secret"]), (Asking(team), None)]:
        assertion = organisation.assertion(client_id=client.id)
        answer = organisation.present(assertion, client_id=client.id, client_secret=given)
        assert error(answer) == (400, "unsupported_grant_type")
    forged = secret.id.replace("registered.", "managed.")
    assert error(organisation.present(organisation.assertion(client_id=forged), client_id=forged))[0] == 401
    assert error(organisation.present(organisation.assertion(), client_id=DOCUMENT))[0] == 401
    assert Asking(team, grant_types=["authorization_code", GRANT]).registered.status_code == 400


def test_a_program_of_the_operator_may_do_nothing_else(organisation):
    program = organisation.program
    asked = {"client_id": program.client_id, "response_type": "code", "redirect_uri": "https://evil.example/back"}
    asked |= {"code_challenge": "x" * 43, "code_challenge_method": "S256"}
    answer = organisation.team.person().get("/authorize", params=asked)
    assert (answer.status_code, "location" in answer.headers) == (400, False)
    secret = {"client_id": program.client_id, "client_secret": program.client_secret}
    refresh = organisation.browser.post("/token", data={"grant_type": "refresh_token", "refresh_token": "x", **secret})
    assert error(refresh) == (400, "unsupported_grant_type")


def test_a_program_outlives_a_rotation_of_the_secret_by_one(store, portal, published):
    before = Organisation(store, portal, published)
    rotated = Organisation(store, portal, published, secrets=(OTHER_SECRET, SECRET))
    assert rotated.program.client_id != before.program.client_id
    rotated.program = before.program
    assert rotated.present(rotated.assertion()).status_code == 200
    ended = Organisation(store, portal, published, secrets=(OTHER_SECRET,))
    ended.program = before.program
    assert error(ended.present(ended.assertion())) == (401, "invalid_client")


def test_keys_that_the_provider_rotates_are_read_again(organisation, published):
    assert organisation.present(organisation.assertion()).status_code == 200
    published.keys = [jwk("second", "second")]
    rotated = {"typ": KIND["typ"], "kid": "second"}
    assert organisation.present(organisation.assertion(rsa_key("second"), headers=rotated)).status_code == 200
    assert error(organisation.present(organisation.assertion())) == (400, "invalid_grant")


@pytest.mark.parametrize(
    ("status", "keys"),
    [(500, [jwk()]), (200, []), (200, [{**jwk(), "kty": "oct"}])],
    ids=["failing", "without keys", "of another kind"],
)
def test_keys_that_cannot_be_read_are_an_outage_and_no_refusal(organisation, published, caplog, status, keys):
    published.status, published.keys = status, keys
    assertion = organisation.assertion()
    answer = organisation.present(assertion)
    assert error(answer) == (503, "temporarily_unavailable")
    assert "issuer" in caplog.text
    assert published.url not in answer.text + caplog.text
    again = Organisation(organisation.team.store, organisation.team._portal, published)
    published.status, published.keys = 200, [jwk()]
    assert again.present(assertion).status_code == 200


def test_the_metadata_announces_it_where_there_is_a_provider(organisation, team):
    told, before = (
        each.browser().get("/.well-known/oauth-authorization-server").json() for each in (organisation.team, team)
    )
    assert told["authorization_grant_profiles_supported"] == ["urn:ietf:params:oauth:grant-profile:id-jag"]
    assert told["grant_types_supported"] == ["authorization_code", "refresh_token", GRANT]
    assert "client_secret_post" in told["token_endpoint_auth_methods_supported"]
    assert "authorization_grant_profiles_supported" not in before
    assert before["grant_types_supported"] == ["authorization_code", "refresh_token"]


WHOLE = {"auth_secret": SECRET, "resource_url": RESOURCE, "idp_issuer": IDP, "idp_jwks_url": f"{IDP}/keys"}


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"idp_jwks_url": ""}, "MCP_IDP_JWKS_URL"),
        ({"idp_issuer": ""}, "MCP_IDP_ISSUER"),
        ({"resource_url": ""}, "MCP_RESOURCE_URL"),
        ({"auth_issuer": "https://issuer.example.org"}, "MCP_AUTH_ISSUER"),
        ({"idp_jwks_url": "http://idp.example.org/keys"}, "MCP_IDP_JWKS_URL must be an https URL"),
        ({"idp_scopes": ("read", "write")}, "MCP_IDP_SCOPES"),
        ({"idp_scopes": ()}, "MCP_IDP_SCOPES"),
    ],
)
def test_a_provider_that_cannot_work_is_no_configuration(changed, problem):
    assert access(Settings(**WHOLE)).identity_provider is not None
    with pytest.raises(Misconfigured, match=problem):
        access(Settings(**{**WHOLE, **changed}))


@pytest.mark.anyio
@pytest.mark.parametrize("era", ["2026-07-28", "legacy"])
async def test_the_official_client_connects_by_assertions(organisation, era):
    asked = []

    async def assertion(audience, resource):
        asked.append((audience, resource))
        return organisation.assertion(aud=audience, resource=resource)

    program = organisation.program
    auth = IdentityAssertionOAuthProvider(
        RESOURCE, Memory(), program.client_id, program.client_secret, ORIGIN, assertion, scope="read"
    )
    transport = httpx2.ASGITransport(organisation.team.app)
    async with (
        httpx2.AsyncClient(transport=transport, auth=auth, base_url=ORIGIN) as http,
        Client(streamable_http_client(RESOURCE, http_client=http), mode=era) as client,
    ):
        echoed = await client.call_tool("sample_echo", {"text": "x"})
    assert echoed.structured_content["texts"] == ["x"]
    assert asked == [(ORIGIN, RESOURCE)]

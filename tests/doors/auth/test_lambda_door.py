"""Who is let in, through the Lambda handler, whatever stands in front of it; also while its secret rotates."""

import json
import logging
import time

import boto3
import pytest
from moto import mock_aws

from tests.doors.auth.handlers import SHAPES, bearer, door
from tests.doors.auth.issuer import publishing
from tests.doors.auth.minting import (
    BAD_HS256,
    BAD_RS256,
    ISSUER,
    OTHER_SECRET,
    RESOURCE,
    SECRET,
    UNREADABLE,
    hs256,
    jwk,
    public_pem,
    rs256,
)

TO_ALL = {"MCP_AUTH_AUDIENCE": "bio-mcp", "MCP_ALLOWED_ORIGINS": "https://app.example.org"}
APP = "https://app.example.org"
METADATA = 'resource_metadata="https://mcp.example.org/.well-known/oauth-protected-resource/mcp"'


@pytest.fixture(params=SHAPES.values(), ids=SHAPES)
def shape(request):
    return request.param


@pytest.fixture(scope="module")
def shared():
    """Locked by a shared secret."""
    with door(MCP_AUTH_SECRET_KEY=SECRET, **TO_ALL) as made:
        yield made


@pytest.fixture(scope="module")
def issued():
    """Locked by the keys of an issuer."""
    others = [{"kty": "oct", "k": "c2VjcmV0", "kid": "first"}, {"kty": "EC", "crv": "P-256", "x": "a", "y": "b"}]
    with (
        publishing(*others, jwk()) as keys,
        door(MCP_AUTH_JWKS_URL=keys.url, MCP_AUTH_ISSUER=ISSUER, MCP_ALLOWED_ORIGINS=APP) as made,
    ):
        yield made


def listed(answer):
    return answer.status == 200 and "tools" in answer.json["result"]


def test_a_valid_token_opens_and_the_schemes_name_may_be_in_any_case(shared, issued, shape):
    assert listed(shared(bearer(hs256()), shape=shape))
    assert listed(issued(bearer(rs256()), shape=shape))
    assert listed(shared(f"bearer {hs256()}"))
    assert listed(shared(f"BEARER  {hs256()} "))


def test_a_clock_that_is_half_a_minute_off_is_forgiven(shared):
    now = int(time.time())
    assert listed(shared(bearer(hs256(exp=now - 15))))
    assert listed(shared(bearer(hs256(nbf=now + 15, iat=now + 15))))


def test_without_a_token_it_is_told_where_tokens_are_had_and_no_error(shared, issued, shape):
    for locked in (shared, issued):
        answer = locked(shape=shape)
        assert (answer.status, answer.headers["www-authenticate"]) == (401, f"Bearer {METADATA}")
        assert answer.json == {"error": "unauthorized", "error_description": "a Bearer token is needed"}


def refused(answer, because):
    assert answer.status == 401
    message = f'Bearer error="invalid_token", error_description="{because}"'
    assert answer.headers["www-authenticate"] in (message, f"{message}, {METADATA}")
    assert answer.json == {"error": "invalid_token", "error_description": because}


@pytest.mark.parametrize(("token", "because"), BAD_HS256.values(), ids=BAD_HS256)
def test_a_bad_token_for_a_shared_secret_is_refused(shared, token, because):
    refused(shared(bearer(token)), because)


@pytest.mark.parametrize(("token", "because"), BAD_RS256.values(), ids=BAD_RS256)
def test_a_bad_token_for_an_issuers_keys_is_refused(issued, token, because):
    refused(issued(bearer(token)), because)


@pytest.mark.parametrize("given", ["Basic YWRhOnNlY3JldA==", hs256(), f"Token {hs256()}", "Digest a=b", ",", " "])
def test_another_scheme_is_refused(shared, given):
    refused(shared(given), "one Authorization header with a Bearer token is needed")


def test_two_tokens_are_refused_even_when_both_are_good(shared, shape):
    refused(shared(bearer(hs256()), bearer(hs256()), shape=shape), UNREADABLE)
    refused(shared(bearer(hs256()), bearer(""), shape=shape), UNREADABLE)


def test_the_issuer_is_asked_for_when_one_is_set_for_a_shared_secret():
    with door(MCP_AUTH_SECRET_KEY=SECRET, MCP_AUTH_ISSUER=ISSUER, **TO_ALL) as locked:
        refused(locked(bearer(hs256())), "the token lacks iss")
        refused(locked(bearer(hs256(iss="me"))), "the token is of another issuer")
        assert listed(locked(bearer(hs256(iss=ISSUER))))


def test_the_audience_is_the_endpoint_unless_another_is_set(issued):
    with door(MCP_AUTH_SECRET_KEY=SECRET) as locked:
        refused(locked(bearer(hs256())), "the token is for another audience")
        assert listed(locked(bearer(hs256(aud=RESOURCE))))


@pytest.mark.parametrize("given", [{}, {"scope": "search"}, {"scope": ""}, {"scope": 7}, {"scp": {"search": "read"}}])
def test_a_token_without_every_scope_is_forbidden(given):
    with door(MCP_AUTH_SECRET_KEY=SECRET, MCP_AUTH_REQUIRED_SCOPES="search,sync", **TO_ALL) as locked:
        answer = locked(bearer(hs256(**given)))
        assert answer.status == 403
        challenge = answer.headers["www-authenticate"]
        assert challenge.startswith('Bearer error="insufficient_scope", error_description="the token lacks the scope ')
        assert challenge.endswith(f', scope="search sync", {METADATA}')


@pytest.mark.parametrize("given", [{"scope": "sync x search"}, {"scope": ["sync", "search"]}, {"scp": "search sync"}])
def test_a_token_with_every_scope_opens(given):
    with door(MCP_AUTH_SECRET_KEY=SECRET, MCP_AUTH_REQUIRED_SCOPES="search,sync", **TO_ALL) as locked:
        assert listed(locked(bearer(hs256(**given))))


@pytest.mark.parametrize("method", ["GET", "HEAD", "DELETE", "PUT"])
@pytest.mark.parametrize("given", [[], [bearer(hs256())]])
def test_only_post_is_allowed_with_and_without_a_token(shared, shape, method, given):
    answer = shared(*given, method=method, shape=shape)
    assert (answer.status, answer.headers["allow"]) == (405, "POST")


def test_health_is_open_to_any_host_and_says_nothing(shared, shape):
    answer = shared(method="GET", path="/health", host="10.0.0.7", shape=shape)
    assert (answer.status, answer.json) == (200, {"status": "ok"})


@pytest.mark.parametrize("host", ["evil.example", "mcp.example.org.evil.example", "xmcp.example.org", ""])
def test_another_host_is_refused_with_a_good_token(shared, host):
    assert shared(bearer(hs256()), host=host).status == 421


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://localhost:6274", f"{APP}.evil.example"])
def test_another_origin_is_refused_with_a_good_token(shared, shape, origin):
    answer = shared(bearer(hs256()), shape=shape, origin=origin)
    assert answer.status == 403
    assert "access-control-allow-origin" not in answer.headers


def test_an_allowed_origin_reads_the_answer_and_the_refusal(shared, shape):
    for answer in (shared(bearer(hs256()), shape=shape, origin=APP), shared(shape=shape, origin=APP)):
        assert answer.headers["access-control-allow-origin"] == APP
        assert answer.headers["access-control-expose-headers"] == "www-authenticate"
    assert answer.status == 401


def test_a_preflight_takes_no_token(shared, shape):
    asked = {"origin": APP, "access-control-request-method": "POST", "access-control-request-headers": "authorization"}
    answer = shared(method="OPTIONS", shape=shape, **asked)
    assert answer.status == 200
    assert answer.headers["access-control-allow-origin"] == APP
    assert "authorization" in answer.headers["access-control-allow-headers"]


@pytest.mark.parametrize("path", ["", "/mcp"])
def test_metadata_say_who_gives_tokens_out(issued, shape, path):
    answer = issued(method="GET", path=f"/.well-known/oauth-protected-resource{path}", shape=shape, origin=APP)
    assert answer.status == 200
    assert answer.headers["access-control-allow-origin"] == APP
    assert answer.json == {
        "resource": RESOURCE,
        "authorization_servers": [ISSUER],
        "bearer_methods_supported": ["header"],
        "resource_name": "bio-mcp",
    }


def test_a_shared_secret_without_an_address_has_no_issuer_to_name():
    with door(MCP_AUTH_SECRET_KEY=SECRET, MCP_RESOURCE_URL="") as locked:
        assert locked(method="GET", path="/.well-known/oauth-protected-resource").status == 404


@pytest.mark.parametrize(
    "configured",
    [
        {},
        {"MCP_AUTH_ISSUER": ISSUER},
        {"MCP_AUTH_SECRET_KEY": "short"},
        {"MCP_AUTH_SECRET_KEY": public_pem().decode()},
        {"MCP_AUTH_SECRET_KEY": SECRET, "MCP_AUTH_JWKS_URL": "https://issuer.example.org/keys"},
        {"MCP_AUTH_JWKS_URL": "https://issuer.example.org/keys"},
    ],
    ids=lambda given: ",".join(given) or "nothing",
)
def test_without_a_whole_configuration_it_is_closed_to_everybody(configured):
    with door(**configured) as closed:
        for given in ([], [bearer(hs256())], [bearer(rs256())]):
            for host in ("mcp.example.org", "localhost"):
                answer = closed(*given, host=host)
                assert (answer.status, answer.json["error"]) == (503, "not_configured")
        assert closed(method="GET", path="/health").status == 200


def test_keys_that_cannot_be_read_close_it_for_a_while():
    with publishing(jwk()) as keys, door(MCP_AUTH_JWKS_URL=keys.url, MCP_AUTH_ISSUER=ISSUER) as locked:
        keys.status = 500
        answer = locked(bearer(rs256()))
        assert (answer.status, answer.headers["retry-after"]) == (503, "5")
        assert "details" not in answer.text
        assert keys.url not in answer.text


def test_a_new_key_of_the_issuer_is_taken_up_without_a_restart():
    with publishing(jwk()) as keys, door(MCP_AUTH_JWKS_URL=keys.url, MCP_AUTH_ISSUER=ISSUER) as locked:
        assert listed(locked(bearer(rs256())))
        keys.keys.append(jwk("second", "second"))
        assert listed(locked(bearer(rs256("second", "second"))))
        assert listed(locked(bearer(rs256())))


def test_nonsense_makes_the_issuer_be_asked_once_more_and_no_oftener():
    with publishing(jwk()) as keys, door(MCP_AUTH_JWKS_URL=keys.url, MCP_AUTH_ISSUER=ISSUER) as locked:
        for number in range(30):
            assert locked(bearer(rs256("stranger", kid=f"k{number}"))).status == 401
        assert keys.asked == 2


class CapturedRecords(logging.Handler):
    """Every record in full."""

    def __init__(self):
        super().__init__(logging.DEBUG)
        self.lines = []

    def emit(self, record):
        self.lines.append(record.getMessage() + repr(vars(record)))


def test_neither_logs_nor_answers_hold_a_secret_or_a_token():
    stored, root = CapturedRecords(), logging.getLogger()
    ours = logging.getLogger("bio_mcp")
    for each in (root, ours):
        each.addHandler(stored)
    tokens = [token for token, _ in BAD_HS256.values() if len(token) > 40]
    reported = []
    try:
        with door(MCP_AUTH_SECRET_KEY=SECRET, MCP_LOG_LEVEL="debug", **TO_ALL) as locked:
            reported += [locked(bearer(each)) for each in [*tokens, hs256()]]
            reported += [locked(bearer(hs256()), host=hs256()), locked(bearer(hs256()), origin=hs256())]
    finally:
        for each in (root, ours):
            each.removeHandler(stored)
    assert any("rejected a token" in line for line in stored.lines)
    message = "\n".join(stored.lines) + json.dumps([(each.text, each.headers) for each in reported])
    parts = {part for token in [*tokens, hs256()] for part in token.split(".")[1:] if len(part) > 20}
    assert [each for each in (SECRET, OTHER_SECRET, *parts) if each in message] == []


THIRD_SECRET = "a-third-secret-of-the-tests-0123456789-abcdef"
AUDIENCE = {"MCP_AUTH_AUDIENCE": "bio-mcp"}


class SecretsManager:
    reference = "secretsmanager:bio-mcp/tokens"

    def __init__(self, value):
        self._client = boto3.client("secretsmanager")
        self._client.create_secret(Name="bio-mcp/tokens", SecretString=value)

    def rotate(self, value):
        self._client.put_secret_value(SecretId="bio-mcp/tokens", SecretString=value)


class ParameterStore:
    reference = "ssm:/bio-mcp/tokens"

    def __init__(self, value):
        self._client = boto3.client("ssm")
        self.rotate(value)

    def rotate(self, value):
        self._client.put_parameter(Name="/bio-mcp/tokens", Type="SecureString", Overwrite=True, Value=value)


@pytest.fixture(params=[SecretsManager, ParameterStore])
def store(request, monkeypatch):
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-central-1")
    with mock_aws():
        yield request.param


def test_tokens_of_the_new_and_of_the_previous_secret_open_and_older_ones_do_not(store):
    stored = store(SECRET)
    with door(MCP_AUTH_SECRET_KEY=stored.reference, **AUDIENCE) as locked:
        assert locked(bearer(hs256(SECRET))).status == 200
        stored.rotate(OTHER_SECRET)
        assert locked(bearer(hs256(OTHER_SECRET))).status == 200
        assert locked(bearer(hs256(SECRET))).status == 200
        assert locked(bearer(hs256(THIRD_SECRET))).status == 401
    stored.rotate(THIRD_SECRET)
    with door(MCP_AUTH_SECRET_KEY=stored.reference, **AUDIENCE) as later:
        assert [later(bearer(hs256(each))).status for each in (THIRD_SECRET, OTHER_SECRET, SECRET)] == [200, 200, 401]


def test_a_placeholder_that_was_rotated_away_signs_nothing_and_hinders_nothing(store):
    stored = store("changeme")
    stored.rotate(SECRET)
    with door(MCP_AUTH_SECRET_KEY=stored.reference, **AUDIENCE) as locked:
        assert locked(bearer(hs256(SECRET))).status == 200
        assert locked(bearer(hs256("changeme".ljust(32)))).status == 401


def test_nothing_is_read_before_a_token_comes(store):
    with door(MCP_AUTH_SECRET_KEY=store.reference, **AUDIENCE) as locked:
        store(SECRET)
        assert locked().status == 401
        assert locked(bearer(hs256(SECRET))).status == 200


@pytest.mark.parametrize("value", [None, "changeme"])
def test_a_secret_that_is_missing_or_too_short_closes_the_door_and_is_not_revealed(store, value, caplog):
    if value:
        store(value)
    with door(MCP_AUTH_SECRET_KEY=store.reference, **AUDIENCE) as locked:
        answer = locked(bearer(hs256(SECRET)))
    assert (answer.status, answer.headers["retry-after"]) == (503, "5")
    assert answer.json["error"] == "temporarily_unavailable"
    assert "tokens" in caplog.text
    assert [each for each in ("bio-mcp/tokens", "changeme") if each in answer.text + caplog.text] == []

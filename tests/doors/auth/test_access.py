"""Which tokens are let in and which keys may sign: half a lock is an error, and what is issued here opens."""

import json
import string
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from bio_mcp.callers import Caller
from bio_mcp.doors.auth.access import access
from bio_mcp.doors.auth.tokens import TokenRejected, Tokens, candidates, hmac_keys, public_keys
from bio_mcp.errors import InvalidInput, Misconfigured, UpstreamFailed
from bio_mcp.refreshing import RefreshingValue
from bio_mcp.settings import Settings
from tests.doors.auth.minting import (
    HS256,
    ISSUER,
    OTHER_SECRET,
    RESOURCE,
    SECRET,
    b64,
    by_hand,
    claims,
    hs256,
    jwk,
    public_pem,
    rs256,
)

KEYS = "https://issuer.example.org/keys"
ADA = Caller("ada", frozenset({"bio:read", "bio:write"}), "lab")
WHOLE = {"auth_jwks_url": KEYS, "auth_issuer": ISSUER, "resource_url": RESOURCE}


def test_without_any_setting_there_are_no_tokens():
    assert access(Settings()) is None
    assert access(Settings(resource_url=RESOURCE, allowed_hosts=("mcp.example.org",))) is None


@pytest.mark.parametrize("path", ["", "/", "/mcp", "/some/where/mcp/"])
def test_the_audience_is_the_endpoints_url(path):
    url = f"https://mcp.example.org{path}"
    assert access(Settings(auth_secret=SECRET, resource_url=url)).tokens.audience == url
    assert access(Settings(auth_secret=SECRET, resource_url=url, auth_audience="other")).tokens.audience == "other"


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"auth_issuer": ISSUER}, "MCP_AUTH_ISSUER is set, but nothing to check tokens with"),
        ({"auth_audience": "x"}, "MCP_AUTH_AUDIENCE is set, but nothing"),
        ({"auth_scopes": ("x",)}, "MCP_AUTH_REQUIRED_SCOPES is set, but nothing"),
        ({**WHOLE, "auth_secret": SECRET}, "MCP_AUTH_SECRET_KEY and MCP_AUTH_JWKS_URL exclude each other"),
        ({"auth_jwks_url": KEYS}, "set MCP_AUTH_ISSUER and MCP_RESOURCE_URL too"),
        ({**WHOLE, "auth_issuer": ""}, "set MCP_AUTH_ISSUER too"),
        ({**WHOLE, "auth_jwks_url": "http://issuer.example.org/keys"}, "MCP_AUTH_JWKS_URL must be an https URL"),
        ({**WHOLE, "auth_jwks_url": "https://"}, "MCP_AUTH_JWKS_URL must be an https URL"),
        ({**WHOLE, "auth_jwks_url": "https://me:pw@issuer.example.org/keys"}, "MCP_AUTH_JWKS_URL must be an https URL"),
        ({**WHOLE, "auth_jwks_url": "https://[::1/keys"}, "MCP_AUTH_JWKS_URL is not a URL"),
        ({**WHOLE, "resource_url": "http://mcp.example.org/mcp"}, "MCP_RESOURCE_URL must be an https URL"),
        ({**WHOLE, "resource_url": "https://mcp.example.org/mcp#x"}, "MCP_RESOURCE_URL must be an https URL"),
        ({**WHOLE, "resource_url": 'https://mcp.example.org/"x'}, "MCP_RESOURCE_URL must be an https URL"),
        ({**WHOLE, "auth_scopes": ("a b",)}, "MCP_AUTH_REQUIRED_SCOPES holds 'a b', which is no scope"),
        ({**WHOLE, "auth_scopes": ('a"b',)}, "which is no scope"),
        ({"auth_secret": "ssm:"}, "secretsmanager:NAME or ssm:NAME"),
    ],
)
def test_what_is_missing_or_wrong_is_named(given, says):
    with pytest.raises(Misconfigured, match=says) as refused:
        access(Settings(**given))
    assert SECRET not in str(refused.value)


def test_plain_http_is_good_enough_on_this_machine():
    here = {"auth_jwks_url": "http://127.0.0.1:8080/keys", "resource_url": "http://localhost:3010/mcp"}
    assert access(Settings(**{**WHOLE, **here})).issuer == ISSUER


DAY = timedelta(days=1)


def now():
    return datetime.now(UTC)


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"resource_url": RESOURCE},
        {"auth_audience": "other"},
        {"auth_issuer": ISSUER},
        {"auth_scopes": ("search", "sync")},
    ],
)
def test_what_is_issued_is_let_in(given):
    settings = Settings(auth_secret=SECRET, **given)
    token, end = access(settings).issue(ADA, DAY, now())
    caller = access(settings).tokens.check(token)
    assert caller == replace(ADA, scopes=ADA.scopes.union(settings.auth_scopes))
    assert timedelta(hours=23) < end - now() <= DAY


@pytest.mark.parametrize(
    ("scopes", "may_write"), [("bio:read", False), ("bio:write", True), ("bio:read bio:write", True)]
)
def test_a_token_says_whether_it_may_write(scopes, may_write):
    opened = access(Settings(auth_secret=SECRET))
    caller = opened.tokens.check(opened.issue(Caller("ada", frozenset(scopes.split())), DAY, now())[0])
    assert ("sync" in opened.permitted(caller).scopes) == may_write


@pytest.mark.parametrize("odd", ["", "bio read", 'bio"read', "x\\y", "é"])
def test_what_is_no_scope_is_not_issued(odd):
    with pytest.raises(InvalidInput, match="is no scope"):
        access(Settings(auth_secret=SECRET)).issue(Caller("ada", frozenset({odd})), DAY, now())


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"public_read": "on"}, "MCP_AUTH_SECRET_KEY, which is not set"),
        (WHOLE, "given out by the issuer alone"),
        ({"auth_secret": "short"}, "too short"),
    ],
)
def test_without_a_secret_of_its_own_a_server_issues_nothing_and_says_why(given, says):
    with pytest.raises(Misconfigured, match=says):
        access(Settings(**given)).issue(ADA, DAY, now())


def test_a_token_for_nobody_is_not_issued():
    with pytest.raises(InvalidInput, match="--subject"):
        access(Settings(auth_secret=SECRET)).issue(Caller("  "), DAY, now())


def published(*keys):
    return json.dumps({"keys": list(keys)}).encode()


@pytest.mark.parametrize("secret", ["", "x" * 31, "é" * 15, " \t" * 20])
def test_a_short_secret_is_refused(secret):
    with pytest.raises(Misconfigured, match="too short; it takes 32 random bytes or more") as refused:
        hmac_keys([secret])
    assert not secret or secret not in str(refused.value)


def test_a_secret_is_measured_in_bytes():
    assert len(hmac_keys(["é" * 16])) == 1


@pytest.mark.parametrize(
    "secret", [public_pem().decode(), "  ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABgQC7 a@b", "-----BEGIN "]
)
def test_the_public_half_of_a_key_is_no_secret(secret):
    with pytest.raises(Misconfigured, match="a public or private key; it takes a random secret"):
        hmac_keys([secret])


def test_a_secret_from_before_that_is_none_is_left_out():
    assert [key.value for key in hmac_keys([SECRET, "changeme"])] == [SECRET]
    assert [key.value for key in hmac_keys([SECRET, OTHER_SECRET])] == [SECRET, OTHER_SECRET]


def test_a_key_does_not_show_its_value():
    assert SECRET not in repr(hmac_keys([SECRET]))


def test_only_keys_for_signing_with_rs256_are_taken():
    others = [
        jwk(use="enc"),
        jwk(alg="RS512"),
        jwk(kty="EC"),
        jwk(n="AQAB"),
        jwk(n="not base64!"),
        jwk(n=7),
        {"kty": "oct", "k": "c2VjcmV0"},
        {**jwk(), "d": "AQAB"},
        {},
        "first",
    ]
    assert [key.kid for key in public_keys(published(*others, jwk(kid="good")))] == ["good"]


def test_a_modulus_of_less_than_2048_bits_is_left_out():
    small = {**jwk(), "n": jwk()["n"][:170]}
    with pytest.raises(UpstreamFailed, match="no key that RS256 tokens could be signed with"):
        public_keys(published(small))


@pytest.mark.parametrize("body", [b"", b"{}", b"[]", b"null", b'{"keys": 7}', b'{"keys": []}', b"\xff", b"[" * 5_000])
def test_a_set_without_keys_is_an_error(body):
    with pytest.raises(UpstreamFailed):
        public_keys(body)


def test_a_key_without_an_id_fits_every_token_and_a_token_without_one_every_key():
    keys = public_keys(published(jwk(kid="a"), jwk(kid="b"), {**jwk(), "kid": 7}))
    assert [key.kid for key in candidates(keys, "a")] == ["a", None]
    assert len(candidates(keys, None)) == 3
    assert [key.kid for key in candidates(keys, "c")] == [None]


SHARED = Tokens(("HS256",), RefreshingValue(lambda: hmac_keys([SECRET])), "bio-mcp")
ISSUED = Tokens(
    ("RS256",), RefreshingValue(lambda: public_keys(json.dumps({"keys": [jwk()]}).encode())), RESOURCE, ISSUER
)
ANY_TIME = settings(deadline=None, max_examples=30)
ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
CLAIMED = st.sampled_from(["exp", "nbf", "iat", "aud", "iss", "sub", "jti", "scope", "scp"])
NAMED = st.sampled_from(["alg", "typ", "kid", "crit", "b64", "jwk", "cty"])


def refused(tokens, token):
    with pytest.raises(TokenRejected) as problem:
        tokens.check(token)
    assert len(str(problem.value)) < 100


@ANY_TIME
@given(st.text(max_size=200) | st.text(alphabet=string.ascii_letters + string.digits + "-_.=", max_size=200))
def test_a_string_is_refused(token):
    refused(SHARED, token)
    refused(ISSUED, token)


@ANY_TIME
@given(st.lists(st.binary(max_size=60), min_size=2, max_size=5))
def test_encoded_bytes_are_refused(parts):
    refused(SHARED, ".".join(map(b64, parts)))


@ANY_TIME
@given(st.dictionaries(CLAIMED, ANY, max_size=4))
def test_a_signed_token_of_odd_claims_is_let_in_or_refused(odd):
    try:
        caller = SHARED.check(by_hand(HS256, {**claims("bio-mcp"), **odd}))
    except TokenRejected:
        return
    assert caller.subject.strip()
    assert {str} >= {type(each) for each in caller.scopes}


@ANY_TIME
@given(st.dictionaries(NAMED, ANY, max_size=4))
def test_a_signed_token_of_an_odd_header_is_let_in_or_refused(odd):
    header = {**HS256, **odd}
    try:
        SHARED.check(by_hand(header, claims("bio-mcp")))
    except TokenRejected:
        return
    assert header["alg"] == "HS256"
    assert "crit" not in header


@ANY_TIME
@given(st.data())
def test_a_good_token_with_one_letter_changed_is_refused(data):
    tokens, good = data.draw(st.sampled_from([(SHARED, hs256()), (ISSUED, rs256())]))
    place = data.draw(st.integers(0, len(good) - 1))
    other = data.draw(st.sampled_from(string.ascii_letters + string.digits + "-_.="))
    assume(other != good[place])
    refused(tokens, good[:place] + other + good[place + 1 :])


def test_a_token_of_another_secret_is_not_let_in_by_naming_it():
    refused(SHARED, hs256(OTHER_SECRET, headers={"kid": OTHER_SECRET}))


def test_deep_claims_are_refused():
    refused(SHARED, by_hand(HS256, '{"sub":' * 2_000 + "1" + "}" * 2_000))

"""Which keys may sign; and whatever is brought as a token is let in or refused, and never a crash."""

import json
import string

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from bio_mcp.doors.auth.tokens import TokenRejected, Tokens, candidates, hmac_keys, rsa_keys
from bio_mcp.errors import Misconfigured, UpstreamFailed
from bio_mcp.refreshing import RefreshingValue
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
    assert [key.kid for key in rsa_keys(published(*others, jwk(kid="good")))] == ["good"]


def test_a_modulus_of_less_than_2048_bits_is_left_out():
    small = {**jwk(), "n": jwk()["n"][:170]}
    with pytest.raises(UpstreamFailed, match="no key that RS256 tokens could be signed with"):
        rsa_keys(published(small))


@pytest.mark.parametrize("body", [b"", b"{}", b"[]", b"null", b'{"keys": 7}', b'{"keys": []}', b"\xff", b"[" * 5_000])
def test_a_set_without_keys_is_an_error(body):
    with pytest.raises(UpstreamFailed):
        rsa_keys(body)


def test_a_key_without_an_id_fits_every_token_and_a_token_without_one_every_key():
    keys = rsa_keys(published(jwk(kid="a"), jwk(kid="b"), {**jwk(), "kid": 7}))
    assert [key.kid for key in candidates(keys, "a")] == ["a", None]
    assert len(candidates(keys, None)) == 3
    assert [key.kid for key in candidates(keys, "c")] == [None]


SHARED = Tokens("HS256", RefreshingValue(lambda: hmac_keys([SECRET])), "bio-mcp")
ISSUED = Tokens("RS256", RefreshingValue(lambda: rsa_keys(json.dumps({"keys": [jwk()]}).encode())), RESOURCE, ISSUER)
ANY_TIME = settings(deadline=None, max_examples=60)
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

"""Whatever is brought as a token is let in or refused, and never a crash."""

import json
import string

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from bio_mcp.doors.auth.keys import hmac_keys, rsa_keys
from bio_mcp.doors.auth.tokens import TokenRejected, Tokens
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
    rs256,
)

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

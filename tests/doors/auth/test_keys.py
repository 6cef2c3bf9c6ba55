"""Which keys may sign."""

import json

import pytest

from bio_mcp.doors.auth.keys import candidates, hmac_keys, rsa_keys
from bio_mcp.errors import Misconfigured, UpstreamFailed
from tests.doors.auth.minting import OTHER_SECRET, SECRET, jwk, public_pem


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

"""Access tokens, good and bad, and the keys that sign them."""

import base64
import hashlib
import hmac
import json
import time
from functools import cache

import jwt
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa

SECRET = "a-secret-of-the-tests-0123456789-abcdefghij"
OTHER_SECRET = "another-secret-of-the-tests-0123456789-abcd"
ISSUER = "https://issuer.example.org/"
RESOURCE = "https://mcp.example.org/mcp"
LIVES_S = 86_400  # many tokens are made when a module is imported, long before the last test runs


@cache
def rsa_key(name="first", bits=2048):
    """A private key, the same for the same name."""
    return rsa.generate_private_key(65537, bits)


@cache
def curve_key():
    return ec.generate_private_key(ec.SECP256R1())


def public_pem(name="first"):
    public = rsa_key(name).public_key()
    return public.public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)


def jwk(name="first", kid="first", **more):
    made = json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(rsa_key(name).public_key()))
    return {**made, "kid": kid, "use": "sig", "alg": "RS256", **more}


def claims(audience, **changed):
    """What a good token claims; a claim that is changed to None is left out."""
    now = int(time.time())
    made = {"sub": "ada", "aud": audience, "exp": now + LIVES_S, "iat": now, **changed}
    return {name: value for name, value in made.items() if value is not None}


def hs256(secret=SECRET, audience="bio-mcp", headers=None, **changed):
    return jwt.encode(claims(audience, **changed), secret, algorithm="HS256", headers=headers)


def rs256(key="first", kid="first", headers=None, algorithm="RS256", **changed):
    named = {**({"kid": kid} if kid else {}), **(headers or {})}
    made = claims(RESOURCE, **{"iss": ISSUER, **changed})
    return jwt.encode(made, rsa_key(key), algorithm=algorithm, headers=named)


def b64(raw):
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def by_hand(header, payload, secret=SECRET):
    """A token of any header and payload, given as JSON text or as what becomes it, signed as HS256 signs."""
    texts = (each if isinstance(each, str) else json.dumps(each) for each in (header, payload))
    signed = ".".join(b64(text.encode()) for text in texts)
    key = secret if isinstance(secret, bytes) else secret.encode()
    return f"{signed}.{b64(hmac.new(key, signed.encode(), hashlib.sha256).digest())}"


HS256 = {"alg": "HS256", "typ": "JWT"}


def tampered():
    header, _, signature = hs256().split(".")
    return f"{header}.{b64(json.dumps(claims('bio-mcp', sub='root')).encode())}.{signature}"


def unsigned(alg="none"):
    return f"{b64(json.dumps({'alg': alg}).encode())}.{b64(json.dumps(claims('bio-mcp')).encode())}."


# What each is refused with; the servers take aud bio-mcp and the issuer, the RS256 one the resource as aud.
UNREADABLE = "the token cannot be read"
UNKNOWN = "the token is not signed by a known key"

BAD_HS256 = {
    "nothing": ("", UNREADABLE),
    "a word": ("letmein", UNREADABLE),
    "two parts": ("a.b", UNREADABLE),
    "three letters": ("a.b.c", UNREADABLE),
    "dots": ("..", UNREADABLE),
    "letters beyond ASCII": ("ä.ö.ü", UNREADABLE),
    "a zero byte": (hs256() + "\0", UNREADABLE),
    "a line of its own": (hs256() + "\nx", UNREADABLE),
    "an array for a header": (by_hand("[]", {}), UNREADABLE),
    "deep nesting": (by_hand('{"a":' * 900 + "1" + "}" * 900, {}), UNREADABLE),
    "an encrypted token": (".".join("abcde"), UNREADABLE),
    "alg none": (unsigned(), UNREADABLE),
    "alg None": (unsigned("None"), UNREADABLE),
    "alg none, signed": (by_hand({"alg": "none"}, claims("bio-mcp")), UNREADABLE),
    "no alg": (by_hand({"typ": "JWT"}, claims("bio-mcp")), UNREADABLE),
    "another algorithm": (jwt.encode(claims("bio-mcp"), SECRET * 2, algorithm="HS512"), UNREADABLE),
    "an algorithm in a list": (by_hand({"alg": ["HS256"]}, claims("bio-mcp")), UNREADABLE),
    "a critical extension": (by_hand({**HS256, "crit": ["b64"], "b64": False}, claims("bio-mcp")), UNREADABLE),
    "a key of its own": (
        hs256(OTHER_SECRET, headers={"jwk": {"kty": "oct", "k": b64(OTHER_SECRET.encode())}}),
        UNKNOWN,
    ),
    "another secret": (hs256(OTHER_SECRET), UNKNOWN),
    "claims changed after signing": (tampered(), UNKNOWN),
    "a cut signature": (hs256()[:-3], UNKNOWN),
    "no signature": (hs256().rpartition(".")[0] + ".", UNREADABLE),
    "padding": (hs256() + "=", UNREADABLE),
    "something after it": (hs256() + ",,", UNREADABLE),
    "expired": (hs256(exp=int(time.time()) - 60), "the token has expired"),
    "not valid yet": (hs256(nbf=int(time.time()) + 86_400), "the token is not valid yet"),
    "issued tomorrow": (hs256(iat=int(time.time()) + 86_400), "the token is not valid yet"),
    "another audience": (hs256(aud="bio-mcp-test"), "the token is for another audience"),
    "other audiences": (hs256(aud=["x", "y"]), "the token is for another audience"),
    "no audience": (hs256(aud=None), "the token lacks aud"),
    "no end": (hs256(exp=None), "the token lacks exp"),
    "no subject": (hs256(sub=None), "the token lacks sub"),
    "an empty subject": (hs256(sub=" "), "the token names no subject"),
    "a subject that is a number": (by_hand(HS256, claims("bio-mcp", sub=7)), UNREADABLE),
    "an end that is a word": (by_hand(HS256, claims("bio-mcp", exp="never")), UNREADABLE),
    "an end that never comes": (by_hand(HS256, claims("bio-mcp", exp=float("inf"))), UNREADABLE),
    "claims that are an array": (by_hand(HS256, "[]"), UNREADABLE),
    "too long": (hs256(more="x" * 17_000), UNREADABLE),
}

BAD_RS256 = {
    "the public key as a secret": (by_hand(HS256, claims(RESOURCE, iss=ISSUER), public_pem()), UNREADABLE),
    "the public key as a secret, said to be RS256": (
        by_hand({"alg": "RS256", "kid": "first"}, claims(RESOURCE, iss=ISSUER), public_pem()),
        UNKNOWN,
    ),
    "alg none": (unsigned(), UNREADABLE),
    "RS512": (rs256(algorithm="RS512"), UNREADABLE),
    "PS256": (rs256(algorithm="PS256"), UNREADABLE),
    "ES256": (jwt.encode(claims(RESOURCE, iss=ISSUER), curve_key(), algorithm="ES256"), UNREADABLE),
    "a shared secret": (hs256(audience=RESOURCE, iss=ISSUER), UNREADABLE),
    "another key": (rs256("stranger"), UNKNOWN),
    "another key without an id": (rs256("stranger", kid=None), UNKNOWN),
    "a key that is not published": (rs256("stranger", kid="stranger"), UNKNOWN),
    "a key of its own": (rs256("stranger", headers={"jwk": jwk("stranger")}), UNKNOWN),
    "keys of its own elsewhere": (rs256("stranger", headers={"jku": "http://127.0.0.1:9/keys"}), UNKNOWN),
    "a key id that is a number": (by_hand({"alg": "RS256", "kid": 7}, claims(RESOURCE)), UNREADABLE),
    "expired": (rs256(exp=int(time.time()) - 60), "the token has expired"),
    "another audience": (rs256(aud="https://other.example.org/mcp"), "the token is for another audience"),
    "another issuer": (rs256(iss="https://issuer.example.org"), "the token is of another issuer"),
    "no issuer": (rs256(iss=None), "the token lacks iss"),
}

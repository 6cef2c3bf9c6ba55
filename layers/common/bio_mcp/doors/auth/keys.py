"""The keys that may have signed a token: shared secrets, or an issuer's published keys."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from bio_mcp.errors import Misconfigured, UpstreamFailed

MIN_SECRET_BYTES = 32  # of a secret: RFC 7518, 3.2
MIN_MODULUS_BITS = 2048  # of a modulus: RFC 7518, 3.3
NOT_SECRET = ("-----BEGIN", "ssh-", "ecdsa-")


@dataclass(frozen=True)
class Key:
    """One verification key for one algorithm. `kid` is its id, if it has one; `value` is what PyJWT takes."""

    value: Any = field(repr=False)
    kid: str | None = None


Keys = tuple[Key, ...]


def hmac_keys(secrets: Sequence[str]) -> Keys:
    """Keys for HS256, the newest first. Raises `Misconfigured` for a newest one that is short or the half of a pair.

    An older one that is either signs nothing any more and is left out.
    """
    newest, *older = secrets
    if problem := _problem_of(newest):
        raise Misconfigured(problem)
    return (Key(newest), *(Key(secret) for secret in older if not _problem_of(secret)))


def _problem_of(secret: str) -> str:
    if secret.lstrip().startswith(NOT_SECRET):
        return "MCP_AUTH_SECRET_KEY holds a public or private key; it takes a random secret"
    if len(secret.strip().encode()) < MIN_SECRET_BYTES:
        return f"the secret of MCP_AUTH_SECRET_KEY is too short; it takes {MIN_SECRET_BYTES} random bytes or more"
    return ""


def rsa_keys(body: bytes) -> Keys:
    """The RS256 keys of a JSON Web Key Set; its other keys are ignored. Raises `UpstreamFailed` if there are none."""
    try:
        published = json.loads(body)["keys"]
        keys = tuple(key for jwk in published if isinstance(jwk, dict) and (key := _rsa_key(jwk)))
    except (ValueError, KeyError, TypeError, RecursionError):
        keys = ()
    if not keys:
        raise UpstreamFailed("the issuer publishes no key that RS256 tokens could be signed with")
    return keys


def _rsa_key(jwk: Mapping[str, Any]) -> Key | None:
    import jwt

    if jwk.get("kty") != "RSA" or jwk.get("use", "sig") != "sig" or jwk.get("alg", "RS256") != "RS256" or "d" in jwk:
        return None
    try:
        public = jwt.PyJWK(dict(jwk), algorithm="RS256").key
    except (jwt.PyJWTError, ValueError, TypeError):
        return None
    kid = jwk.get("kid")
    return Key(public, kid if isinstance(kid, str) else None) if public.key_size >= MIN_MODULUS_BITS else None


def candidates(keys: Iterable[Key], kid: str | None) -> list[Key]:
    """The keys with the id that a token names; without one, and for keys without an id, all are candidates."""
    return [key for key in keys if kid is None or key.kid in (None, kid)]

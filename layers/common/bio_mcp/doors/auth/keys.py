"""The keys that may have signed a token: a shared secret or an issuer's published keys."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from bio_mcp.errors import Misconfigured, UpstreamFailed

LEAST_BYTES = 32  # of a secret: RFC 7518, 3.2
LEAST_BITS = 2048  # of a modulus: RFC 7518, 3.3
NOT_SECRET = ("-----BEGIN", "ssh-", "ecdsa-")


@dataclass(frozen=True)
class Key:
    """One key, for one algorithm. `kid` is its id where it has one; `value` is what PyJWT takes."""

    value: Any = field(repr=False)
    kid: str | None = None


Keys = tuple[Key, ...]


def hmac_keys(secrets: Sequence[str]) -> Keys:
    """Keys for HS256, the newest first. Raises `Misconfigured` for a newest one that is short or the half of a pair.

    An older one that is either signs nothing any more and is left out.
    """
    newest, *older = secrets
    if problem := _unfit(newest):
        raise Misconfigured(problem)
    return (Key(newest), *(Key(each) for each in older if not _unfit(each)))


def _unfit(secret: str) -> str:
    if secret.lstrip().startswith(NOT_SECRET):
        return "MCP_AUTH_SECRET_KEY holds a public or private key; it takes a random secret"
    if len(secret.strip().encode()) < LEAST_BYTES:
        return f"the secret of MCP_AUTH_SECRET_KEY is too short; it takes {LEAST_BYTES} random bytes or more"
    return ""


def rsa_keys(body: bytes) -> Keys:
    """The keys for RS256 in a JSON Web Key Set; others in it are left out. Raises `UpstreamFailed` without any."""
    try:
        given = json.loads(body)["keys"]
        keys = tuple(key for each in given if isinstance(each, dict) and (key := _rsa_key(each)))
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
    return Key(public, kid if isinstance(kid, str) else None) if public.key_size >= LEAST_BITS else None


def fitting(keys: Iterable[Key], kid: str | None) -> list[Key]:
    """Keys of the id that a token names; without one, and of keys without ids, all may fit."""
    return [key for key in keys if kid is None or key.kid in (None, kid)]

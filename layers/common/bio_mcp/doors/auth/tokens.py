"""Signing keys, the validation of access tokens (JWTs), and the caller that one names."""

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from bio_mcp.callers import Caller
from bio_mcp.errors import Misconfigured, UpstreamFailed
from bio_mcp.refreshing import RefreshingValue

KEY = "bio_mcp.caller"  # in an ASGI scope


def caller_of(request: Any) -> Caller | None:
    """The caller of an HTTP request; None if no token is required, and for a client in this process."""
    scope: Mapping[str, Any] = getattr(request, "scope", None) or {}
    caller: Caller | None = scope.get(KEY)
    return caller


MIN_SECRET_BYTES = 32  # of a secret: RFC 7518, 3.2
MIN_MODULUS_BITS = 2048  # of a modulus: RFC 7518, 3.3
NOT_SECRET = ("-----BEGIN", "ssh-", "ecdsa-")


@dataclass(frozen=True)
class Key:
    """One verification key for one algorithm. `kid` is its id, if it has one; `value` is what PyJWT takes."""

    value: Any = field(repr=False)
    kid: str | None = None
    algorithm: str = "HS256"


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


def public_keys(body: bytes, algorithms: Sequence[str] = ("RS256",)) -> Keys:
    """The keys of these algorithms, RS256 or ES256, in a JSON Web Key Set; its other keys are ignored. Raises
    `UpstreamFailed` if there are none."""
    try:
        published = json.loads(body)["keys"]
        keys = tuple(key for jwk in published if isinstance(jwk, dict) and (key := _public_key(jwk, algorithms)))
    except (ValueError, KeyError, TypeError, RecursionError):
        keys = ()
    if not keys:
        named = " or ".join(algorithms)
        raise UpstreamFailed(f"the issuer publishes no key that {named} tokens could be signed with")
    return keys


OF_FAMILY = {("RSA", None): "RS256", ("EC", "P-256"): "ES256"}  # key type, curve


def _public_key(jwk: Mapping[str, Any], algorithms: Sequence[str]) -> Key | None:
    import jwt

    kind, curve = jwk.get("kty"), jwk.get("crv")
    algorithm = OF_FAMILY.get((kind, curve)) if isinstance(kind, str) and isinstance(curve, str | None) else None
    if algorithm not in algorithms or jwk.get("use", "sig") != "sig" or "d" in jwk:
        return None
    if jwk.get("alg", algorithm) != algorithm:
        return None
    try:
        public = jwt.PyJWK(dict(jwk), algorithm=algorithm).key
    except (jwt.PyJWTError, ValueError, TypeError):
        return None
    if algorithm == "RS256" and public.key_size < MIN_MODULUS_BITS:
        return None
    kid = jwk.get("kid")
    return Key(public, kid if isinstance(kid, str) else None, str(algorithm))


def candidates(keys: Iterable[Key], kid: str | None) -> list[Key]:
    """The keys with the id that a token names; without one, and for keys without an id, all are candidates."""
    return [key for key in keys if kid is None or key.kid in (None, kid)]


LEEWAY_S = 30
MAX_TOKEN = 16 * 1024  # characters
LISTED = "listed"  # the claim with the id of a token that its owner can end
COMPACT = re.compile(r"[\w-]+\.[\w-]+\.[\w-]+", re.ASCII)  # RFC 7515, 7.1; PyJWT reads over what is not base64


class TokenRejected(Exception):
    """An invalid token. The message may be shown: it tells the holder of a signed token what is wrong with it, and
    anybody else nothing."""


@dataclass(frozen=True)
class Tokens:
    """The rules for valid tokens. The configuration sets their `algorithms`, never the token, and each key is for one
    of them, so that a public key is never taken for a shared secret.

    A token must be signed by one of `keys`, be within its validity (give or take `LEEWAY_S`), and name `audience`, the
    `issuer` if there is one, a subject, and what else is `required`. `kind` is the type that its header must name.
    `is_open` says of a token that is `listed` by an id whether nobody has ended it; without it no such token is good.
    """

    algorithms: tuple[str, ...]
    keys: RefreshingValue[Keys]
    audience: str
    issuer: str = ""
    kind: str = ""
    required: tuple[str, ...] = ()
    is_open: Callable[[str], bool] | None = None

    def check(self, token: str) -> Caller:
        """The caller of a valid token. Raises `TokenRejected`, or a `Failure` if the keys cannot be read."""
        claims = self.claims(token)
        if (listed := _word(claims, LISTED)) and not (self.is_open and self.is_open(listed)):
            raise TokenRejected("the token was ended")
        return Caller(claims["sub"], frozenset(scopes_in(claims)), _word(claims, "tenant"), _word(claims, "client_id"))

    def claims(self, token: str) -> Mapping[str, Any]:
        """The claims of a valid token. Raises as `check`."""
        header = self._header(token)
        claims = self._verified(token, header, self.keys.get())
        if claims is None:
            claims = self._verified(token, header, self.keys.refresh() or ())
        if claims is None:
            raise TokenRejected("the token is not signed by a known key")
        if not claims["sub"].strip():
            raise TokenRejected("the token names no subject")
        return claims

    def _header(self, token: str) -> Mapping[str, Any]:
        import jwt

        try:
            compact = len(token) <= MAX_TOKEN and COMPACT.fullmatch(token)
            header = jwt.get_unverified_header(token) if compact else {}
        except (jwt.PyJWTError, ValueError, RecursionError):
            header = {}
        if header.get("alg") not in self.algorithms or "crit" in header:
            raise TokenRejected("the token cannot be read")
        if self.kind and header.get("typ") != self.kind:
            raise TokenRejected(f"the token is of another type than {self.kind}")
        return header

    def _verified(self, token: str, header: Mapping[str, Any], keys: Iterable[Key]) -> Mapping[str, Any] | None:
        """The validated claims; None if none of `keys` signed the token."""
        import jwt

        kid = header.get("kid")
        required = ["exp", "aud", "sub", *(["iss"] if self.issuer else []), *self.required]
        for key in candidates(keys, kid if isinstance(kid, str) else None):
            if key.algorithm != header["alg"]:
                continue
            try:
                return jwt.decode(
                    token,
                    key.value,
                    algorithms=[key.algorithm],
                    audience=self.audience,
                    issuer=self.issuer or None,
                    leeway=LEEWAY_S,
                    options={"require": required},
                )
            except jwt.InvalidSignatureError:
                continue
            except (jwt.PyJWTError, ValueError, TypeError, ArithmeticError, RecursionError) as error:
                problem = _problem(error)
            raise TokenRejected(problem)
        return None


def _problem(error: Exception) -> str:
    import jwt

    known: dict[type[Exception], str] = {
        jwt.ExpiredSignatureError: "the token has expired",
        jwt.ImmatureSignatureError: "the token is not valid yet",
        jwt.InvalidAudienceError: "the token is for another audience",
        jwt.InvalidIssuerError: "the token is of another issuer",
    }
    if isinstance(error, jwt.MissingRequiredClaimError):
        return f"the token lacks {error.claim}"
    return known.get(type(error), "the token cannot be read")


def scopes_in(claims: Mapping[str, Any]) -> Iterable[str]:
    """The token's scopes. RFC 9068 has `scope` as words in a string; some issuers write `scp`, and some a list."""
    for value in (claims.get("scope"), claims.get("scp")):
        yield from value.split() if isinstance(value, str) else ()
        yield from (scope for scope in value if isinstance(scope, str)) if isinstance(value, list) else ()


def _word(claims: Mapping[str, Any], name: str) -> str:
    """A claim that is a string; "" without it."""
    value = claims.get(name)
    return value if isinstance(value, str) else ""

"""Validation of access tokens (JWTs)."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from bio_mcp.callers import Caller
from bio_mcp.doors.auth.keys import Key, Keys, candidates
from bio_mcp.refreshing import RefreshingValue

LEEWAY_S = 30
MAX_TOKEN = 16 * 1024  # characters
COMPACT = re.compile(r"[\w-]+\.[\w-]+\.[\w-]+", re.ASCII)  # RFC 7515, 7.1; PyJWT reads over what is not base64


class TokenRejected(Exception):
    """An invalid token. The message may be shown: it tells the holder of a signed token what is wrong with it, and
    anybody else nothing."""


@dataclass(frozen=True)
class Tokens:
    """The rules for valid tokens, of one algorithm. The configuration sets it, never the token, so that a public key is
    never taken for a shared secret.

    A token must be signed by one of `keys`, be within its validity (give or take `LEEWAY_S`), and name `audience`, the
    `issuer` if there is one, and a subject.
    """

    algorithm: str
    keys: RefreshingValue[Keys]
    audience: str
    issuer: str = ""

    def check(self, token: str) -> Caller:
        """The caller of a valid token. Raises `TokenRejected`, or a `Failure` if the keys cannot be read."""
        kid = self._kid(token)
        claims = self._claims(token, candidates(self.keys.get(), kid))
        if claims is None:
            claims = self._claims(token, candidates(self.keys.refresh() or (), kid))
        if claims is None:
            raise TokenRejected("the token is not signed by a known key")
        if not claims["sub"].strip():
            raise TokenRejected("the token names no subject")
        return Caller(claims["sub"], frozenset(_scopes(claims)), _word(claims, "tenant"), _word(claims, "client_id"))

    def _kid(self, token: str) -> str | None:
        import jwt

        try:
            compact = len(token) <= MAX_TOKEN and COMPACT.fullmatch(token)
            header = jwt.get_unverified_header(token) if compact else {}
        except (jwt.PyJWTError, ValueError, RecursionError):
            header = {}
        if header.get("alg") != self.algorithm or "crit" in header:
            raise TokenRejected("the token cannot be read")
        kid = header.get("kid")
        return kid if isinstance(kid, str) else None

    def _claims(self, token: str, keys: Iterable[Key]) -> Mapping[str, Any] | None:
        """The validated claims; None if none of `keys` signed the token."""
        import jwt

        required = ["exp", "aud", "sub", *(["iss"] if self.issuer else [])]
        for key in keys:
            try:
                return jwt.decode(
                    token,
                    key.value,
                    algorithms=[self.algorithm],
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


def _scopes(claims: Mapping[str, Any]) -> Iterable[str]:
    """The token's scopes. RFC 9068 has `scope` as words in a string; some issuers write `scp`, and some a list."""
    for value in (claims.get("scope"), claims.get("scp")):
        yield from value.split() if isinstance(value, str) else ()
        yield from (scope for scope in value if isinstance(scope, str)) if isinstance(value, list) else ()


def _word(claims: Mapping[str, Any], name: str) -> str:
    """A claim that is a string; "" without it."""
    value = claims.get(name)
    return value if isinstance(value, str) else ""

"""What makes an access token valid."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from bio_mcp.adapters.refreshing import RefreshingValue
from bio_mcp.doors.auth.keys import Key, Keys, fitting

LEEWAY_S = 30
MAX_TOKEN = 16 * 1024  # characters
COMPACT = re.compile(r"[\w-]+\.[\w-]+\.[\w-]+", re.ASCII)  # RFC 7515, 7.1; PyJWT reads over what is not base64


class TokenRejected(Exception):
    """A token that is not valid. The message may be shown: it tells the holder of a signed token what is wrong with
    it, and anybody else nothing."""


@dataclass(frozen=True)
class Caller:
    """Whom a token speaks for, and what it allows."""

    subject: str
    scopes: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Tokens:
    """Tokens of one algorithm, which configuration sets and no token chooses: a public key is never a secret.

    A token must be signed by one of `keys`, not be expired nor too young (give or take `LEEWAY_S`), name `audience`,
    the `issuer` where there is one, and a subject.
    """

    algorithm: str
    keys: RefreshingValue[Keys]
    audience: str
    issuer: str = ""

    def check(self, token: str) -> Caller:
        """Raises `TokenRejected`; or a `Failure` when the keys cannot be read, so that nobody can tell."""
        kid = self._kid(token)
        claims = self._claims(token, fitting(self.keys.get(), kid))
        if claims is None:
            claims = self._claims(token, fitting(self.keys.refresh() or (), kid))
        if claims is None:
            raise TokenRejected("the token is not signed by a known key")
        if not claims["sub"].strip():
            raise TokenRejected("the token names no subject")
        return Caller(claims["sub"], frozenset(_scopes(claims)))

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
        """None when none of `keys` signed it."""
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
    """`scope` is a string of words in RFC 9068; some issuers write `scp`, and some a list."""
    for given in (claims.get("scope"), claims.get("scp")):
        yield from given.split() if isinstance(given, str) else ()
        yield from (each for each in given if isinstance(each, str)) if isinstance(given, list) else ()

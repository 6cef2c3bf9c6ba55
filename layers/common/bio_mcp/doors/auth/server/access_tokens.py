"""Access tokens of our own authorization server: JWTs (RFC 9068) that last a quarter of an hour."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from mcp.server.auth.provider import AccessToken

from bio_mcp.callers import Caller, Scope
from bio_mcp.doors.auth.access import Access
from bio_mcp.doors.auth.secrets import new_secret
from bio_mcp.doors.auth.tokens import TokenRejected
from bio_mcp.literature.clock import utc_now

LIFETIME = timedelta(minutes=15)


class GrantedToken(AccessToken):
    """An access token of a grant."""

    grant: str


@dataclass(frozen=True)
class AccessTokens:
    """Makes the tokens that `access` accepts, signed with its newest key."""

    access: Access
    now: Callable[[], datetime] = utc_now

    def issue(self, caller: Caller, client_id: str, scopes: Sequence[str], grant: str) -> str:
        """An access token for `client_id` to act for the caller, with these scopes."""
        import jwt

        issued = self.now()
        claims = {
            "iss": self.access.issuer,
            "sub": caller.subject,
            "aud": self.access.tokens.audience,
            "iat": int(issued.timestamp()),
            "exp": int((issued + LIFETIME).timestamp()),
            "scope": " ".join([*scopes, *self._required(scopes)]),
            "client_id": client_id,
            "grant": grant,
            "jti": new_secret(),
            **({"tenant": caller.tenant} if caller.tenant else {}),
        }
        newest = self.access.tokens.keys.get()[0]
        return jwt.encode(claims, newest.value, algorithm="HS256", headers={"typ": "at+jwt"})

    def _required(self, scopes: Sequence[str]) -> list[str]:
        """What the settings want in every token, unless it would allow more than these scopes."""
        with_it = Caller("", frozenset([*scopes, *self.access.scopes]))
        return list(self.access.scopes) if self.access.permitted(with_it).scopes <= set[Scope | str](scopes) else []

    def read(self, token: str) -> GrantedToken | None:
        """A token that is good and one of a grant; None of any other."""
        import jwt

        try:
            caller = self.access.tokens.check(token)
        except TokenRejected:
            return None
        grant = jwt.decode(token, options={"verify_signature": False}).get("grant")
        scopes = sorted(caller.scopes)
        return GrantedToken(token=token, client_id=caller.client, scopes=scopes, grant=grant) if grant else None

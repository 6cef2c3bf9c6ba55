"""What people allow clients: grants, and the codes and refresh tokens that come of them.

A grant lives on in refresh tokens, of which each is used once. Without its grant none of them is worth anything, so
what ends a grant is one deletion.
"""

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from mcp.server.auth.provider import AuthorizationCode, AuthorizationParams, RefreshToken, TokenError
from mcp.shared.auth import OAuthToken

from bio_mcp.callers import Caller
from bio_mcp.doors.auth.secrets import hashed, new_secret, owner_of
from bio_mcp.doors.auth.server.access_tokens import LIFETIME as TOKEN_LIFETIME
from bio_mcp.doors.auth.server.access_tokens import AccessTokens
from bio_mcp.doors.auth.server.clients import Client, client, is_address
from bio_mcp.doors.auth.sessions import caller_in
from bio_mcp.literature.clock import utc_now
from bio_mcp.ports.authorizations import Authorization, Authorizations

GRANT, CODE, REFRESH, SPENT, CLIENT = "grant", "code", "refresh", "spent", "client"
GRANT_LIFETIME = timedelta(days=180)
CODE_LIFETIME = timedelta(seconds=60)
REFRESH_LIFETIME = timedelta(days=30)

log = logging.getLogger(__name__)


class Code(AuthorizationCode):
    """An authorization code; `grant` is the key of what it stands for."""

    grant: str


class Refresh(RefreshToken):
    """A refresh token of a grant."""

    grant: str


@dataclass(frozen=True)
class Grants:
    """Grants in the store; `tokens` makes access tokens. Every method may raise `StoreFailed`."""

    authorizations: Callable[[], Authorizations]
    tokens: AccessTokens
    now: Callable[[], datetime] = utc_now

    def begin(self, caller: Caller, to: Client, params: AuthorizationParams) -> str:
        """Allow the client what `params.scopes` names, for the caller; returns the code that says so."""
        grant, secret = new_secret(), new_secret()
        scopes = params.scopes or []
        until = self.now() + GRANT_LIFETIME
        content = {
            "subject": caller.subject,
            "tenant": caller.tenant,
            "scopes": scopes,
            "client_id": to.client_id,
            "client": to.shown,
            "at": self.now().isoformat(timespec="seconds"),
        }
        self._put(GRANT, grant, owner_of(caller), until, content)
        if is_address(to.client_id):
            known = {"redirects": [str(uri) for uri in to.redirect_uris or []], "name": to.client_name}
            self._put(CLIENT, hashed(to.client_id), CLIENT, until, known)
        code = Code(
            code=secret,
            scopes=scopes,
            expires_at=(self.now() + CODE_LIFETIME).timestamp(),
            client_id=to.client_id,
            code_challenge=params.code_challenge,
            redirect_uri=params.redirect_uri,
            redirect_uri_provided_explicitly=params.redirect_uri_provided_explicitly,
            grant=grant,
        )
        # for longer than it is good, so that a second use is noticed
        content = code.model_dump(mode="json", exclude={"code"})
        self._put(CODE, hashed(secret), grant, self.now() + 10 * CODE_LIFETIME, content)
        return secret

    def client(self, address: str) -> Client | None:
        """The client at this address as it was when a person last allowed it something."""
        found = self.authorizations().get(CLIENT, hashed(address))
        return client(address, found.content["redirects"], found.content["name"] or "") if found else None

    def code(self, secret: str) -> Code | None:
        """The code, also one that has been used; None for what is no code."""
        found = self.authorizations().get(CODE, hashed(secret))
        return Code(**found.content, code=secret) if found else None

    def refresh_token(self, secret: str) -> Refresh | None:
        """The refresh token, also one that has been used; None for what is none."""
        found = self.authorizations().get(REFRESH, hashed(secret))
        return Refresh(**found.content, token=secret) if found else None

    def exchange(self, code: Code) -> OAuthToken:
        """The tokens for a code. Raises `TokenError` at its second use, which ends the grant."""
        return self._tokens(code.code, code, code.scopes, code.scopes)

    def refresh(self, token: Refresh, scopes: list[str]) -> OAuthToken:
        """An access token for `scopes` and the next refresh token. Raises `TokenError` at a second use of this one,
        which ends the grant: one of the two who have it has stolen it."""
        return self._tokens(token.token, token, scopes, token.scopes)

    def _tokens(self, secret: str, used: Code | Refresh, scopes: list[str], lasting: list[str]) -> OAuthToken:
        store, until = self.authorizations(), self.now() + REFRESH_LIFETIME
        spent = Authorization(SPENT, hashed(secret), used.grant, until, {})
        if not store.add(spent):
            self.end(used.grant)
            log.warning("a code or refresh token was used twice; its grant has ended")
            raise TokenError("invalid_grant", "it has been used before, and what it stood for has ended")
        grant = store.get(GRANT, used.grant)
        if grant is None:
            raise TokenError("invalid_grant", "what it stood for has ended")
        following = new_secret()
        until = min(until, grant.expires)
        content = {"client_id": used.client_id, "scopes": lasting, "expires_at": int(until.timestamp())}
        self._put(REFRESH, hashed(following), used.grant, until, {**content, "grant": used.grant})
        access = self.tokens.issue(caller_in(grant), used.client_id, scopes, used.grant)
        seconds = int(TOKEN_LIFETIME.total_seconds())
        return OAuthToken(access_token=access, expires_in=seconds, scope=" ".join(scopes), refresh_token=following)

    def end(self, grant: str) -> bool:
        """End a grant, with its codes and refresh tokens; returns whether there was one. Access tokens end with their
        time."""
        ended = self.authorizations().take(GRANT, grant)
        self.authorizations().revoke(grant)
        return ended is not None

    def _put(self, kind: str, key: str, owner: str, until: datetime, content: Mapping[str, Any]) -> None:
        self.authorizations().put(Authorization(kind, key, owner, until.astimezone(UTC), content))

"""What people allow clients: grants, and the codes and tokens that come of them, as the handlers of the MCP SDK ask.

A grant lives on in refresh tokens, of which each is used once. Without its grant none of them is worth anything, so
what ends a grant is one deletion.
"""

import logging
import re
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import Any, Concatenate, ParamSpec, TypeVar
from urllib.parse import urlencode

from anyio.to_thread import run_sync
from mcp.server.auth.provider import (
    AccessToken,
    AuthorizationCode,
    AuthorizationParams,
    AuthorizeError,
    IdentityAssertionParams,
    OAuthAuthorizationServerProvider,
    RefreshToken,
    TokenError,
)
from mcp.shared.auth import OAuthClientInformationFull, OAuthToken

from bio_mcp.callers import Caller, Scope
from bio_mcp.doors.auth.access import Access
from bio_mcp.doors.auth.clients import Client, client, is_address, is_sealed, register, registered
from bio_mcp.doors.auth.sessions import caller_in, derived, hashed, new_secret, owner_of
from bio_mcp.doors.auth.tokens import TokenRejected
from bio_mcp.errors import InvalidInput, UpstreamFailed
from bio_mcp.literature.clock import utc_now
from bio_mcp.ports.state import Authorization, Authorizations

GRANT, CODE, REFRESH, SPENT, CLIENT, ASSERTION = "grant", "code", "refresh", "spent", "client", "assertion"
GRANT_LIFETIME = timedelta(days=180)
CODE_LIFETIME = timedelta(seconds=60)
REFRESH_LIFETIME = timedelta(days=30)
ACCESS_LIFETIME = timedelta(minutes=15)
REQUEST_LIFETIME = timedelta(minutes=10)
CONSENT = "/consent"
PURPOSE = "requests of clients"
CHALLENGE = re.compile(r"[\w-]{43}", re.ASCII)  # SHA-256 in base64url

P = ParamSpec("P")
T = TypeVar("T")

log = logging.getLogger(__name__)


class GrantedToken(AccessToken):
    """An access token of a grant."""

    grant: str


class Code(AuthorizationCode):
    """An authorization code; `grant` is the key of what it stands for."""

    grant: str


class Refresh(RefreshToken):
    """A refresh token of a grant."""

    grant: str


def in_thread(
    method: Callable[Concatenate["Provider", P], T],
) -> Callable[Concatenate["Provider", P], Coroutine[Any, Any, T]]:
    """The method as the SDK awaits it: it asks the store, which blocks."""

    async def run(self: "Provider", /, *given: P.args, **named: P.kwargs) -> T:
        return await run_sync(partial(method, self, *given, **named))

    return run


@dataclass(frozen=True)
class Provider(OAuthAuthorizationServerProvider[Code, Refresh, GrantedToken]):
    """Our side of the SDK's handlers. Every method may raise `StoreFailed`.

    `fetch` gets the client that the description at an address is of; without it one is as it was when a person last
    allowed it something.
    """

    access: Access
    authorizations: Callable[[], Authorizations]
    fetch: Callable[[str], Client] | None = None

    @in_thread
    def get_client(self, client_id: str) -> Client | None:
        """The client of this id; None for an unknown one, and one whose description cannot be had."""
        if is_sealed(client_id):
            return registered(client_id, self.access.tokens.keys.get())
        if not is_address(client_id):
            return None
        try:
            if self.fetch:
                return self.fetch(client_id)
        except (InvalidInput, UpstreamFailed) as failure:
            log.warning("a client's description cannot be used: %s", failure)
            return None
        found = self.authorizations().get(CLIENT, hashed(client_id))
        return client(client_id, found.content["redirects"], found.content["name"] or "") if found else None

    @in_thread
    def register_client(self, client_info: OAuthClientInformationFull) -> None:
        """Complete `client_info`, which is sent back to the client."""
        register(client_info, self.access.tokens.keys.get())

    def is_for_us(self, resource: str | None) -> bool:
        """Whether a client wants a token for this server (RFC 8707): it says so, or says nothing."""
        return not resource or resource.rstrip("/") == self.access.resource.rstrip("/")

    async def authorize(self, client: OAuthClientInformationFull, params: AuthorizationParams) -> str:
        """The address of the page that asks the person, with the request sealed. Raises `AuthorizeError`."""
        import jwt

        if not CHALLENGE.fullmatch(params.code_challenge):
            raise AuthorizeError("invalid_request", "code_challenge is a SHA-256 in base64url (S256)")
        if not self.is_for_us(params.resource):
            raise AuthorizeError("invalid_target", "resource is not this server's")
        claims = {
            "client_id": client.client_id,
            "params": params.model_dump(mode="json"),
            "exp": int((utc_now() + REQUEST_LIFETIME).timestamp()),
        }
        sealed = jwt.encode(claims, derived(self.access.tokens.keys.get()[0].value, PURPOSE), algorithm="HS256")
        return f"{CONSENT}?{urlencode({'request': sealed})}"

    def opened(self, sealed: str) -> tuple[str, AuthorizationParams] | None:
        """The client's id and its request; None for what we did not seal, or too long ago."""
        import jwt

        for key in self.access.tokens.keys.get():
            try:
                claims = jwt.decode(sealed, derived(key.value, PURPOSE), algorithms=["HS256"])
            except jwt.PyJWTError:
                continue
            return claims["client_id"], AuthorizationParams(**claims["params"])
        return None

    def allow(self, caller: Caller, to: Client, params: AuthorizationParams) -> str:
        """Allow the client what `params.scopes` names, for the caller; returns the code that says so."""
        grant, secret, scopes = new_secret(), new_secret(), params.scopes or []
        until = utc_now() + GRANT_LIFETIME
        content = {
            "subject": caller.subject,
            "tenant": caller.tenant,
            "scopes": scopes,
            "client_id": to.client_id,
            "client": to.shown,
            "at": utc_now().isoformat(timespec="seconds"),
        }
        store = self.authorizations()
        store.put(Authorization(GRANT, grant, owner_of(caller), until, content))
        if is_address(to.client_id):
            known = {"redirects": [str(uri) for uri in to.redirect_uris or []], "name": to.client_name}
            store.put(Authorization(CLIENT, hashed(to.client_id), CLIENT, until, known))
        code = Code(
            code=secret,
            scopes=scopes,
            expires_at=(utc_now() + CODE_LIFETIME).timestamp(),
            client_id=to.client_id,
            code_challenge=params.code_challenge,
            redirect_uri=params.redirect_uri,
            redirect_uri_provided_explicitly=params.redirect_uri_provided_explicitly,
            grant=grant,
        )
        # for longer than it is good, so that a second use is noticed
        content = code.model_dump(mode="json", exclude={"code"})
        store.put(Authorization(CODE, hashed(secret), grant, utc_now() + 10 * CODE_LIFETIME, content))
        return secret

    @in_thread
    def load_authorization_code(self, _client: OAuthClientInformationFull, authorization_code: str) -> Code | None:
        """The code, also one that has been used; the handler compares it with client, redirect URI and verifier."""
        found = self.authorizations().get(CODE, hashed(authorization_code))
        return Code(**found.content, code=authorization_code) if found else None

    @in_thread
    def exchange_authorization_code(self, _client: OAuthClientInformationFull, authorization_code: Code) -> OAuthToken:
        """The tokens for a code. Raises `TokenError` at its second use, which ends the grant."""
        scopes = authorization_code.scopes
        return self._tokens(authorization_code.code, authorization_code, scopes, scopes)

    @in_thread
    def load_refresh_token(self, _client: OAuthClientInformationFull, refresh_token: str) -> Refresh | None:
        """The refresh token, also one that has been used; the handler compares it with the client."""
        found = self.authorizations().get(REFRESH, hashed(refresh_token))
        return Refresh(**found.content, token=refresh_token) if found else None

    @in_thread
    def exchange_refresh_token(
        self, _client: OAuthClientInformationFull, refresh_token: Refresh, scopes: list[str]
    ) -> OAuthToken:
        """An access token for `scopes` and the next refresh token. Raises `TokenError` at a second use of this one,
        which ends the grant: one of the two who have it has stolen it."""
        return self._tokens(refresh_token.token, refresh_token, scopes, refresh_token.scopes)

    @in_thread
    def exchange_identity_assertion(
        self, client: OAuthClientInformationFull, params: IdentityAssertionParams
    ) -> OAuthToken:
        """An access token, and no more, for what an identity provider asserts. Raises `TokenError`, for its second use
        too."""
        provider, client_id = self.access.identity_provider, str(client.client_id)
        if provider is None:
            raise TokenError("unsupported_grant_type", "no identity provider is configured")
        try:
            read = provider.read(params.assertion, client_id, self.is_for_us)
        except TokenRejected as rejected:
            raise TokenError("invalid_grant", str(rejected)) from None
        named = [each for each in (read.caller.scopes, params.scopes) if each]
        scopes = [each for each in provider.scopes if all(each in self.access.named(some) for some in named)]
        if not scopes:
            raise TokenError("invalid_scope", "nothing of what is asked for is allowed")
        used = Authorization(ASSERTION, hashed(read.key), ASSERTION, read.expires, {})
        if not self.authorizations().put(used, new=True):
            raise TokenError("invalid_grant", "the assertion has been used before")
        log.info("let in by the identity provider: %s", " ".join(scopes), extra={"subject": read.caller.subject})
        return OAuthToken(
            access_token=self._access_token(read.caller, client_id, scopes),
            expires_in=int(ACCESS_LIFETIME.total_seconds()),
            scope=" ".join(scopes),
        )

    def _tokens(self, secret: str, used: Code | Refresh, scopes: list[str], lasting: list[str]) -> OAuthToken:
        store, until = self.authorizations(), utc_now() + REFRESH_LIFETIME
        spent = Authorization(SPENT, hashed(secret), used.grant, until, {})
        if not store.put(spent, new=True):
            self._end(used.grant)
            log.warning("a code or refresh token was used twice; its grant has ended")
            raise TokenError("invalid_grant", "it has been used before, and what it stood for has ended")
        grant = store.get(GRANT, used.grant)
        if grant is None:
            raise TokenError("invalid_grant", "what it stood for has ended")
        following = new_secret()
        until = min(until, grant.expires)
        content = {"client_id": used.client_id, "scopes": lasting, "expires_at": int(until.timestamp())}
        store.put(Authorization(REFRESH, hashed(following), used.grant, until, {**content, "grant": used.grant}))
        return OAuthToken(
            access_token=self._access_token(caller_in(grant), used.client_id, scopes, used.grant),
            expires_in=int(ACCESS_LIFETIME.total_seconds()),
            scope=" ".join(scopes),
            refresh_token=following,
        )

    def _access_token(self, caller: Caller, client_id: str, scopes: Sequence[str], grant: str = "") -> str:
        """An access token that `access` accepts, for `client_id` to act for the caller, with these scopes."""
        import jwt

        issued, access = utc_now(), self.access
        with_required = Caller("", frozenset([*scopes, *access.scopes]))
        widened = not access.permitted(with_required).scopes <= set[Scope | str](scopes)
        claims = {
            "iss": access.issuer,
            "sub": caller.subject,
            "aud": access.tokens.audience,
            "iat": int(issued.timestamp()),
            "exp": int((issued + ACCESS_LIFETIME).timestamp()),
            # what the settings want in every token, unless it would allow more than these scopes
            "scope": " ".join([*scopes, *(() if widened else access.scopes)]),
            "client_id": client_id,
            "jti": new_secret(),
            **({"grant": grant} if grant else {}),
            **({"tenant": caller.tenant} if caller.tenant else {}),
        }
        return jwt.encode(claims, access.tokens.keys.get()[0].value, algorithm="HS256", headers={"typ": "at+jwt"})

    @in_thread
    def load_access_token(self, token: str) -> GrantedToken | None:
        """The access token, if it is good and one of a grant."""
        import jwt

        try:
            caller = self.access.tokens.check(token)
        except TokenRejected:
            return None
        grant = jwt.decode(token, options={"verify_signature": False}).get("grant")
        scopes = sorted(caller.scopes)
        return GrantedToken(token=token, client_id=caller.client, scopes=scopes, grant=grant) if grant else None

    @in_thread
    def revoke_token(self, token: GrantedToken | Refresh) -> None:
        """End the grant of a token, so that no further tokens come of it. Access tokens end with their time."""
        self._end(token.grant)

    def _end(self, grant: str) -> None:
        self.authorizations().take(GRANT, grant)
        self.authorizations().revoke(grant)  # its codes and refresh tokens

"""Which access tokens are accepted, by the settings, and how they are issued."""

import ipaddress
import logging
import re
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from urllib.parse import urlsplit

from bio_mcp.callers import SCOPES, Caller
from bio_mcp.doors.auth.assertions import IdentityProvider, identity_provider
from bio_mcp.doors.auth.tokens import LISTED, Keys, Tokens, hmac_keys, public_keys
from bio_mcp.errors import InvalidInput, Misconfigured
from bio_mcp.ports.state import Authorizations
from bio_mcp.refreshing import RefreshingValue
from bio_mcp.settings import Settings
from bio_mcp.untrusted import excerpt
from bio_mcp.wiring import published_keys
from bio_mcp.wiring.mode import STORED, stored_secret

DEFAULT_AUDIENCE = "bio-mcp"
TOKEN = "token"  # noqa: S105  the kind of a listed token among authorizations
LOOPBACK_HOSTS = ("127.0.0.1:*", "localhost:*", "[::1]:*")
LOOPBACK_ORIGIN = r"https?://(127\.0\.0\.1|localhost|\[::1\])(:\d{1,5})?"
SCOPE_TOKEN = re.compile(r"[!#-\[\]-~]+")  # characters of a scope (RFC 6749, 3.3), of a quoted string without escapes

log = logging.getLogger(__name__)


def is_loopback(host: str) -> bool:
    """Whether `host`, a name or an address, is certainly this machine."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


@dataclass(frozen=True)
class Access:
    """The access policy: a call needs one of `tokens` with all of `scopes`.

    `resource` is the endpoint's public URL and `issuer` the authorization server, each empty if there is none. A token
    with `write_scope` may do everything, one with `read_scope` may read and ask NCBI, and one that names no scope of
    this server has `default_scopes`. With `public_read` nobody needs a token to read. Our own authorization server
    takes assertions of `identity_provider`, if there is one.
    """

    tokens: Tokens
    scopes: tuple[str, ...] = ()
    resource: str = ""
    issuer: str = ""
    read_scope: str = "bio:read"
    write_scope: str = "bio:write"
    calls_per_minute: int = 0
    default_scopes: tuple[str, ...] = SCOPES
    public_read: bool = False
    identity_provider: IdentityProvider | None = None

    @property
    def issues_tokens(self) -> bool:
        """Whether the issuer is our own authorization server."""
        return bool(self.issuer) and self.signs_tokens

    @property
    def signs_tokens(self) -> bool:
        """Whether tokens are signed with a secret of ours."""
        return "HS256" in self.tokens.algorithms

    def issue(self, caller: Caller, lifetime: timedelta, now: datetime, listed: str = "") -> tuple[str, datetime]:
        """Issue a token of the caller, with every scope that is required besides theirs. Returns it and its expiry.

        One that is `listed` by an id is good while the store has that. It is signed with the newest secret. Raises
        `StoreFailed` if a secret that AWS stores cannot be read.
        """
        if not self.signs_tokens:
            raise Misconfigured(
                "tokens are made with the secret of MCP_AUTH_SECRET_KEY, which is not set; those of MCP_AUTH_JWKS_URL "
                "are given out by the issuer alone"
            )
        if not caller.subject.strip():
            raise InvalidInput("a token needs a subject: --subject")
        if malformed := [scope for scope in caller.scopes if not SCOPE_TOKEN.fullmatch(scope)]:
            raise InvalidInput(f"--scope {excerpt(malformed[0], 50)!r} is no scope; it takes words such as bio:read")
        import jwt

        expiry = now.replace(microsecond=0) + lifetime
        named = {"iss": self.tokens.issuer, "tenant": caller.tenant, LISTED: listed}
        claims = {
            "sub": caller.subject,
            "aud": self.tokens.audience,
            "iat": int(now.timestamp()),
            "exp": int(expiry.timestamp()),
            "scope": " ".join(sorted({*self.scopes, *caller.scopes})),
            **{name: value for name, value in named.items() if value},
        }
        return jwt.encode(claims, self.tokens.keys.get()[0].value, algorithm="HS256"), expiry

    def permitted(self, caller: Caller) -> Caller:
        """An authenticated `caller` with the scopes of this server that its token stands for."""
        return replace(caller, scopes=self.named(caller.scopes) or frozenset(self.default_scopes))

    def named(self, scopes: Collection[str]) -> frozenset[str]:
        """The scopes of this server that a token's scopes name."""
        if self.write_scope in scopes:
            return frozenset(SCOPES)
        read = {"read", "live"} if self.read_scope in scopes else set()
        return frozenset(read.union(scopes) & {*SCOPES})


def access(settings: Settings, authorizations: Callable[[], Authorizations] | None = None) -> Access | None:
    """The policy; None if no tokens are configured, and reading takes none. `authorizations` has the listed tokens."""
    read = _issuers(settings) if settings.auth_jwks_url else _shared(settings)
    public_read = settings.public_read == "on"
    if read is None and public_read:
        read = tuple  # no keys, so no token is good
    if read is None:
        return None
    if settings.resource_url:
        _must_be_https("MCP_RESOURCE_URL", settings.resource_url)
    configured = {
        "MCP_AUTH_REQUIRED_SCOPES": settings.auth_scopes,
        "MCP_AUTH_READ_SCOPE": (settings.auth_read_scope,),
        "MCP_AUTH_WRITE_SCOPE": (settings.auth_write_scope,),
        "MCP_AUTH_DEFAULT_SCOPES": settings.auth_default_scopes,
    }
    for name, scopes in configured.items():
        if malformed := [scope for scope in scopes if not SCOPE_TOKEN.fullmatch(scope)]:
            raise Misconfigured(f"{name} holds {malformed[0]!r}, which is no scope; commas stand between scopes")
    algorithms = ("RS256",) if settings.auth_jwks_url else ("HS256",) if settings.auth_secret else ()
    keys, is_open = RefreshingValue(read), partial(_is_open, authorizations) if authorizations else None
    tokens = Tokens(algorithms, keys, audience(settings), settings.auth_issuer, is_open=is_open)
    issuer = settings.auth_issuer if settings.auth_jwks_url else own_issuer(settings)
    return Access(
        tokens,
        settings.auth_scopes,
        settings.resource_url,
        issuer,
        read_scope=settings.auth_read_scope,
        write_scope=settings.auth_write_scope,
        calls_per_minute=settings.calls_per_minute,
        default_scopes=settings.auth_default_scopes,
        public_read=public_read,
        identity_provider=_identity_provider(settings),
    )


def own_issuer(settings: Settings) -> str:
    """The address of our own authorization server, which is the origin of the endpoint; "" where there is none: without
    a secret to sign with, without a public address, and where another issuer is named."""
    parts = urlsplit(settings.resource_url)
    origin = f"{parts.scheme}://{parts.netloc}"
    alone = settings.auth_issuer in ("", origin) and not settings.auth_jwks_url
    return origin if settings.auth_secret and settings.resource_url and alone else ""


def _is_open(authorizations: Callable[[], Authorizations], token_id: str) -> bool:
    return authorizations().get(TOKEN, token_id) is not None


def access_if_complete(settings: Settings, authorizations: Callable[[], Authorizations] | None = None) -> Access | None:
    """As `access`, but None, logged as an error, if the configuration is incomplete: the endpoint then stays closed."""
    try:
        return access(settings, authorizations)
    except Misconfigured as problem:
        log.error("access tokens are not configured: %s", problem)
        return None


def audience(settings: Settings) -> str:
    """The audience that a token must name."""
    return settings.auth_audience or settings.resource_url or DEFAULT_AUDIENCE


def shared_keys(secret: str) -> Callable[[], Keys]:
    """A function that reads the keys of HS256 tokens, newest first: from `secret`, or from where it says AWS stores
    them."""
    if secret.startswith(STORED):
        stored = stored_secret(secret)
        return lambda: hmac_keys(stored())
    keys = hmac_keys([secret])
    return lambda: keys


def _shared(settings: Settings) -> Callable[[], Keys] | None:
    secret = settings.auth_secret
    if not secret:
        given = {
            "MCP_AUTH_ISSUER": settings.auth_issuer,
            "MCP_AUTH_AUDIENCE": settings.auth_audience,
            "MCP_AUTH_REQUIRED_SCOPES": settings.auth_scopes,
        }
        if alone := [name for name, value in given.items() if value]:
            raise Misconfigured(
                f"{alone[0]} is set, but nothing to check tokens with; set MCP_AUTH_SECRET_KEY or MCP_AUTH_JWKS_URL"
            )
        return None
    return shared_keys(secret)


def _issuers(settings: Settings) -> Callable[[], Keys]:
    if settings.auth_secret:
        raise Misconfigured("MCP_AUTH_SECRET_KEY and MCP_AUTH_JWKS_URL exclude each other; set one of them")
    needed = {"MCP_AUTH_ISSUER": settings.auth_issuer, "MCP_RESOURCE_URL": settings.resource_url}
    if missing := [name for name, value in needed.items() if not value]:
        raise Misconfigured(f"MCP_AUTH_JWKS_URL is set; set {' and '.join(missing)} too")
    _must_be_https("MCP_AUTH_JWKS_URL", settings.auth_jwks_url)
    published = published_keys(settings.auth_jwks_url)
    return lambda: public_keys(published())


def _identity_provider(settings: Settings) -> IdentityProvider | None:
    """Whose assertions our own authorization server takes; None where no provider is named."""
    named = {"MCP_IDP_ISSUER": settings.idp_issuer, "MCP_IDP_JWKS_URL": settings.idp_jwks_url}
    if not any(named.values()):
        return None
    if missing := [name for name, value in named.items() if not value]:
        raise Misconfigured(f"an identity provider takes {' and '.join(named)}; set {missing[0]} too")
    if not own_issuer(settings):
        raise Misconfigured("MCP_IDP_ISSUER takes MCP_AUTH_SECRET_KEY and MCP_RESOURCE_URL, and no MCP_AUTH_ISSUER")
    _must_be_https("MCP_IDP_JWKS_URL", settings.idp_jwks_url)
    return identity_provider(settings, own_issuer(settings), published_keys(settings.idp_jwks_url))


def _must_be_https(name: str, url: str) -> None:
    try:
        parts = urlsplit(url)
        plain_but_here = parts.scheme == "http" and is_loopback(parts.hostname or "")
    except ValueError:
        raise Misconfigured(f"{name} is not a URL") from None
    whole = parts.hostname and not parts.fragment and not parts.username and SCOPE_TOKEN.fullmatch(url)
    if not whole or not (parts.scheme == "https" or plain_but_here):
        raise Misconfigured(f"{name} must be an https URL, or http on this machine's loopback interface")

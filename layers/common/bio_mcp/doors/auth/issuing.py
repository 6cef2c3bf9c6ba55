"""Issues access tokens, for operators without an authorization server."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from bio_mcp.call import excerpt
from bio_mcp.doors.auth.access import SCOPE_TOKEN, access, audience, shared_keys
from bio_mcp.errors import InvalidInput, Misconfigured
from bio_mcp.settings import Settings


def issue(
    settings: Settings, subject: str, lifetime: timedelta, now: datetime, scopes: Sequence[str] = (), tenant: str = ""
) -> tuple[str, datetime]:
    """Issue an HS256 token that the server of these settings accepts. Returns the token and its expiry.

    It has every scope that the server requires, and `scopes`, which default to reading and writing. `tenant` owns the
    projects that its holder sees. It is signed with the newest secret. Raises `StoreFailed` if a secret that AWS stores
    cannot be read.
    """
    if access(settings) is None or not settings.auth_secret:
        raise Misconfigured(
            "tokens are made with the secret of MCP_AUTH_SECRET_KEY, which is not set; those of MCP_AUTH_JWKS_URL are "
            "given out by the issuer alone"
        )
    if not subject.strip():
        raise InvalidInput("a token needs a subject: --subject")
    if malformed := [scope for scope in scopes if not SCOPE_TOKEN.fullmatch(scope)]:
        raise InvalidInput(f"--scope {excerpt(malformed[0], 50)!r} is no scope; it takes words such as bio:read")
    import jwt

    expiry = now.replace(microsecond=0) + lifetime
    claims = {"sub": subject, "aud": audience(settings), "iat": int(now.timestamp()), "exp": int(expiry.timestamp())}
    if settings.auth_issuer:
        claims["iss"] = settings.auth_issuer
    if tenant:
        claims["tenant"] = tenant
    granted = scopes or (settings.auth_read_scope, settings.auth_write_scope)
    claims["scope"] = " ".join(dict.fromkeys((*settings.auth_scopes, *granted)))
    newest = shared_keys(settings.auth_secret)()[0]
    return jwt.encode(claims, newest.value, algorithm="HS256"), expiry

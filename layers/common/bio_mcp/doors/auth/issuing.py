"""Access tokens made here, for whoever runs the server and has no issuer."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from bio_mcp.call import excerpt
from bio_mcp.doors.auth.access import PLAIN, access, audience, shared_keys
from bio_mcp.errors import InvalidInput, Misconfigured
from bio_mcp.settings import Settings


def issue(
    settings: Settings, subject: str, lifetime: timedelta, now: datetime, scopes: Sequence[str] = ()
) -> tuple[str, datetime]:
    """An HS256 token that the server of these settings lets in, and its end.

    It carries every scope that the server asks for, and `scopes`: by default those to read and to write. Signed with
    the newest secret. Raises `Misconfigured` without a secret of one's own, and `StoreFailed` when the one that AWS
    keeps cannot be read.
    """
    if access(settings) is None or not settings.auth_secret:
        raise Misconfigured(
            "tokens are made with the secret of MCP_AUTH_SECRET_KEY, which is not set; those of MCP_AUTH_JWKS_URL are "
            "given out by the issuer alone"
        )
    if not subject.strip():
        raise InvalidInput("a token names whom it is for: --subject")
    if odd := [each for each in scopes if not PLAIN.fullmatch(each)]:
        raise InvalidInput(f"--scope {excerpt(odd[0], 50)!r} is no scope; it takes words such as bio:read")
    import jwt

    end = now.replace(microsecond=0) + lifetime
    claims = {"sub": subject, "aud": audience(settings), "iat": int(now.timestamp()), "exp": int(end.timestamp())}
    if settings.auth_issuer:
        claims["iss"] = settings.auth_issuer
    carried = scopes or (settings.auth_read_scope, settings.auth_write_scope)
    claims["scope"] = " ".join(dict.fromkeys((*settings.auth_scopes, *carried)))
    newest = shared_keys(settings.auth_secret)()[0]
    return jwt.encode(claims, newest.value, algorithm="HS256"), end

"""Requests of clients on their way to the person who decides: sealed into an address, so that nothing is stored before
somebody has decided."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from urllib.parse import urlencode

from mcp.server.auth.provider import AuthorizationParams

from bio_mcp.doors.auth.keys import Keys
from bio_mcp.doors.auth.secrets import derived
from bio_mcp.literature.clock import utc_now

CONSENT = "/consent"
LIFETIME = timedelta(minutes=10)
PURPOSE = "requests of clients"


@dataclass(frozen=True)
class SealedRequests:
    """Requests that we have checked, for ten minutes. `resource` is the endpoint's address."""

    keys: Callable[[], Keys]
    resource: str
    now: Callable[[], datetime] = utc_now

    def is_for_us(self, resource: str | None) -> bool:
        """Whether a client wants a token for this server (RFC 8707): it says so, or says nothing."""
        return resource is None or resource.rstrip("/") == self.resource.rstrip("/")

    def page(self, client_id: str, params: AuthorizationParams) -> str:
        """The address of the page that asks the person about this request."""
        import jwt

        claims = {
            "client_id": client_id,
            "params": params.model_dump(mode="json"),
            "exp": int((self.now() + LIFETIME).timestamp()),
        }
        sealed = jwt.encode(claims, derived(self.keys()[0].value, PURPOSE), algorithm="HS256")
        return f"{CONSENT}?{urlencode({'request': sealed})}"

    def open(self, sealed: str) -> tuple[str, AuthorizationParams] | None:
        """The client's id and its request; None for what we did not seal, or too long ago."""
        import jwt

        for key in self.keys():
            try:
                claims = jwt.decode(sealed, derived(key.value, PURPOSE), algorithms=["HS256"])
            except jwt.PyJWTError:
                continue
            return claims["client_id"], AuthorizationParams(**claims["params"])
        return None

"""Checks the Host and Origin headers, so that no web page can reach this server through its visitor's browser.

A page can make its own domain resolve to this machine (DNS rebinding); its browser still sends that domain as Host, and
the page's origin as Origin.
"""

import logging
import re
from collections.abc import Iterable
from dataclasses import dataclass

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from bio_mcp.doors.auth.bearer import refused
from bio_mcp.errors import Misconfigured

HOST = re.compile(r"(\*\.)?([a-z0-9]([a-z0-9.-]*[a-z0-9])?|\[[0-9a-f:.]+\])(:\*|:\d{1,5})?")
ORIGIN = re.compile(r"[a-z][a-z0-9+.-]*://[^/?#@*\s]+")

log = logging.getLogger(__name__)


class Hosts:
    """Patterns of Host headers: `name`, `name:port`, or `name:*` for any port or none; a leading `*.` is one label
    or more."""

    def __init__(self, patterns: Iterable[str]) -> None:
        self._served = [re.compile(_expression(pattern.lower())) for pattern in patterns]

    def __contains__(self, host: str) -> bool:
        return any(served.fullmatch(host.lower()) for served in self._served)


def _expression(pattern: str) -> str:
    match = HOST.fullmatch(pattern)
    if match is None:
        raise Misconfigured(
            f"MCP_ALLOWED_HOSTS holds {pattern!r}; it takes Host headers such as mcp.example.org, mcp.example.org:* or "
            "*.example.org"
        )
    labels, name, _, port = match.groups(default="")
    prefix = r"([a-z0-9_-]+\.)+" if labels else ""
    return prefix + re.escape(name) + (r"(:\d{1,5})?" if port == ":*" else port)


class Origins:
    """Origin headers as browsers send them; `also` is a regular expression that matches more."""

    def __init__(self, exact: Iterable[str], also: str = "") -> None:
        self.exact = tuple(exact)
        self.also = also or None
        if malformed := [origin for origin in self.exact if not ORIGIN.fullmatch(origin)]:
            raise Misconfigured(
                f"MCP_ALLOWED_ORIGINS holds {malformed[0]!r}; it takes origins such as https://app.example.org: in "
                "lower case, without a path or a slash at the end"
            )

    def __contains__(self, origin: str) -> bool:
        return origin in self.exact or (self.also is not None and re.fullmatch(self.also, origin) is not None)


@dataclass(frozen=True)
class HostOriginCheck:
    """Passes requests on to `app` if Host is one of `hosts` and Origin is absent or one of `origins`.

    Answers 421 to another Host and 403 to another Origin, whatever the token.
    """

    app: ASGIApp
    hosts: Hosts
    origins: Origins

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers, answer = Headers(scope=scope), self.app
        if any(value not in self.hosts for value in headers.getlist("host") or [""]):
            log.warning("rejected a Host header; MCP_ALLOWED_HOSTS says which are served")
            answer = refused(421, "misdirected_request", "this server does not answer to that host name")
        elif any(value not in self.origins for value in headers.getlist("origin")):
            log.warning("rejected an Origin header; MCP_ALLOWED_ORIGINS says which may call")
            answer = refused(403, "forbidden_origin", "pages of that origin may not call this server")
        await answer(scope, receive, send)

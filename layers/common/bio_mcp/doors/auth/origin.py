"""Which Host and Origin headers are served, so that no page of the web reaches this server through a reader's browser.

A page may have its own name resolve to this machine (DNS rebinding); its browser still sends that name as Host, and
where the page came from as Origin.
"""

import logging
import re
from collections.abc import Iterable

from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from bio_mcp.errors import Misconfigured

HOST = re.compile(r"(\*\.)?([a-z0-9]([a-z0-9.-]*[a-z0-9])?|\[[0-9a-f:.]+\])(:\*|:\d{1,5})?")
ORIGIN = re.compile(r"[a-z][a-z0-9+.-]*://[^/?#@*\s]+")

log = logging.getLogger(__name__)


class Hosts:
    """Host headers: `name`, `name:port` or `name:*` for any port and none; a leading `*.` is one label or more.

    Raises `Misconfigured` for anything else, so for `*` alone.
    """

    def __init__(self, patterns: Iterable[str]) -> None:
        self._served = [re.compile(_expression(each.lower())) for each in patterns]

    def __contains__(self, host: str) -> bool:
        return any(each.fullmatch(host.lower()) for each in self._served)


def _expression(pattern: str) -> str:
    read = HOST.fullmatch(pattern)
    if read is None:
        raise Misconfigured(
            f"MCP_ALLOWED_HOSTS holds {pattern!r}; it takes Host headers such as mcp.example.org, mcp.example.org:* or "
            "*.example.org"
        )
    labels, name, _, port = read.groups(default="")
    some = r"([a-z0-9_-]+\.)+" if labels else ""
    return some + re.escape(name) + (r"(:\d{1,5})?" if port == ":*" else port)


class Origins:
    """Origin headers, each as a browser sends it; `also` is a regular expression of more.

    Raises `Misconfigured` for what no browser sends, such as a slash at the end.
    """

    def __init__(self, exact: Iterable[str], also: str = "") -> None:
        self.exact = tuple(exact)
        self.also = also or None
        if odd := [each for each in self.exact if not ORIGIN.fullmatch(each)]:
            raise Misconfigured(
                f"MCP_ALLOWED_ORIGINS holds {odd[0]!r}; it takes origins such as https://app.example.org: in small "
                "letters, without a path or a slash at the end"
            )

    def __contains__(self, origin: str) -> bool:
        return origin in self.exact or (self.also is not None and re.fullmatch(self.also, origin) is not None)


class HostOriginCheck:
    """Hands on to `app` what was meant for one of `hosts`, and comes from no browser or from a page of `origins`.

    421 for another Host, 403 for another Origin, whatever token comes along.
    """

    def __init__(self, app: ASGIApp, hosts: Hosts, origins: Origins) -> None:
        self._app = app
        self._hosts = hosts
        self._origins = origins

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await (self._refusal(Headers(scope=scope)) or self._app)(scope, receive, send)

    def _refusal(self, headers: Headers) -> ASGIApp | None:
        if any(each not in self._hosts for each in headers.getlist("host") or [""]):
            log.warning("refused a Host header; MCP_ALLOWED_HOSTS says which are served")
            return _refused(421, "misdirected_request", "this server does not answer to that host name")
        if any(each not in self._origins for each in headers.getlist("origin")):
            log.warning("refused an Origin header; MCP_ALLOWED_ORIGINS says which may call")
            return _refused(403, "forbidden_origin", "pages of that origin may not call this server")
        return None


def _refused(status: int, error: str, description: str) -> ASGIApp:
    return JSONResponse({"error": error, "error_description": description}, status)

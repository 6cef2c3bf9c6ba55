"""What is served over HTTP: to which hosts and origins, and the pages for people by themselves.

The Host and Origin headers are checked first, so that no web page can reach this server through its visitor's browser:
a page can make its own domain resolve to this machine (DNS rebinding); its browser still sends that domain as Host, and
the page's origin as Origin.
"""

import logging
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.routing import BaseRoute, Mount, Router
from starlette.types import ASGIApp, Receive, Scope, Send

from bio_mcp.doors.auth.access import LOOPBACK_HOSTS, LOOPBACK_ORIGIN
from bio_mcp.doors.auth.bearer import refused
from bio_mcp.errors import Misconfigured
from bio_mcp.settings import Settings

log = logging.getLogger(__name__)

HOST = re.compile(r"(\*\.)?([a-z0-9]([a-z0-9.-]*[a-z0-9])?|\[[0-9a-f:.]+\])(:\*|:\d{1,5})?")
ORIGIN = re.compile(r"[a-z][a-z0-9+.-]*://[^/?#@*\s]+")
REQUEST_HEADERS = (
    "accept",
    "authorization",
    "content-type",
    "last-event-id",
    "mcp-method",
    "mcp-name",
    "mcp-protocol-version",
    "mcp-session-id",
)
NOTHING = r"(?!)"  # an expression that matches nothing, not even the empty text


def hosts_served(allowed: Iterable[str]) -> re.Pattern[str]:
    """What Host headers match, in lower case, that are `allowed`: as `name`, `name:port`, or `name:*` for any port or
    none; a leading `*.` is one label or more."""
    served = []
    for each in allowed:
        if (match := HOST.fullmatch(each.lower())) is None:
            raise Misconfigured(
                f"MCP_ALLOWED_HOSTS holds {each!r}; it takes Host headers such as mcp.example.org, "
                "mcp.example.org:* or *.example.org"
            )
        labels, name, _, port = match.groups(default="")
        prefix = r"([a-z0-9_-]+\.)+" if labels else ""
        served.append(prefix + re.escape(name) + (r"(:\d{1,5})?" if port == ":*" else port))
    return re.compile("|".join(served))


def origins_served(allowed: Sequence[str], also: str = NOTHING) -> re.Pattern[str]:
    """What Origin headers match, as browsers send them, that are `allowed`; the expression `also` matches more."""
    if malformed := [origin for origin in allowed if not ORIGIN.fullmatch(origin)]:
        raise Misconfigured(
            f"MCP_ALLOWED_ORIGINS holds {malformed[0]!r}; it takes origins such as https://app.example.org: in "
            "lower case, without a path or a slash at the end"
        )
    return re.compile("|".join([*map(re.escape, allowed), also]))


@dataclass(frozen=True)
class HostOriginCheck:
    """Passes requests on to `app` if Host matches `hosts` and Origin is absent or matches `origins`.

    Answers 421 to another Host and 403 to another Origin, whatever the token.
    """

    app: ASGIApp
    hosts: re.Pattern[str]
    origins: re.Pattern[str]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers, answer = Headers(scope=scope), self.app
        if not all(self.hosts.fullmatch(value.lower()) for value in headers.getlist("host") or [""]):
            log.warning("rejected a Host header; MCP_ALLOWED_HOSTS says which are served")
            answer = refused(421, "misdirected_request", "this server does not answer to that host name")
        elif not all(map(self.origins.fullmatch, headers.getlist("origin"))):
            log.warning("rejected an Origin header; MCP_ALLOWED_ORIGINS says which may call")
            answer = refused(403, "forbidden_origin", "pages of that origin may not call this server")
        await answer(scope, receive, send)


def endpoint_of(request: Request, resource: str) -> str:
    """The endpoint's public URL, if `resource` has it, else where the request has found it."""
    return resource or str(request.url.replace(path="/mcp", query=""))


@dataclass(frozen=True)
class Served:
    """Which hosts and origins are served: loopback's Host headers, the public URL's and those that the settings allow,
    and the allowed Origins; loopback's Origins only unless it is `public`. Pages may also be called from the public
    URL's own."""

    settings: Settings
    public: bool

    @property
    def hosts(self) -> re.Pattern[str]:
        own = urlsplit(self.settings.resource_url)
        return hosts_served({*LOOPBACK_HOSTS, *self.settings.allowed_hosts, own.netloc, own.hostname or ""} - {""})

    @property
    def origins(self) -> re.Pattern[str]:
        return origins_served(self.settings.allowed_origins, self._local)

    def pages(self, routes: Sequence[BaseRoute]) -> Mount:
        """The pages, behind the check of Host and Origin."""
        own = urlsplit(self.settings.resource_url)
        origins = [*self.settings.allowed_origins, *([f"{own.scheme}://{own.netloc}"] if own.netloc else [])]
        check = HostOriginCheck(Router(routes=list(routes)), self.hosts, origins_served(origins, self._local))
        return Mount("/", check)

    def cors(self) -> Middleware:
        """What tells browsers which other sites may call."""
        return Middleware(
            CORSMiddleware,
            allow_origin_regex=self.origins.pattern,
            allow_methods=["GET", "POST"],
            allow_headers=REQUEST_HEADERS,
            expose_headers=["www-authenticate"],
            max_age=600,
        )

    @property
    def _local(self) -> str:
        return NOTHING if self.public else LOOPBACK_ORIGIN


def pages_alone(settings: Settings, routes: Sequence[BaseRoute]) -> Starlette:
    """Pages that others than this machine can reach as an ASGI application: without the endpoint, its SDK and FastAPI,
    which take more to import than all pages."""
    served = Served(settings, public=True)
    return Starlette(routes=[served.pages(routes)], middleware=[served.cors()])

"""An Atom feed (RFC 4287) of what became of the papers of a followed query, `GET /news.atom?query_key=KEY`.

Programs that read feeds cannot sign in: an access token comes as a bearer token, or as the password of any name (HTTP
Basic).
"""

import base64
import binascii
import hashlib
import json
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import format_datetime, parsedate_to_datetime
from urllib.parse import urlencode, urlsplit
from uuid import NAMESPACE_URL, uuid5

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from bio_mcp.doors.console.console import CONSOLE, Console, Shown
from bio_mcp.doors.console.rendering import SECURE, render
from bio_mcp.literature.identifiers import pubmed_page
from bio_mcp.ports import Backends
from bio_mcp.syncing.news import read_news
from bio_mcp.tool import resource
from bio_mcp.tools.news import news_of

PATH = "/news.atom"
TYPE = "application/atom+xml"
CHALLENGE = 'Basic realm="an access token as the password, of any name", charset="UTF-8"'
WHICH = "name a query: /news.atom?query_key=KEY"
MOST_ENTRIES = 100


@resource("console://news/{query_key}", name="news of a query", family=CONSOLE, scope="read", timeout=10)
def newest_news(backends: Backends, query_key: str) -> Shown:
    """The newest news of a query, the newest first."""
    page = read_news(query_key, MOST_ENTRIES, backends)
    return Shown(query_key=query_key, news=[news_of(each).model_dump(mode="json") for each in page.items])


def origin_of(endpoint: str, request: Request) -> str:
    """Scheme and host of addresses in what leaves the console: those of the endpoint's public URL, if it has one."""
    base = urlsplit(endpoint or str(request.base_url))
    return f"{base.scheme}://{base.netloc}"


async def feed(console: Console, endpoint: str, request: Request) -> Response:
    """The feed. `endpoint` is the public URL, if there is one."""
    query_key = request.query_params.get("query_key", "")
    if not query_key:
        return PlainTextResponse(WHICH, 400, SECURE)
    outcome = await console.ask(newest_news, {"query_key": query_key}, request)
    if outcome.failed:
        return console.failure(request, outcome)

    def urn(*parts: str) -> str:  # of the query, the paper and its change alone, so that it stays if the server moves
        return f"urn:uuid:{uuid5(NAMESPACE_URL, json.dumps(['bio-mcp news', *parts]))}"

    named, topic = (urlencode({name: query_key}) for name in ("query_key", "topic"))
    shown = {"origin": origin_of(endpoint, request), "named": named, "topic": topic}
    body = render("news.atom", data=outcome.body, **shown, urn=urn, page=pubmed_page).encode()
    return _conditional(request, body, next((each["at"] for each in outcome.body["news"]), None))


def _conditional(request: Request, body: bytes, newest: str | None) -> Response:
    """The feed, or 304 for a reader that has this one: by its ETag, or else by exactly when the newest entry came,
    which a clock that was ahead may have set behind others."""
    headers = {**SECURE, "cache-control": "private, no-cache", "vary": "Authorization, Cookie"}
    headers["etag"] = f'"{hashlib.sha256(body).hexdigest()[:32]}"'
    changed = datetime.fromisoformat(newest) if newest else None
    if changed:
        headers["last-modified"] = format_datetime(changed.astimezone(UTC).replace(microsecond=0), usegmt=True)
    if (tags := request.headers.get("if-none-match")) is not None:
        named = [each.strip().removeprefix("W/") for each in tags.split(",")]
        unchanged = bool({"*", headers["etag"]} & set(named))
    else:
        unchanged = False
        with suppress(ValueError, OverflowError):  # of a day that is none
            since = parsedate_to_datetime(request.headers.get("if-modified-since", ""))
            unchanged = changed is not None and changed.replace(microsecond=0) == since.astimezone(UTC)
    return Response(None, 304, headers) if unchanged else Response(body, 200, headers, TYPE)


@dataclass(frozen=True)
class ByPassword:
    """Passes a token that comes as a password on as a bearer token, and asks for one where a browser would be sent to
    sign in."""

    app: ASGIApp

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def asking(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] in (303, 401):
                message = {**message, "status": 401, "headers": list(message.get("headers", ()))}
                headers = MutableHeaders(raw=message["headers"])
                del headers["location"]
                headers.append("www-authenticate", CHALLENGE)
            await send(message)

        sent = [(name, _bearer(value) if name == b"authorization" else value) for name, value in scope["headers"]]
        await self.app({**scope, "headers": sent}, receive, asking)


def _bearer(value: bytes) -> bytes:
    """The header with the password of Basic as a bearer token; any other as it is."""
    scheme, _, encoded = value.partition(b" ")
    if scheme.lower() != b"basic":
        return value
    try:
        return b"Bearer " + base64.b64decode(encoded.strip(), validate=True).partition(b":")[2]
    except binascii.Error:
        return b"Bearer"

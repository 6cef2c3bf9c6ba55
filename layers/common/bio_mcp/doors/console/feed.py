"""The news of a query as an Atom feed (RFC 4287), `GET /news.atom?query_key=KEY`, for programs that read feeds.

They cannot sign in: an access token comes as a bearer token, or as the password of any name (HTTP Basic).
"""

import base64
import binascii
import hashlib
import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from email.utils import format_datetime, parsedate_to_datetime
from typing import Any
from urllib.parse import urlencode
from uuid import NAMESPACE_URL, uuid5
from xml.etree import ElementTree as ET

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from bio_mcp.doors.console.console import Answer, Console
from bio_mcp.doors.console.headers import SECURE
from bio_mcp.doors.console.news import news_page
from bio_mcp.literature.addresses import pubmed_page

PATH = "/news.atom"
TYPE = "application/atom+xml"
ATOM = "http://www.w3.org/2005/Atom"
NEVER = "1970-01-01T00:00:00Z"  # when a feed without entries was updated
HEADINGS = {"new": "", "changed": "Changed: ", "retracted": "Retracted: ", "deleted": "Withdrawn: "}
CHALLENGE = 'Basic realm="an access token as the password, of any name", charset="UTF-8"'
WHICH = "name a query: /news.atom?query_key=KEY"


def feed(console: Console, resource: str) -> Answer:
    """The feed. `resource` is the endpoint's public URL, if it has one: addresses in the feed are of its host."""

    async def answer(request: Request) -> Response:
        query_key = request.query_params.get("query_key", "")
        if not query_key:
            return PlainTextResponse(WHICH, 400, SECURE)
        outcome = await console.ask(news_page, {"query_key": query_key}, request)
        if outcome.failed:
            return console.failure(request, outcome)
        body = document(outcome.body, str(request.base_url.replace(**_of(resource))).rstrip("/"))
        return _conditional(request, body, max((each["at"] for each in outcome.body["news"]), default=None))

    return answer


def _of(resource: str) -> dict[str, Any]:
    """The parts of the public address that replace those of a request."""
    scheme, found, rest = resource.partition("://")
    return {"scheme": scheme, "netloc": rest.partition("/")[0]} if found else {}


def _conditional(request: Request, body: bytes, newest: str | None) -> Response:
    """The feed, or 304 for a reader that has this one: by its ETag, or else by when the newest entry came."""
    headers = {**SECURE, "cache-control": "private, no-cache", "vary": "Authorization, Cookie"}
    headers["etag"] = f'"{hashlib.sha256(body).hexdigest()[:32]}"'
    changed = datetime.fromisoformat(newest) if newest else None
    if changed:
        headers["last-modified"] = format_datetime(changed.astimezone(UTC).replace(microsecond=0), usegmt=True)
    tags = request.headers.get("if-none-match")
    unchanged = _names(tags, headers["etag"]) if tags is not None else _since(request, changed)
    return Response(None, 304, headers) if unchanged else Response(body, 200, headers, TYPE)


def _names(tags: str, etag: str) -> bool:
    """Whether an If-None-Match names this tag, weakly or not."""
    return tags.strip() == "*" or etag in (each.strip().removeprefix("W/") for each in tags.split(","))


def _since(request: Request, changed: datetime | None) -> bool:
    """Whether nothing came since the day that a reader names; a day that is none counts as none."""
    try:
        since = parsedate_to_datetime(request.headers.get("if-modified-since", ""))
        return changed is not None and changed.replace(microsecond=0) <= since.astimezone(UTC)
    except (ValueError, OverflowError):
        return False


def document(shown: Mapping[str, Any], origin: str) -> bytes:
    """The feed as XML. Ids depend on the query, the paper and its change alone, so they stay where the server moves."""
    query_key = shown["query_key"]
    named = urlencode({"query_key": query_key})
    root = ET.Element("feed", {"xmlns": ATOM})
    _add(root, "id", _id(query_key))
    _add(root, "title", f"News of {query_key}")
    _add(root, "updated", max((each["at"] for each in shown["news"]), default=NEVER))
    _add(root, "link", rel="self", type=TYPE, href=f"{origin}{PATH}?{named}")
    _add(root, "link", rel="alternate", type="text/html", href=f"{origin}/news?{named}")
    _add(_add(root, "author"), "name", "PubMed")
    for each in shown["news"]:
        _entry(_add(root, "entry"), each)
    text: bytes = ET.tostring(root, encoding="utf-8", xml_declaration=True)
    return text


def _entry(entry: ET.Element, news: Mapping[str, Any]) -> None:
    kind, pmid = news["kind"], news["pmid"]
    _add(entry, "id", _id(pmid, kind, str(news["version"]), news["at"]))
    title = news.get("title") or f"PMID {pmid}"
    _add(entry, "title", f"{HEADINGS[kind]}{title}")
    _add(entry, "updated", news["at"])
    _add(entry, "link", rel="alternate", type="text/html", href=pubmed_page(pmid))
    _add(entry, "category", term=kind)
    for name in news.get("authors", ()):
        _add(_add(entry, "author"), "name", name)
    _add(entry, "summary", "\n".join(_lines(news)) or f"PMID {pmid}")


def _id(*parts: str) -> str:
    return f"urn:uuid:{uuid5(NAMESPACE_URL, json.dumps(['bio-mcp news', *parts]))}"


def _lines(news: Mapping[str, Any]) -> Iterator[str]:
    """What a reader wants to know: where it is from, notices, and what differs."""
    yield " ".join(str(news[name]) for name in ("journal", "year") if news.get(name))
    yield from news.get("notices", ())
    for each in news.get("changed") or ():
        parts = [f"{sign}{each[name]}" for sign, name in (("- ", "removed"), ("+ ", "added")) if each.get(name)]
        yield f"{each['field']}: {' '.join(parts)}"


def _add(parent: ET.Element, name: str, text: str = "", **attributes: str) -> ET.Element:
    element = ET.SubElement(parent, name, attributes)
    element.text = text or None
    return element


class ByPassword:
    """Passes a token that comes as a password on as a bearer token, and asks for one where a browser would be sent to
    sign in."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def asking(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] in (303, 401):
                message = {**message, "status": 401, "headers": list(message.get("headers", ()))}
                headers = MutableHeaders(raw=message["headers"])
                del headers["location"]
                headers.append("www-authenticate", CHALLENGE)
            await send(message)

        sent = [(name, _bearer(value) if name == b"authorization" else value) for name, value in scope["headers"]]
        await self._app({**scope, "headers": sent}, receive, asking)


def _bearer(value: bytes) -> bytes:
    """The header with the password of Basic as a bearer token; any other as it is."""
    scheme, _, encoded = value.partition(b" ")
    if scheme.lower() != b"basic":
        return value
    try:
        return b"Bearer " + base64.b64decode(encoded.strip(), validate=True).partition(b":")[2]
    except binascii.Error:
        return b"Bearer"

"""A server that speaks Zotero's API, version 3, as zotero.org does or as a running Zotero; with faults to order."""

import json
import re
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, cast
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

from tests.support.zotero_server.library import Data, Library

KEY = "P9NiFoyLeZu2bZNvvuQPDWsd"  # the API key of zotero.org's own examples
WEB, ZOTERO_7, ZOTERO_10 = "web", "zotero 7", "zotero 10"
LIMIT, MOST, KEYS = 25, 100, 50


@dataclass
class Fault:
    """What happens to the requests whose path and query `matching` finds, `times` times."""

    matching: str = ""
    times: int = 1
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    truncated: bool = False
    body: bytes | None = None
    then: Callable[[], object] = field(default=lambda: None, repr=False)  # after the answer


@dataclass(frozen=True)
class Request:
    path: str
    host: str
    key: str | None


@dataclass
class Reply:
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""


class Server(ThreadingHTTPServer):
    """One library on one port. `requests` are those that came, `faults` what to do to the next ones."""

    daemon_threads = True

    def __init__(self, library: Library, flavour: str = WEB, storage: Path | None = None) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.library, self.flavour, self.storage = library, flavour, storage
        self.faults: list[Fault] = []
        self.requests: list[Request] = []
        self.server_id = "mUuzREo2AXxe"

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}{'' if self.flavour == WEB else '/api'}"

    @property
    def paths(self) -> list[str]:
        """What was asked for, below the library."""
        return [each.path.partition(self.library.name)[2] for each in self.requests]

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that has hung up is no news; anything else is printed."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)

    def fault(self, path: str) -> Fault | None:
        for each in self.faults:
            if each.times > 0 and re.search(each.matching, path):
                each.times -= 1
                return each
        return None


@contextmanager
def serving(library: Library, flavour: str = WEB, storage: Path | None = None) -> Iterator[Server]:
    """A server of the library, for the block."""
    server = Server(library, flavour, storage)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join(timeout=60)
        server.server_close()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing."""

    def do_GET(self) -> None:
        server = cast(Server, self.server)
        key = self.headers.get("Zotero-API-Key")
        server.requests.append(Request(self.path, self.headers.get("Host", ""), key))
        fault = server.fault(self.path)
        reply = Answers(server, self.headers).to(self.path)
        if fault:
            reply.status = fault.status if fault.status != 200 else reply.status
            reply.headers |= fault.headers
            reply.body = fault.body if fault.body is not None else reply.body
        self._send(reply, truncated=bool(fault and fault.truncated))
        if fault:
            fault.then()

    def _send(self, reply: Reply, *, truncated: bool) -> None:
        self.send_response(reply.status)
        for name, value in reply.headers.items():
            self.send_header(name, value)
        if reply.status != 304:
            self.send_header("Content-Type", "application/json" if reply.body[:1] in (b"[", b"{") else "text/plain")
            self.send_header("Content-Length", str(len(reply.body)))
        self.end_headers()
        self.wfile.write(reply.body[: len(reply.body) // 2] if truncated else reply.body)
        self.close_connection |= truncated


class Answers:
    """What the server says to one request."""

    def __init__(self, server: Server, headers: Any) -> None:
        self.server, self.library, self.asked = server, server.library, headers
        self.web = server.flavour == WEB

    def to(self, target: str) -> Reply:
        url = urlsplit(target)
        self.path = url.path.removeprefix("" if self.web else "/api")
        query = dict(parse_qsl(url.query, keep_blank_values=True))
        if url.path.startswith("/stored/"):
            return Reply(body=self.library.files[url.path.rpartition("/")[2]])
        path = self.path.strip("/").split("/")
        if "/".join(path[:2]) != self.library.name:
            return Reply(404, body=b"Not found")
        given = self.asked.get("Zotero-API-Key") or self.asked.get("Authorization", "").removeprefix("Bearer ")
        if self.web and given != KEY:
            return Reply(403, body=b"Forbidden")
        return self._library(path[2:], query)

    def _library(self, path: list[str], query: dict[str, str]) -> Reply:
        match path:
            case ["items", *rest]:
                return self._of_items(rest, query)
            case ["collections"]:
                return self._list(self._collections(), query)
            case ["collections", key, "items", "top"] if key in self.library.collections:
                within = [each for each in self._items(query) if key in each.get("collections", [])]
                return self._list(within, query)
            case ["collections", key]:
                return self._one(self.library.collections.get(key))
            case ["deleted"] if self.web:
                return self._deleted(query)
        return Reply(404, body=b"Not found")

    def _of_items(self, path: list[str], query: dict[str, str]) -> Reply:
        match path:
            case []:
                return self._list(self._items(query), query)
            case ["top"]:
                return self._list([each for each in self._items(query) if not each.get("parentItem")], query)
            case [key, "children"]:
                return self._children(key, query)
            case [key, "file"]:
                return self._file(key)
        return self._one(self.library.items.get(path[0]))

    def _items(self, query: dict[str, str]) -> list[Data]:
        keys = query.get("itemKey", "").split(",") if query.get("itemKey") else None
        trashed = query.get("includeTrashed") == "1"
        every = [each for each in self.library.items.values() if trashed or not each.get("deleted")]
        return [each for each in every if keys is None or each["key"] in keys]

    def _collections(self) -> list[Data]:
        every = self.library.collections.values()
        return [each for each in every if self.web or not each.get("deleted")]

    def _children(self, key: str, query: dict[str, str]) -> Reply:
        parent = self.library.items.get(key)
        if parent is None:
            return Reply(404, body=b"Item not found")
        annotated = ("application/pdf", "application/epub+zip", "text/html")
        if self.web and parent["itemType"] == "attachment" and parent["contentType"] not in annotated:
            return Reply(400, body=b"/children can only be called on PDF, EPUB, and snapshot attachments")
        return self._list([each for each in self._items(query) if each.get("parentItem") == key], query)

    def _list(self, objects: list[Data], query: dict[str, str]) -> Reply:
        headers = {**self._headers(), "Last-Modified-Version": str(self._library_version())}
        known = self.asked.get("If-Modified-Since-Version")
        if known and int(known) > 0 and self._library_version() <= int(known):
            return Reply(304, headers)
        if since := int(query.get("since", "0")):
            objects = [each for each in objects if self._version(each) > since]
        objects = sorted(objects, key=lambda each: each["key"])
        start, limit, total = int(query.get("start", "0")), self._limit(query, len(objects)), len(objects)
        shown = objects[start : start + limit]
        headers |= {"Total-Results": str(total)} | self._link(query, start + limit, total)
        return Reply(200, headers, self._formatted(shown, query))

    def _link(self, query: dict[str, str], start: int, total: int) -> dict[str, str]:
        following = urlencode({**query, "start": start})
        return {"Link": f'<{self.server.url}{self.path}?{following}>; rel="next"'} if start < total else {}

    def _limit(self, query: dict[str, str], total: int) -> int:
        if not self.web:
            return int(query.get("limit", "0")) or total
        if query.get("itemKey"):
            return KEYS
        if query.get("format") in ("keys", "versions"):
            return int(query.get("limit", "0")) or total
        return min(int(query.get("limit", str(LIMIT))), MOST)

    def _formatted(self, objects: list[Data], query: dict[str, str]) -> bytes:
        if query.get("format") == "keys":
            return "\n".join(each["key"] for each in objects).encode()
        if query.get("format") == "versions":
            return json.dumps({each["key"]: self._version(each) for each in objects}).encode()
        return json.dumps(self._objects(objects)).encode()

    def _objects(self, objects: list[Data]) -> list[dict[str, Any]]:
        children = Counter(each.get("parentItem") for each in self.library.items.values())
        return [
            {
                "key": each["key"],
                "version": self._version(each),
                "meta": {"numChildren": children[each["key"]]},
                "data": {**each, "version": self._version(each)},
            }
            for each in objects
        ]

    def _one(self, data: Data | None) -> Reply:
        if data is None:
            return Reply(404, self._headers(), b"Not found")
        return Reply(200, self._headers(), json.dumps(self._objects([data])[0]).encode())

    def _deleted(self, query: dict[str, str]) -> Reply:
        if "since" not in query:
            return Reply(400, body=b"'since' parameter must be provided")
        gone = {
            kind: [key for key, at in keys.items() if at > int(query["since"])]
            for kind, keys in self.library.deleted.items()
        }
        headers = {"Last-Modified-Version": str(self.library.version)}
        return Reply(200, headers, json.dumps({**gone, "searches": [], "tags": [], "settings": []}).encode())

    def _file(self, key: str) -> Reply:
        if key not in self.library.files:
            return Reply(404, body=b"Not found")
        if self.web:  # the store of files is another host
            return Reply(302, {"Location": f"http://localhost:{self.server.server_port}/stored/{key}"})
        assert self.server.storage
        path = self.server.storage / key / self.library.items[key]["filename"]
        return Reply(302, {"Location": f"file://{quote(str(path))}"})

    def _headers(self) -> dict[str, str]:
        named = {"Zotero-Server-ID": self.server.server_id} if self.server.flavour == ZOTERO_10 else {}
        return {"Zotero-API-Version": "3", **named}

    def _version(self, data: Data) -> int:
        """Up to Zotero 9, what was never synced has the version 0 however often it is edited."""
        return 0 if self.server.flavour == ZOTERO_7 else data["version"]

    def _library_version(self) -> int:
        return 0 if self.server.flavour == ZOTERO_7 else self.library.version

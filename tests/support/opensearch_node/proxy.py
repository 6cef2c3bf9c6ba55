"""A proxy between adapter and node that fails as it is told to: it really listens, and what it lets pass is real."""

import json
import threading
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx

CUT = -1  # a status: close the connection without an answer


@dataclass(frozen=True)
class Asked:
    """A request on its way; `forward` has the node answer it, with another body if one is given."""

    method: str
    path: str
    body: bytes
    forward: Callable[..., tuple[int, bytes]]


Fault = Callable[[Asked], tuple[int, bytes]]
"""What is answered: a status and a body, or `CUT`."""


@dataclass
class Proxy:
    """Each request that `on` picks meets the next of `faults`; then, and else, requests pass unharmed."""

    target: str
    faults: list[Fault] = field(default_factory=list)
    on: str = ""
    url: str = ""
    seen: list[str] = field(default_factory=list)

    def answer(self, asked: Asked) -> tuple[int, bytes]:
        self.seen.append(f"{asked.method} {asked.path}")
        if self.faults and self.on in asked.path:
            return self.faults.pop(0)(asked)
        return asked.forward()


@contextmanager
def between(target: str) -> Iterator[Proxy]:
    proxy = Proxy(target)
    with httpx.Client(base_url=target, timeout=60) as node:
        server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(proxy, node))
        proxy.url = f"http://127.0.0.1:{server.server_address[1]}"
        serving = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        serving.start()
        try:
            yield proxy
        finally:
            server.shutdown()
            server.server_close()
            serving.join()


def _handler(proxy: Proxy, node: httpx.Client) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def serve(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length", 0)))
            kind = {"content-type": self.headers.get("content-type", "application/json")}

            def forward(changed: bytes | None = None) -> tuple[int, bytes]:
                sent = body if changed is None else changed
                got = node.request(self.command, self.path, content=sent, headers=kind)
                return got.status_code, got.content

            try:
                status, answer = proxy.answer(Asked(self.command, self.path, body, forward))
            except httpx.HTTPError:
                status, answer = CUT, b""
            self.close_connection = True
            if status != CUT:
                self.send_response(status)
                self.send_header("content-length", str(len(answer)))
                self.send_header("connection", "close")
                self.end_headers()
                self.wfile.write(answer)

        do_GET = do_POST = do_PUT = do_DELETE = serve  # noqa: N815  http.server's names

        def log_message(self, *_: Any) -> None:
            """Be quiet."""

    return Handler


def refuse(status: int) -> Fault:
    """Answer at once with an error of this status."""
    body = json.dumps({"error": {"type": "rejected_execution_exception", "reason": "made up"}, "status": status})
    return lambda _asked: (status, body.encode())


def unreadable(_asked: Asked) -> tuple[int, bytes]:
    return 200, b'{"items": ['


def cut(_asked: Asked) -> tuple[int, bytes]:
    """Close the connection before the node has seen anything."""
    return CUT, b""


def cut_after(asked: Asked) -> tuple[int, bytes]:
    """Close the connection after the node has done what was asked."""
    asked.forward()
    return CUT, b""


def half(status: int) -> Fault:
    """Let every second document of a bulk request through and answer for the others with `status`."""
    return lambda asked: _in_part(asked, status, _actions(asked.body)[1::2])


def some(status: int, pmids: Collection[str]) -> Fault:
    """Answer for these documents of a bulk request with `status`, and let the others through."""
    return lambda asked: _in_part(asked, status, [each for each in _actions(asked.body) if each.pmid in pmids])


@dataclass(frozen=True)
class _Action:
    kind: str
    pmid: str
    lines: bytes


def _actions(body: bytes) -> list[_Action]:
    lines = iter(body.splitlines(keepends=True))
    found = []
    for line in lines:
        [(kind, about)] = json.loads(line).items()
        found.append(_Action(kind, about["_id"], line if kind == "delete" else line + next(lines)))
    return found


def _in_part(asked: Asked, status: int, refused: list[_Action]) -> tuple[int, bytes]:
    passing = [each for each in _actions(asked.body) if each not in refused]
    error = {"status": status, "error": {"type": "rejected_execution_exception"}}
    items = [{each.kind: {"_id": each.pmid, **error}} for each in refused]
    if not passing:
        return 200, json.dumps({"errors": True, "items": items}).encode()
    code, body = asked.forward(b"".join(each.lines for each in passing))
    answer = json.loads(body)
    return code, json.dumps({**answer, "errors": True, "items": answer["items"] + items}).encode()


def changed(change: Callable[[Any], Any]) -> Fault:
    """Let the node answer, and change that."""

    def fault(asked: Asked) -> tuple[int, bytes]:
        status, body = asked.forward()
        answer = json.loads(body)
        change(answer)
        return status, json.dumps(answer).encode()

    return fault

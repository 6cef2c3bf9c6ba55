"""JSON over HTTP to one OpenSearch endpoint: signed, bounded in time, tried again where it was only busy.

A failure is told by its HTTP status and OpenSearch's word for it, never by an address or what the server said.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar
from urllib.parse import urlsplit

import urllib3

from bio_mcp.adapters.retry import Backoff, retry
from bio_mcp.deadline import Deadline
from bio_mcp.errors import IndexUnavailable

T = TypeVar("T")

CONNECT_S = 3.0
BUSY = frozenset({429, 502, 503, 504})
BACKOFF = Backoff(tries=5, first_s=0.1, cap_s=2.0)
JSON, NDJSON = "application/json", "application/x-ndjson"

Headers = Mapping[str, str]
Sign = Callable[[str, str, bytes, Headers], Headers]
"""(method, URL, body, headers) -> the headers to send."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back, whole."""

    status: int
    body: bytes


Send = Callable[[str, str, bytes, Headers, float], Reply]
"""(method, path, body, headers, seconds) -> the reply. Raises `Busy` when there is none."""


class Busy(IndexUnavailable):
    """The same request may succeed in a moment."""


class IndexRefused(IndexUnavailable):
    """OpenSearch will not do this; `status` is HTTP's, `kind` its own word for it."""

    def __init__(self, status: int, kind: str) -> None:
        super().__init__(
            f"The passage index refused a request ({status} {kind}). {_advice(status)}", retryable=status >= 500
        )
        self.status, self.kind = status, kind


def _advice(status: int) -> str:
    if status in (401, 403):
        return "Check what the configured credentials may do there, and whether the index is blocked."
    return "Look at its log; the corpus itself is safe."


class OpenSearchTransport:
    """Requests and their answers. `read_s` and `write_s` bound a request with all that is tried again."""

    def __init__(self, send: Send, *, backoff: Backoff = BACKOFF, read_s: float = 7.0, write_s: float = 60.0) -> None:
        self._send = send
        self.backoff = backoff
        self.read_s = read_s
        self.write_s = write_s

    def ask(self, method: str, path: str, body: Any = None, read: Callable[[Any], T] = lambda answer: answer) -> T:
        """`read` of the answer's JSON, which may raise `Busy` as well. Raises `Busy` in the end, `IndexRefused`.

        `body`: an object, or a list of them that are sent as lines.
        """
        deadline = Deadline(self.read_s if method == "GET" else self.write_s)
        return retry(
            lambda: read(self.once(method, path, body, deadline)),
            worth={Busy: self.backoff.tries},
            deadline=deadline,
            backoff=self.backoff,
        )

    def once(self, method: str, path: str, body: Any, deadline: Deadline) -> Any:
        """The JSON of one answer to one request. `body` may also be bytes: lines that are ready to be sent."""
        sent, kind = _encoded(body)
        headers = {"content-type": kind} if sent else {}
        reply = self._send(method, path, sent, headers, max(0.1, min(deadline.remaining, 86_400)))
        if reply.status in BUSY:
            raise Busy(f"The passage index is busy (HTTP {reply.status}); try again in a moment.")
        try:
            answer = json.loads(reply.body)
        except ValueError:
            raise Busy(f"The passage index gave an answer that cannot be read (HTTP {reply.status}).") from None
        if reply.status >= 400:
            raise IndexRefused(reply.status, kind_of(answer))
        return answer


def _encoded(body: Any) -> tuple[bytes, str]:
    if body is None:
        return b"", JSON
    if isinstance(body, bytes):
        return body, NDJSON
    if isinstance(body, list):
        return lines(body), NDJSON
    return json.dumps(body).encode(), JSON


def lines(objects: Sequence[Any]) -> bytes:
    """One JSON object a line, as `_bulk` and `_msearch` take them."""
    return b"".join(json.dumps(each, separators=(",", ":")).encode() + b"\n" for each in objects)


def kind_of(answer: Any) -> str:
    """OpenSearch's word for what went wrong; of several, the innermost cause that it names."""
    error = answer.get("error") if isinstance(answer, dict) else None
    if isinstance(error, dict):
        causes = error.get("root_cause") or [error]
        error = causes[0].get("type") or error.get("type")
    return error if isinstance(error, str) and re.fullmatch(r"[a-z_]{3,80}", error) else "unknown_error"


def http(url: str, sign: Sign | None = None) -> Send:
    """Requests to `url` over kept connections; any number of threads may send. Redirects are not followed."""
    base = url.rstrip("/")
    if urlsplit(base).scheme not in ("http", "https"):
        raise IndexUnavailable("The address of OpenSearch is not an http address; correct it.", retryable=False)
    pool = urllib3.PoolManager(maxsize=16, retries=False)

    def send(method: str, path: str, body: bytes, headers: Headers, seconds: float) -> Reply:
        signed = sign(method, base + path, body, headers) if sign else headers
        timeout = urllib3.Timeout(connect=min(CONNECT_S, seconds), read=seconds)
        try:
            got = pool.request(
                method, base + path, body=body or None, headers=dict(signed), timeout=timeout, redirect=False
            )
            return Reply(got.status, got.data)
        except urllib3.exceptions.HTTPError as error:
            failure = type(error).__name__
        raise Busy(f"The passage index cannot be reached ({failure}); try again in a minute.")

    return send

"""Requests to one OpenSearch endpoint, in JSON: bounded in time, and retried if it is busy."""

import json
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from bio_mcp.adapters.opensearch.errors import Busy
from bio_mcp.adapters.opensearch.library import SerializationError, Transport
from bio_mcp.adapters.retry import Backoff, retry
from bio_mcp.deadline import Deadline, call_deadline

T = TypeVar("T")

BACKOFF = Backoff(tries=5, first_s=0.1, cap_s=2.0)
JSON, NDJSON = "application/json", "application/x-ndjson"


class OpenSearchTransport:
    """Sends requests. A request with all its retries takes `read_s` or `write_s` seconds at most, within the call's
    deadline."""

    def __init__(
        self, client: Transport, *, backoff: Backoff = BACKOFF, read_s: float = 7.0, write_s: float = 60.0
    ) -> None:
        self._client = client
        self.backoff = backoff
        self.read_s = read_s
        self.write_s = write_s

    def ask(self, method: str, path: str, body: Any = None, read: Callable[[Any], T] = lambda answer: answer) -> T:
        """Send `body`, an object or a list of them (sent as lines), and return what `read` makes of the answer's JSON.

        Retries on `Busy`, which `read` may raise too. Raises `Busy` after the last try, and `IndexRefused`.
        """
        deadline = call_deadline().share(self.read_s if method == "GET" else self.write_s)
        return retry(
            lambda: read(self.once(method, path, body, deadline)),
            worth=Busy,
            deadline=deadline,
            backoff=self.backoff,
        )

    def refresh(self, name: str) -> None:
        """Let searches of the index see what was written to it. Raises `Busy` unless every copy did."""
        self.ask("POST", f"/{name}/_refresh", None, _refreshed)

    def once(self, method: str, path: str, body: Any, deadline: Deadline) -> Any:
        """Send one request and return the answer's JSON. `body` may also be bytes: lines that are ready to be sent."""
        sent, kind = _encoded(body)
        seconds = max(0.1, min(deadline.remaining, 86_400))
        try:
            answer = self._client.perform_request(
                method, path, body=sent or None, timeout=seconds, headers={"content-type": kind}
            )
        except SerializationError:
            answer = None
        if not isinstance(answer, dict):
            raise Busy("The passage index gave an answer that cannot be read; try again in a moment.")
        return answer


def _refreshed(answer: Any) -> None:
    if failed := answer["_shards"]["failed"]:
        raise Busy(f"The index could not be refreshed ({failed} copies of it failed); try again in a moment.")


def _encoded(body: Any) -> tuple[bytes, str]:
    if body is None:
        return b"", JSON
    if isinstance(body, bytes):
        return body, NDJSON
    if isinstance(body, list):
        return lines(body), NDJSON
    return json.dumps(body).encode(), JSON


def lines(objects: Sequence[Any]) -> bytes:
    """Write one JSON object a line, as `_bulk` and `_msearch` take them."""
    return b"".join(json.dumps(each, separators=(",", ":")).encode() + b"\n" for each in objects)

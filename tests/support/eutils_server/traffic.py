"""The limits NCBI puts on callers, and the log of what they did."""

import itertools
import json
import threading
import time
from collections import defaultdict, deque
from dataclasses import dataclass, field
from typing import Any

from tests.support.eutils_server.answers import Answer, Params


@dataclass
class Rules:
    """`rate`: requests per second and IP without key, None for no limit. `key_rate`: the same per key.

    `strict` demands `tool` and `email`, which NCBI asks for and does not check.
    """

    rate: int | None = None
    key_rate: int = 10
    strict: bool = False
    invalid_keys: list[str] = field(default_factory=list)


class Meter:
    """Counts each caller's requests over the last rolling second; refused ones do not count."""

    def __init__(self) -> None:
        self._times: defaultdict[str, deque[float]] = defaultdict(deque)
        self._lock = threading.Lock()

    def admit(self, caller: str, limit: int, enforced: bool) -> int:
        """How many requests the caller would have made in this second, this one included."""
        now = time.monotonic()
        with self._lock:
            times = self._times[caller]
            while times and times[0] <= now - 1.0:
                times.popleft()
            count = len(times) + 1
            if count <= limit or not enforced:
                times.append(now)
            return count


def refusal(rules: Rules, meter: Meter, params: Params, address: str) -> tuple[Answer | None, dict[str, str]]:
    """Why the caller is turned away, if so; and the headers that tell what is left of the second."""
    key = params.get("api_key")
    if key and key in rules.invalid_keys:
        body = f'{{"error":"API key invalid","api-key":"{key}","type":"invalid",\n"status":"unknown"}}'
        return Answer(body.encode(), "application/json", 400), {}
    if rules.strict and not (params.get("tool") and params.get("email")):
        return Answer(b'{"error":"tool and email are required here"}', "application/json", 400), {}
    limit = rules.key_rate if key else rules.rate or 3
    count = meter.admit(key or address, limit, enforced=rules.rate is not None)
    headers = {"X-RateLimit-Limit": str(limit), "X-RateLimit-Remaining": str(max(limit - count, 0))}
    if rules.rate is None or count <= limit:
        return None, headers
    content = {"error": "API rate limit exceeded", "api-key": key or address, "count": str(count), "limit": str(limit)}
    return Answer(json.dumps(content, separators=(",", ":")).encode(), "application/json", 429), headers


class Log:
    """Every request outside /control, oldest first."""

    def __init__(self) -> None:
        self._entries: list[dict[str, Any]] = []
        self._numbers = itertools.count(1)
        self._lock = threading.Lock()

    def open(self, method: str, endpoint: str, params: Params, agent: str) -> dict[str, Any]:
        """An entry with its start (`time.monotonic` seconds, one clock for all processes); `status` comes later."""
        merged: dict[str, str] = {}
        for name, value in params.pairs:
            merged[name] = f"{merged[name]},{value}" if name in merged else value
        entry = {"method": method, "endpoint": endpoint, "params": merged, "agent": agent, "time": time.monotonic()}
        with self._lock:
            entry |= {"number": next(self._numbers), "status": None, "bytes": 0}
            self._entries.append(entry)
        return entry

    @property
    def entries(self) -> list[dict[str, Any]]:
        return list(self._entries)

    def clear(self) -> None:
        with self._lock:
            self._entries.clear()

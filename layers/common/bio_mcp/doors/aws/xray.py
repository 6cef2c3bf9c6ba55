"""Spans as subsegments of AWS X-Ray, sent to the daemon that Lambda runs beside each function.

A subsegment is one UDP packet of JSON, so that nothing waits and no library is needed; Lambda itself makes the segment
that it is within, and says its ids in a variable:
https://docs.aws.amazon.com/xray/latest/devguide/xray-api-sendingdata.html#xray-api-daemon
https://docs.aws.amazon.com/xray/latest/devguide/xray-api-segmentdocuments.html
"""

import json
import re
import secrets
import socket
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from bio_mcp import tracing

HEADER = b'{"format": "json", "version": 1}\n'
MOST = 1_000  # requests of one trace: X-Ray keeps some 500 kB of it, which are 1,500 of our subsegments
NOT_IN_NAMES = re.compile(r"[^\w\s.:/%&#=+\-@]")
AWS_SERVICES = frozenset({"DynamoDB", "S3", "SQS", "EventBridge", "Lambda", "SFN", "Secrets Manager", "SSM"}) | {
    "Bedrock Runtime",
    "Bedrock Agent Runtime",
}


@dataclass(frozen=True, slots=True)
class _Parent:
    """What subsegments are within; without a `trace` nothing is sampled. `annotations` are those of all of them."""

    trace: str = ""
    segment: str = ""
    annotations: Mapping[str, str] = field(default_factory=dict)


_CALL: ContextVar[_Parent | None] = ContextVar("x-ray", default=None)


class XRay:
    """The `Tracer` of a function. `header` returns Lambda's ids of the invocation: `Root=...;Parent=...;Sampled=1`."""

    def __init__(self, daemon: str, header: Callable[[], str]) -> None:
        host, _, port = daemon.rpartition(":")
        self._address, self._header = (host, int(port)), header
        self._trace, self._sent, self._left_out = "", 0, 0

    @contextmanager
    def call(self, tool: str, correlation_id: str) -> Iterator[Callable[[str], None]]:
        own = self._invocation()
        within = _Parent(own.trace, secrets.token_hex(8), {"tool": tool, "correlation_id": correlation_id})
        token, started, problems = _CALL.set(within), time.time(), [""]
        try:
            yield lambda problem: problems.append(problem)
        finally:
            _CALL.reset(token)
            left = {"metadata": {"bio_mcp": {"requests_left_out": self._left_out}}} if self._left_out else {}
            self._send(own, within.segment, tool, started, {"annotations": within.annotations, **left}, problems[-1])

    def request(self, service: str, operation: str, known: Mapping[str, str]) -> tracing.End:
        own, started = _CALL.get() or self._invocation(), time.time()

        def end(problem: str, found: Mapping[str, str]) -> None:
            if not own.trace or not self._has_room(own.trace):
                return
            facts = {**known, **found, "operation": operation}
            aws = service in AWS_SERVICES
            about: dict[str, Any] = {"namespace": "aws" if aws else "remote", "annotations": dict(own.annotations)}
            if status := facts.pop("status", ""):
                about["http"] = {"response": {"status": int(status)}}
            about["aws" if aws else "annotations"] = facts if aws else {**own.annotations, **facts}
            self._send(own, secrets.token_hex(8), service, started, about, problem)

        return end

    def _invocation(self) -> _Parent:
        """The segment of the function, in its running invocation."""
        ids = dict(part.partition("=")[::2] for part in self._header().split(";"))
        if ids.get("Sampled") != "1":
            return _Parent()
        if ids["Root"] != self._trace:
            self._trace, self._sent, self._left_out = ids["Root"], 0, 0
        return _Parent(ids["Root"], ids.get("Parent", ""))

    def _has_room(self, trace: str) -> bool:
        self._sent += trace == self._trace
        if self._sent <= MOST:
            return True
        self._left_out += 1
        return False

    def _send(
        self, parent: _Parent, segment: str, name: str, started: float, about: Mapping[str, Any], problem: str
    ) -> None:
        if not parent.trace:
            return
        times = {"start_time": started, "end_time": time.time()}
        failed = {"fault": True, "cause": {"exceptions": [{"id": segment, "type": problem}]}} if problem else {}
        ids = {"type": "subsegment", "id": segment, "trace_id": parent.trace, "parent_id": parent.segment}
        packet = json.dumps({"name": NOT_IN_NAMES.sub("_", name)[:200], **ids, **times, **about, **failed})
        with suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sending:
            sending.sendto(HEADER + packet.encode(), self._address)

"""Logs and metrics of a server: one readable line a record, or OpenTelemetry."""

import json
import logging
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from typing import Any, TextIO

from bio_mcp import __version__, tracing
from bio_mcp.callers import who
from bio_mcp.scope import current

SHOWN = ("tool", "status", "code", "latency_ms", "correlation_id", "query_key", "state", "job_id", "subject", "tenant")


class ReadableFormatter(logging.Formatter):
    """Formats time, level, message and a call's fields: `12:00:01 INFO call tool=rag.get status=ok`.

    A record is one line, and each line of a traceback is indented, whatever text clients send.
    """

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)s %(message)s", "%H:%M:%S")

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802  the name is logging's
        """One line: time, level, message and the call's fields."""
        carried = ((name, getattr(record, name, None)) for name in SHOWN)
        shown = (f"{name}={quoted(str(value))}" for name, value in carried if value is not None)
        return " ".join([printable(super().formatMessage(record)), *shown])

    def formatException(self, ei: Any) -> str:  # noqa: N802  the name is logging's
        """The traceback, each line indented."""
        return "\n".join(f"  {printable(line)}" for line in super().formatException(ei).split("\n"))


def names_caller(record: logging.LogRecord) -> bool:
    """A filter that adds to each record of a call whom it is for."""
    for name, value in who(current().caller).items():
        vars(record).setdefault(name, value)
    return True


def printable(text: str) -> str:
    """`text` with unprintable characters, such as line breaks and escapes, as Python escapes them."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)


def quoted(value: str) -> str:
    """`value`, in quotation marks if it could be read as more than one."""
    plain = value and not set(value) & set(' ="')
    return printable(value if plain else json.dumps(value, ensure_ascii=False))


def log_for_people(level: str = "info", stream: TextIO | None = None) -> None:
    """Write the product's log, and warnings of libraries, to `stream` (default: standard error)."""
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(ReadableFormatter())
    handler.addFilter(names_caller)
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.WARNING)
    logging.getLogger("bio_mcp").setLevel(level.upper())


TIMEOUT_S = 3  # of all tries to send, and so of each of the two last sendings before the process ends

log = logging.getLogger(__name__)


class _OpenTelemetry:
    """The `Tracer` of a server: spans below those of MCP's requests."""

    def __init__(self, tracer: Any) -> None:
        self._tracer = tracer

    @contextmanager
    def call(self, tool: str, correlation_id: str) -> Iterator[Callable[[str], None]]:
        from opentelemetry.trace import StatusCode

        known = {"gen_ai.operation.name": "execute_tool", **_of_call(tool, correlation_id)}
        with self._tracer.start_as_current_span(f"execute_tool {tool}", attributes=known) as span:

            def failed(problem: str) -> None:
                span.set_attribute("error.type", problem)
                span.set_status(StatusCode.ERROR)

            token = _CALL.set((tool, correlation_id))
            try:
                yield failed
            finally:
                _CALL.reset(token)

    def request(self, service: str, operation: str, known: Mapping[str, str]) -> tracing.End:
        from opentelemetry.trace import SpanKind, StatusCode

        own = _of_call(*call) if (call := _CALL.get()) else {}
        attributes = {"peer.service": service, "rpc.method": operation, **own}
        span = self._tracer.start_span(f"{service} {operation}", kind=SpanKind.CLIENT, attributes=attributes)

        def end(problem: str, found: Mapping[str, str]) -> None:
            facts = {**known, **found}
            if status := facts.get("status"):
                span.set_attribute("http.response.status_code", int(status))
            if table := facts.get("table_name"):
                span.set_attribute("aws.dynamodb.table_names", [table])
            if problem:
                span.set_attribute("error.type", problem)
                span.set_status(StatusCode.ERROR)
            span.end()

        return end


_CALL: ContextVar[tuple[str, str] | None] = ContextVar("call", default=None)


def _of_call(tool: str, correlation_id: str) -> dict[str, str]:
    return {"gen_ai.tool.name": tool, "bio_mcp.correlation_id": correlation_id}


def exporting(endpoint: str) -> ExitStack:
    """Send spans and metrics of this process to the collector at `endpoint` (OTLP over HTTP) until the block ends.

    Nothing is sent without an endpoint, nor without the extra, as others may have set the variable for all programs.
    Headers, attributes and the name of the service may be set by OpenTelemetry's own variables.
    """
    ending, base = ExitStack(), endpoint.rstrip("/")
    if not base:
        return ending
    try:
        from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.metrics import MeterProvider
        from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
        from opentelemetry.sdk.resources import OTELResourceDetector, Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ModuleNotFoundError:
        log.warning("OTEL_EXPORTER_OTLP_ENDPOINT is set, but the extra otel is not installed: nothing is sent")
        return ending
    from opentelemetry import metrics, trace

    us = Resource({"service.name": "bio-mcp", "service.version": __version__}).merge(OTELResourceDetector().detect())
    tracers = TracerProvider(resource=us)
    tracers.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(f"{base}/v1/traces", timeout=TIMEOUT_S)))
    measured = OTLPMetricExporter(f"{base}/v1/metrics", timeout=TIMEOUT_S)
    meters = MeterProvider([PeriodicExportingMetricReader(measured)], us)
    trace.set_tracer_provider(tracers)
    metrics.set_meter_provider(meters)
    tracing.record(_OpenTelemetry(trace.get_tracer("bio_mcp")))
    ending.callback(tracing.record, None)
    ending.callback(meters.shutdown)
    ending.callback(tracers.shutdown)
    return ending

"""OpenTelemetry's spans and durations of MCP requests, by its conventions for MCP.

Without the extra `otel` and a collector (`doors/telemetry.py`) nothing is recorded. A span is named by what this
server has alone: any client may invent methods and tools. It holds neither arguments nor answers.
"""

from collections.abc import Collection, Mapping
from time import perf_counter
from typing import Any

from mcp.server.context import CallNext, HandlerResult, ServerMiddleware, ServerRequestContext
from mcp.shared.exceptions import MCPError
from opentelemetry import metrics, trace
from opentelemetry.context import Context
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

MAX_HEADER = 512  # characters of a traceparent or tracestate
SECONDS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300)
METHODS = frozenset(
    """
    initialize ping server/discover notifications/initialized notifications/cancelled tools/list tools/call
    resources/list resources/templates/list resources/read skills/list skills/get
    prompts/list prompts/get completion/complete tasks/get tasks/update tasks/cancel
    """.split()
)

_tracer = trace.get_tracer("bio_mcp")
_duration = metrics.get_meter("bio_mcp").create_histogram(
    "mcp.server.operation.duration", "s", explicit_bucket_boundaries_advisory=SECONDS
)
_propagator = TraceContextTextMapPropagator()


class Tracing(ServerMiddleware[Any]):
    """Wraps each message in a span below the caller's, in place of the SDK's own middleware.

    `tools` are the names that calls may use.
    """

    def __init__(
        self, tools: Collection[str], tracer: trace.Tracer = _tracer, duration: metrics.Histogram = _duration
    ) -> None:
        self._tools, self._tracer, self._duration = tools, tracer, duration

    async def __call__(self, ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        """Answer the message, and record how long that took and what came of it."""
        if self._tracer is _tracer and isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider):
            return await call_next(ctx)  # nobody records
        known, started = self._known(ctx), perf_counter()
        name = " ".join(filter(None, (known["mcp.method.name"], known.get("gen_ai.tool.name"))))
        asked = {} if ctx.request_id is None else {"jsonrpc.request.id": str(ctx.request_id)}
        with self._tracer.start_as_current_span(
            name,
            caller_of(ctx),
            trace.SpanKind.SERVER,
            known | asked,
            record_exception=False,
            set_status_on_exception=False,
        ) as span:
            problem = ""
            try:
                result = await call_next(ctx)
                problem = _problem_of(result)
            except Exception as error:
                problem = str(error.error.code) if isinstance(error, MCPError) else type(error).__name__
                raise
            finally:
                failed = {"error.type": problem} if problem else {}
                span.set_attributes(failed)
                span.set_status(trace.StatusCode.ERROR if problem else trace.StatusCode.UNSET)
                self._duration.record(perf_counter() - started, known | failed)
        return result

    def _known(self, ctx: ServerRequestContext[Any, Any]) -> dict[str, str]:
        """The attributes of a message that take few values."""
        method = ctx.method if ctx.method in METHODS else "unknown"
        transport = "pipe" if ctx.request is None else "tcp"
        known = {"mcp.method.name": method, "mcp.protocol.version": ctx.protocol_version}
        known["network.transport"] = transport
        tool = (ctx.params or {}).get("name")
        if method == "tools/call":
            known["gen_ai.operation.name"] = "execute_tool"
            known["gen_ai.tool.name"] = tool if isinstance(tool, str) and tool in self._tools else "unknown"
        return known


def caller_of(ctx: ServerRequestContext[Any, Any]) -> Context | None:
    """The caller's trace: of the message's `_meta`, else of the HTTP request; None where neither names one."""
    headers = getattr(ctx.request, "headers", None) or {}
    return next((found for each in (ctx.meta, headers) if (found := _trace_of(each or {}))), None)


def _trace_of(carrier: Mapping[str, Any]) -> Context | None:
    given = {name: carrier.get(name) for name in ("traceparent", "tracestate")}
    texts = {name: value for name, value in given.items() if isinstance(value, str) and len(value) <= MAX_HEADER}
    found = _propagator.extract(texts, Context())
    return found if trace.get_current_span(found).get_span_context().is_valid else None


def _problem_of(result: Any) -> str:
    """The code of a tool's failure; "" for an answer, which is as it goes on the wire."""
    if not isinstance(result, Mapping) or result.get("isError") is not True:
        return ""
    return str(result.get("structuredContent", {}).get("error", {}).get("code", "tool_error"))

"""What OpenTelemetry is told of MCP requests, by the conventions for MCP, and what a line of the log says."""

import io
import json
import logging

import pytest
from mcp.client import Client
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from bio_mcp.callers import Caller
from bio_mcp.doors.logs import ReadableFormatter, exporting, names_caller
from bio_mcp.doors.mcp import http as mcp_http
from bio_mcp.doors.mcp import server as mcp_server
from bio_mcp.doors.mcp.tracing import Tracing
from bio_mcp.doors.running import in_process
from bio_mcp.tool import by_any_name, resources_in, tools_in
from tests.doors import sample
from tests.doors.conftest import NO_BACKENDS
from tests.doors.serving import running
from tests.doors.wire import post
from tests.support.scopes import on_behalf_of

pytestmark = pytest.mark.anyio
TRACE, SPAN = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
PARENT = f"00-{TRACE}-{SPAN}-01"
OTHER = "00-" + "1" * 32 + "-" + "2" * 16 + "-01"


class Traced:
    """A server of the sample tools that records into memory."""

    def __init__(self):
        self.exporter, self.reader = InMemorySpanExporter(), InMemoryMetricReader()
        tracers = TracerProvider(shutdown_on_exit=False)
        tracers.add_span_processor(SimpleSpanProcessor(self.exporter))
        meter = MeterProvider([self.reader], shutdown_on_exit=False).get_meter("tests")
        tools = tools_in(sample).values()
        self.server = mcp_server.server(tools, resources_in(sample).values(), in_process(NO_BACKENDS))
        duration = meter.create_histogram("mcp.server.operation.duration", "s")
        self.server.middleware[:] = [Tracing(by_any_name(tools), tracers.get_tracer("tests"), duration)]

    def spans(self, method):
        return [each for each in self.exporter.get_finished_spans() if each.attributes["mcp.method.name"] == method]


@pytest.fixture
def traced():
    return Traced()


async def test_a_call_is_a_span_of_its_tool_and_a_duration(traced):
    async with Client(traced.server) as client:
        await client.call_tool("sample_echo", {"text": "a secret question"})
    [span] = traced.spans("tools/call")
    assert span.name == "tools/call sample_echo"
    assert span.kind.name == "SERVER"
    assert span.attributes["gen_ai.tool.name"] == "sample_echo"
    assert span.attributes["gen_ai.operation.name"] == "execute_tool"
    assert span.attributes["mcp.protocol.version"] == "2026-07-28"
    assert span.status.status_code.name == "UNSET"
    assert "secret" not in span.to_json()
    [metric] = traced.reader.get_metrics_data().resource_metrics[0].scope_metrics[0].metrics
    assert (metric.name, metric.unit) == ("mcp.server.operation.duration", "s")
    assert {each.attributes["mcp.method.name"] for each in metric.data.data_points} >= {"tools/call"}


async def test_a_failure_has_its_code(traced):
    async with Client(traced.server) as client:
        await client.call_tool("sample_fail", {"how": "store"})
    [span] = traced.spans("tools/call")
    assert span.status.status_code.name == "ERROR"
    assert span.attributes["error.type"] == "STORE"


async def test_names_that_clients_invent_are_not_recorded(traced):
    with running(mcp_http.serving(traced.server)) as base:
        post(f"{base}/mcp", "tools/call", {"name": "invented", "arguments": {}})
        post(f"{base}/mcp", "invented/method")
    [call], [other] = traced.spans("tools/call"), traced.spans("unknown")
    assert call.name == "tools/call unknown"
    assert call.attributes["error.type"] == "-32602"
    assert "invented" not in call.to_json() + other.to_json()


async def test_the_callers_trace_goes_on_by_the_message_or_else_by_the_request(traced):
    echo = {"name": "sample_echo", "arguments": {"text": "x"}}
    with running(mcp_http.serving(traced.server)) as base:
        post(f"{base}/mcp", "tools/call", {**echo, "_meta": {"traceparent": PARENT}}, traceparent=OTHER)
        post(f"{base}/mcp", "tools/call", echo, traceparent=PARENT)
        post(f"{base}/mcp", "tools/call", echo)
    by_message, by_request, alone = traced.spans("tools/call")
    for span in (by_message, by_request):
        assert f"{span.context.trace_id:032x}" == TRACE
        assert f"{span.parent.span_id:016x}" == SPAN
    assert alone.parent is None


@pytest.mark.parametrize("value", [7, 1.5, [PARENT], {"a": 1}, "", "junk", "00-" + "0" * 32 + "-" + "0" * 16 + "-01"])
async def test_a_trace_that_is_none_is_ignored(traced, value):
    meta = {"traceparent": value, "tracestate": value, "baggage": value}
    with running(mcp_http.serving(traced.server)) as base:
        answer = post(f"{base}/mcp", "tools/call", {"name": "sample_echo", "arguments": {"text": "x"}, "_meta": meta})
    assert json.loads(answer.json()["result"]["content"][0]["text"])["texts"] == ["x"]
    assert traced.spans("tools/call")[0].parent is None


def test_without_a_collector_nothing_is_set_up():
    from opentelemetry import trace

    before = trace.get_tracer_provider()
    with exporting(""):
        assert trace.get_tracer_provider() is before


def logged(*message, **carried):
    """The line of one record."""
    written, logger = io.StringIO(), logging.Logger("test")
    handler = logging.StreamHandler(written)
    handler.setFormatter(ReadableFormatter())
    handler.addFilter(names_caller)
    logger.addHandler(handler)
    logger.info(*message, **carried)
    return written.getvalue()


def test_a_record_says_what_was_called_and_how_it_went():
    line = logged("call", extra={"tool": "rag.get", "status": "ok", "latency_ms": 7, "code": None})
    assert line.endswith(" INFO call tool=rag.get status=ok latency_ms=7\n")


@pytest.mark.parametrize("odd", ["\n", "\r", "\x1b[2J", "\x9b", "\u202e", "\u2028", "\x00", "\ud800"])
def test_no_value_starts_a_line_or_steers_a_terminal(odd):
    line = logged("syncing %s", f"a{odd}b", extra={"query_key": f"mine{odd}12:00:01 INFO call"})
    assert line.count("\n") == 1
    assert line.rstrip("\n").isprintable()


def test_a_value_cannot_pass_for_another():
    line = logged("call", extra={"query_key": 'mine" status=ok', "status": "error"})
    assert line.endswith(r' INFO call status=error query_key="mine\" status=ok"' + "\n")


def test_lines_of_a_traceback_cannot_be_taken_for_records():
    try:
        raise ValueError("a\n12:00:01 INFO call status=ok\x1b[2J")
    except ValueError:
        lines = logged("failed", exc_info=True).splitlines()
    assert all(line.startswith("  ") and line.isprintable() for line in lines[1:])


def test_each_record_of_a_call_says_whom_it_is_for():
    with on_behalf_of(Caller("ada", tenant="lab")):
        assert logged("syncing").endswith(" INFO syncing subject=ada tenant=lab\n")
    with on_behalf_of(None):
        assert logged("syncing").endswith(" INFO syncing\n")

"""A collector of OpenTelemetry on this machine is sent what `bio-mcp serve` did, and nothing is sent without one."""

import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from tests.doors.auth.test_served_door import serving
from tests.doors.wire import post, request

PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


class Collector(BaseHTTPRequestHandler):
    """Takes what is sent; `seen` has (path, body) of each request."""

    def do_POST(self):
        self.server.seen.append((self.path, self.rfile.read(int(self.headers["content-length"]))))
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_):
        """Say nothing."""


@contextmanager
def collecting():
    with ThreadingHTTPServer(("127.0.0.1", 0), Collector) as server:
        server.seen = []
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield server
        server.shutdown()


def served_once(home, **configured):
    with serving(home, **configured) as (url, _, _):
        asked = {"name": "rag_get", "arguments": {"doc_id": "a secret question"}, "_meta": {"traceparent": PARENT}}
        assert post(url, "tools/call", asked).status_code == 200
        request("GET", url.replace("/mcp", "/?q=secret"))


@pytest.fixture
def collector():
    with collecting() as server:
        yield server


def test_a_collector_is_sent_spans_and_durations_without_what_was_asked(tmp_path, collector):
    served_once(tmp_path, OTEL_EXPORTER_OTLP_ENDPOINT=f"http://127.0.0.1:{collector.server_port}")
    spans, metrics = (
        [kind.FromString(body) for path, body in collector.seen if path == f"/v1/{name}"]
        for name, kind in (("traces", ExportTraceServiceRequest), ("metrics", ExportMetricsServiceRequest))
    )
    of_process = spans[0].resource_spans[0]
    assert {"bio-mcp"} == {each.value.string_value for each in of_process.resource.attributes if "name" in each.key} - {
        "opentelemetry"
    }
    [span] = of_process.scope_spans[0].spans
    assert span.name == "tools/call rag_get"
    assert span.trace_id.hex() == PARENT.split("-")[1]
    assert [len(scope.spans) for each in spans for scope in each.resource_spans[0].scope_spans] == [1]
    measured = {each.name for scope in metrics[0].resource_metrics[0].scope_metrics for each in scope.metrics}
    assert measured == {"mcp.server.operation.duration"}
    assert b"secret" not in b"".join(body for _, body in collector.seen)


def test_a_collector_that_is_away_stops_nothing(tmp_path):
    with collecting() as gone:
        port = gone.server_port
    served_once(tmp_path, OTEL_EXPORTER_OTLP_ENDPOINT=f"http://127.0.0.1:{port}")


def test_nothing_is_sent_unless_a_collector_is_named(tmp_path, collector):
    served_once(tmp_path)
    assert collector.seen == []

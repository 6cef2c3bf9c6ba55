"""Nothing leaves the machine unasked: no command reaches for a network, and a collector is sent what it may have."""

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from pathlib import Path

import httpx
import pytest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from scripts.docs import ROOT
from tests.doors.auth.test_served_door import serving
from tests.doors.wire import post, request

PROGRAM = str(Path(sys.executable).with_name("bio-mcp"))
FIRST_UPLOAD_S = 12  # with telemetry, ONNX Runtime looks its collector up 9 s after the first query
LOOK_UP = "import socket; socket.getaddrinfo('collector.example.org', 443)"
CONNECT = "import socket; socket.create_connection(('127.0.0.1', 9))"


def cut_off(*command):
    return [sys.executable, "-m", "tests.support.no_network", *command]


def environment(home, **more):
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONUNBUFFERED": "1",
        **more,
    }


def run(home, *command, **more):
    given = environment(home, **more)
    return subprocess.run(cut_off(*command), cwd=ROOT, env=given, capture_output=True, text=True, check=False)


def left_behind(home):
    """Every file outside the data directory."""
    return [str(each.relative_to(home)) for each in home.rglob("*") if each.is_file() and ".bio-mcp" not in each.parts]


def with_a_paper(folder):
    """A home with one paper, as `bio-mcp import` leaves it."""
    made = folder / "home"
    made.mkdir()
    sample = files("bio_mcp") / "samples/pubmed.xml.gz"
    subprocess.run(["bash", "-c", f"zcat {sample} | head -c 9000 > {folder}/few.xml"], check=True)
    assert json.loads(run(made, PROGRAM, "import", f"{folder}/few.xml", "--json").stdout)["documents"]
    return made


@pytest.fixture
def home(tmp_path):
    return with_a_paper(tmp_path)


@pytest.fixture(scope="module", autouse=True)
def idle(tmp_path_factory):
    """A server that was asked once and idles while the other tests run: its home, its process, when it was asked."""
    home = with_a_paper(tmp_path_factory.mktemp("served"))
    command, given = cut_off(PROGRAM, "serve", "--port", "0"), environment(home)
    with subprocess.Popen(command, cwd=ROOT, env=given, stdout=subprocess.PIPE, text=True) as started:
        try:
            assert ask(re.search(r"http://\S+/mcp", started.stdout.readline()).group())
            yield home, started, time.monotonic()
        finally:
            started.terminate()


def called(url, name, arguments):
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": name, "arguments": arguments}}
    headers = {"accept": "application/json, text/event-stream"}
    return httpx.post(url, json=message, headers=headers, timeout=120).json()["result"]


def ask(url):
    return called(url, "rag_search", {"query": "lung cancer"})["structuredContent"]["results"]


def test_a_search_sends_nothing_and_leaves_nothing_behind(home):
    ran = run(home, PROGRAM, "search", "lung cancer", "--json")
    assert (ran.returncode, ran.stderr) == (0, "")
    assert json.loads(ran.stdout)["results"]
    assert left_behind(home) == []


def test_the_checking_of_the_model_leaves_nothing_behind(tmp_path):
    assert run(tmp_path, PROGRAM, "setup").returncode == 0
    assert left_behind(tmp_path) == []


@pytest.mark.parametrize("reaching", [LOOK_UP, CONNECT])
def test_reaching_for_a_network_would_be_seen(tmp_path, reaching):
    assert run(tmp_path, sys.executable, "-c", reaching).returncode == -signal.SIGSYS


def test_telemetry_would_be_seen(home):
    assert run(home, PROGRAM, "search", "lung cancer", ORT_DISABLE_TELEMETRY="0").returncode == 0
    assert any("onnxruntime" in each for each in left_behind(home))


def test_a_server_sends_nothing_and_leaves_nothing_behind(idle):
    home, started, asked = idle
    time.sleep(max(0, asked + FIRST_UPLOAD_S - time.monotonic()))
    started.send_signal(signal.SIGTERM)
    started.communicate(timeout=30)
    assert started.returncode == 0
    assert left_behind(home) == []


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
    ran, asked = by_name(spans)["execute_tool rag.get"], by_name(spans)["tools/call rag_get"]
    assert ran.trace_id.hex() == asked.trace_id.hex() == PARENT.split("-")[1]
    assert ran.parent_span_id == asked.span_id
    assert attributes(ran)["error.type"] == "InvalidInput"
    assert [each for each in by_name(spans) if each.startswith("tools/call")] == ["tools/call rag_get"]
    measured = {each.name for scope in metrics[0].resource_metrics[0].scope_metrics for each in scope.metrics}
    assert measured == {"mcp.server.operation.duration"}
    assert b"secret" not in b"".join(body for _, body in collector.seen)


def sent_spans(exported):
    return [span for each in exported for of in each.resource_spans for scope in of.scope_spans for span in scope.spans]


def by_name(exported):
    """The spans of what clients asked, by name: what a server does by itself is below no request."""
    return {span.name: span for span in sent_spans(exported) if span.parent_span_id or span.name.startswith("tools")}


def attributes(span):
    return {each.key: getattr(each.value, each.value.WhichOneof("value")) for each in span.attributes}


def test_a_search_a_sync_and_an_ingest_show_their_requests_below_the_call(tmp_path, collector, ncbi):
    (tmp_path / "notes.md").write_text("# Quokkas\n\nThey rest at noon.")
    calls = {
        "pubmed_sync_delta": {"query_key": "k", "term": '"2021/06/02"[crdt] : "2021/06/02"[crdt]'},
        "rag_search": {"query": "quokkas at noon"},
        "ingest_from_source": {"project": "lab", "source": str(tmp_path / "notes.md"), "create": True},
    }
    configured = {
        "OTEL_EXPORTER_OTLP_ENDPOINT": f"http://127.0.0.1:{collector.server_port}",
        "NCBI_BASE_URL": ncbi.base_url,
        "NCBI_ADMIN_EMAIL": "test@example.org",
        "BIO_MCP_INGEST_ROOTS": str(tmp_path),
    }
    with serving(tmp_path / "home", **configured) as (url, _, _):
        for name, arguments in calls.items():
            answer = called(url, name, arguments)
            assert not answer.get("isError"), answer
    sent = [ExportTraceServiceRequest.FromString(body) for path, body in collector.seen if path == "/v1/traces"]
    spans = by_name(sent)
    for name in ("pubmed.sync_delta", "rag.search", "ingest_from_source"):
        ran = spans[f"execute_tool {name}"]
        assert ran.parent_span_id == spans[f"tools/call {name.replace('.', '_')}"].span_id
    sync = spans["execute_tool pubmed.sync_delta"]
    for utility in ("esearch.fcgi", "efetch.fcgi"):
        below = [each for each in sent_spans(sent) if each.parent_span_id == sync.span_id]
        known = attributes(next(each for each in below if each.name == f"127.0.0.1 {utility}"))
        assert known["http.response.status_code"] == 200
        for name in ("gen_ai.tool.name", "bio_mcp.correlation_id"):
            assert known[name] == attributes(sync)[name]
    for each in (b"quokka", b"notes", b"2021/06/02", b"test@example.org"):
        assert each not in b"".join(body for _, body in collector.seen).lower()


def test_a_collector_that_is_away_stops_nothing(tmp_path):
    with collecting() as gone:
        port = gone.server_port
    served_once(tmp_path, OTEL_EXPORTER_OTLP_ENDPOINT=f"http://127.0.0.1:{port}")


def test_nothing_is_sent_unless_a_collector_is_named(tmp_path, collector):
    served_once(tmp_path)
    assert collector.seen == []

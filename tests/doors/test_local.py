"""A served process, from its start to its end."""

import signal
import socket
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from bio_mcp.doors.local import must_require_tokens, serve_locally
from bio_mcp.errors import Misconfigured
from tests.doors.wire import ACCEPT

ROOT = Path(__file__).parents[2]


@contextmanager
def served(host):
    """The sample server, which is told to end by the block."""
    command = [sys.executable, "-m", "tests.doors.sample_serve", host, "0"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process, process.stdout.readline().strip()
            assert process.stdout.read() == "closed what stands around the server\n"
            assert process.wait(30) == 0
        finally:
            process.kill()


def test_a_signal_is_heard_as_soon_as_the_server_says_where_it_is():
    with served("127.0.0.1") as (process, _):
        process.send_signal(signal.SIGINT)


def test_a_call_in_flight_is_answered_before_the_process_ends():
    params = {"name": "sample_walk", "arguments": {"steps": 500}, "_meta": {"progressToken": 1}}
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    sent = {"accept": ACCEPT, "mcp-protocol-version": "2025-11-25"}
    with served("::1") as (process, url), httpx.stream("POST", f"{url}/mcp", json=body, headers=sent) as answer:
        assert url.startswith("http://[::1]:")
        lines = answer.iter_lines()
        assert any("step 1" in line for line in lines)
        process.send_signal(signal.SIGTERM)
        assert any('"structuredContent":{"steps":500}' in line for line in lines)


def test_a_port_that_is_taken_is_explained():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(Misconfigured, match=rf"port {port} on 127.0.0.1 is taken.*--port or MCP_HTTP_PORT"):
            serve_locally(None, "127.0.0.1", port, print)


def test_a_port_that_cannot_exist_is_explained():
    with pytest.raises(Misconfigured, match="port 70000 does not exist"):
        serve_locally(None, "127.0.0.1", 70_000, print)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "example.org", ""])  # noqa: S104  refused
def test_nobody_else_is_let_in_without_access_tokens(host):
    with pytest.raises(Misconfigured, match="is not a loopback address and there are no access tokens"):
        must_require_tokens(host, requires_tokens=False)
    must_require_tokens(host, requires_tokens=True)
    for ours in ("127.0.0.1", "127.8.8.8", "localhost", "::1"):
        must_require_tokens(ours, requires_tokens=False)

"""A served process, from its start to its end, and several that serve one socket."""

import asyncio
import errno
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import ExitStack, contextmanager
from pathlib import Path

import httpx
import pytest

from bio_mcp.doors.local import (
    QUIET_S,
    Connections,
    Server,
    must_be_addresses,
    must_require_tokens,
    processes,
    serve_locally,
)
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


TRIES = 3_000
TELLING = """
import os, socket, sys
with socket.socket(fileno=int(sys.argv[1])) as listener:
    while True:
        with listener.accept()[0] as client:
            client.sendall(str(os.getpid()).encode())
"""  # who it is, to everybody who connects


def another(ask, known):
    """A process that answers and is none of those known. One that is killed may end a connection with nothing."""
    for _ in range(TRIES):
        if (told := ask()) and (pid := int(told)) not in known:
            return pid
        time.sleep(0.01)
    raise AssertionError("nobody else answers")


def gone(pid):
    """Waits until the process is no more."""
    for _ in range(TRIES):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.01)
    return False


def test_a_process_that_dies_is_replaced_and_all_end_when_they_are_told_to(caplog):
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def ask():
            with socket.create_connection(listener.getsockname()) as client:
                return client.recv(100)

        with processes(2, listener.dup(), lambda number: [sys.executable, "-Sc", TELLING, str(number)]):
            first = another(ask, set())
            second = another(ask, {first})
            os.kill(second, signal.SIGKILL)
            third = another(ask, {first, second})
        assert gone(first)
        assert gone(third)
    assert caplog.messages == ["a serving process ended (-9) and is restarted"]


def test_the_others_end_with_the_first_however_it_ends():
    command = [sys.executable, "-m", "tests.doors.sample_serve", "127.0.0.1", "0", "2"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as first:
        url = first.stdout.readline().strip()
        with httpx.Client(verify=False, headers={"connection": "close"}) as client:  # noqa: S501  plain HTTP
            second = another(lambda: client.get(f"{url}/pid").text, {first.pid})
        first.kill()
        assert gone(second)


WHOLE = b"GET / HTTP/1.1\r\nhost: x\r\n\r\n"
NEVER = 60.0


class App:
    """Answers every request when it has come whole, and, with the path /held, once it is let go."""

    def __init__(self, body=b"ok"):
        self.body = body
        self.held, self.letting_go = threading.Event(), threading.Event()

    async def __call__(self, scope, receive, send):
        while (message := await receive()).get("more_body"):
            pass
        if message["type"] == "http.disconnect":
            return
        if scope["path"] == "/held":
            self.held.set()
            await asyncio.to_thread(self.letting_go.wait)
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": self.body})


@contextmanager
def answering(limit=100, patience_s=NEVER, app=None, proxies=()):
    """A server of its own: its address and its connections."""
    started, connections = threading.Event(), Connections(limit, patience_s)
    server = Server(app or App(), started.set, connections, proxies)
    opened = socket.create_server(("127.0.0.1", 0))
    address = opened.getsockname()
    thread = threading.Thread(target=server.run, kwargs={"sockets": [opened]})
    thread.start()
    assert started.wait(20)
    try:
        yield address, connections
    finally:
        server.should_exit = server.force_exit = True
        thread.join()


def answer(client):
    """All that the server sends until it closes the connection, or says that it is done."""
    received = b""
    while more := client.recv(65_536):
        received += more
        if received.endswith(b"0\r\n\r\n"):
            break
    return received


def test_what_is_sent_leaves_at_once():
    with answering() as (address, connections), socket.create_connection(address) as client:
        client.sendall(WHOLE)
        assert answer(client).startswith(b"HTTP/1.1 200")
        [open_one] = connections.open
        ours = open_one.transport.get_extra_info("socket")
        assert ours.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


TWICE = b"POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"


@pytest.mark.parametrize("behind", [b"", WHOLE], ids=["alone", "with-another-behind"])
def test_a_request_that_ends_in_two_places_is_refused_and_nothing_behind_it_is_read(behind):
    with answering() as (address, _), socket.create_connection(address, timeout=20) as client:
        client.sendall(TWICE + behind)
        received = b""
        while more := client.recv(65_536):
            received += more
    assert received.startswith(b"HTTP/1.1 400")
    assert b"connection: close\r\n" in received.lower()
    assert received.count(b"HTTP/1.1") == 1


@pytest.mark.parametrize(
    "head",
    [
        b"host: x\r\ncontent-length: 5\r\ncontent-length: 6\r\n\r\nabcdef",
        b"host: x\r\ncontent-length: -1\r\n\r\n",
        b"host: x\r\ncontent-length: 5 5\r\n\r\nabcde",
        b"host: x\r\ncontent-length: 99999999999999999999999\r\n\r\n",
        b"host: x\r\ntransfer-encoding: chunked, identity\r\n\r\n0\r\n\r\n",
        b"host: x\r\ntransfer-encoding: gzip\r\n\r\n",
        b"host: x\r\ntransfer-encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFFFFFFF\r\n",
        b"host: x\r\nhost: evil.example\r\ncontent-length: 0\r\n\r\n",
        b"content-length: 0\r\n\r\n",
        b"host : x\r\ncontent-length: 0\r\n\r\n",
        b"host: x\r\nx: a\x00b\r\ncontent-length: 0\r\n\r\n",
    ],
)
def test_a_head_that_does_not_say_where_its_request_ends_or_for_whom_it_is_is_refused(head):
    with answering() as (address, _), socket.create_connection(address, timeout=20) as client:
        client.sendall(b"POST / HTTP/1.1\r\n" + head + WHOLE)
        received = b""
        while more := client.recv(65_536):
            received += more
    assert b"HTTP/1.1 200" not in received
    assert received == b"" or received.startswith(b"HTTP/1.1 400")


async def who_calls(scope, receive, send):
    """Answers with the caller's address and how it came."""
    body = json.dumps([scope["client"][0], scope["scheme"]]).encode()
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": body})


@pytest.mark.parametrize(
    ("proxies", "told"),
    [
        ((), ["127.0.0.1", "http"]),
        (("10.0.3.0/24", "::1"), ["127.0.0.1", "http"]),
        (("127.0.0.1",), ["192.0.2.7", "https"]),
        (("10.0.3.0/24", "127.0.0.0/8"), ["192.0.2.7", "https"]),
    ],
)
def test_a_forwarded_address_is_believed_from_a_proxy_that_is_named_and_from_nobody_else(monkeypatch, proxies, told):
    monkeypatch.setenv("FORWARDED_ALLOW_IPS", "*")
    sent = {"x-forwarded-for": "198.51.100.1, 192.0.2.7", "x-forwarded-proto": "https"}
    with answering(app=who_calls, proxies=proxies) as ((host, port), _):
        assert httpx.get(f"http://{host}:{port}/", headers=sent).json() == told


@pytest.mark.parametrize("named", ["*", "0.0.0.0/0", "::/0", "proxy.example.org", "10.0.0.1/8", ""])
def test_a_proxy_is_named_by_its_address(named):
    must_be_addresses(["127.0.0.1", "2001:db8::/32"])
    with pytest.raises(Misconfigured, match="MCP_TRUSTED_PROXIES holds"):
        must_be_addresses([named])


@pytest.mark.parametrize(
    "begun", [b"G", b"GET / HTTP/1.1\r\nhost:", b"POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\nhalf"]
)
def test_a_request_that_does_not_become_whole_is_ended(begun):
    with answering(patience_s=0.2) as (address, _), socket.create_connection(address, timeout=20) as client:
        client.sendall(begun)
        assert answer(client).startswith(b"HTTP/1.1 408")


def test_a_client_that_goes_on_sending_single_bytes_gets_no_more_time():
    with answering(patience_s=0.3) as (address, _), socket.create_connection(address, timeout=20) as client:
        client.sendall(b"GET / HTTP/1.1\r\nx: ")
        with pytest.raises(OSError, match=r"reset|Broken pipe|aborted"):  # noqa: PT012  it ends when it is closed
            while True:
                client.sendall(b"x")
                threading.Event().wait(0.02)


def test_the_second_request_of_a_connection_must_become_whole_too():
    with answering(patience_s=0.2) as (address, _), socket.create_connection(address, timeout=20) as client:
        client.sendall(WHOLE)
        assert answer(client).startswith(b"HTTP/1.1 200")
        client.sendall(b"GET")
        assert answer(client).startswith(b"HTTP/1.1 408")


def test_an_answer_may_take_longer_than_a_request():
    app = App()
    with answering(patience_s=0.1, app=app) as (address, _), socket.create_connection(address, timeout=20) as client:
        client.sendall(WHOLE.replace(b"/ ", b"/held ", 1))
        assert app.held.wait(20)
        threading.Event().wait(0.3)
        app.letting_go.set()
        assert answer(client).startswith(b"HTTP/1.1 200")


def test_an_answer_that_nobody_reads_is_given_up():
    app = App(b"x" * 30_000_000)
    with answering(patience_s=0.2, app=app) as (address, connections), socket.create_connection(address) as client:
        client.sendall(WHOLE)
        assert client.recv(1)
        for _ in range(200):
            if not connections.open:
                break
            threading.Event().wait(0.05)
        assert not connections.open


def test_one_connection_too_many_closes_the_one_that_has_waited_longest():
    with answering(limit=3) as (address, connections), ExitStack() as stack:
        waiting = [stack.enter_context(socket.create_connection(address, timeout=20)) for _ in range(5)]
        waiting[-1].sendall(WHOLE)
        assert answer(waiting[-1]).startswith(b"HTTP/1.1 200")
        for each in waiting[:2]:
            assert each.recv(1) == b""
        assert len(connections.open) == 3


def test_where_all_are_being_answered_a_new_one_is_told_to_come_again():
    app = App()
    with answering(limit=1, app=app) as (address, _), socket.create_connection(address, timeout=20) as first:
        first.sendall(WHOLE.replace(b"/ ", b"/held ", 1))
        assert app.held.wait(20)
        with socket.create_connection(address, timeout=20) as second:
            assert second.recv(1000).startswith(b"HTTP/1.1 503")
        app.letting_go.set()
        assert answer(first).startswith(b"HTTP/1.1 200")


def test_what_happens_thousands_of_times_is_logged_once_a_minute(caplog):
    now = [0.0]
    server = Server(App(), print, Connections(clock=lambda: now[0]))
    out = {
        "message": "socket.accept() out of system resource",
        "exception": OSError(errno.EMFILE, "Too many open files"),
    }
    for _ in range(1000):
        server._complain(None, out)
    assert caplog.messages == ["connections cannot be accepted: Too many open files"]
    now[0] = QUIET_S
    server._complain(None, out)
    assert len(caplog.messages) == 2


def test_more_unfinished_requests_than_files_leave_the_server_answering(tmp_path):
    command = f"ulimit -n 64; exec {sys.executable} -m tests.doors.sample_serve 127.0.0.1 0"
    complaints = (tmp_path / "log").open("w+")
    with (
        subprocess.Popen(
            ["bash", "-c", command], cwd=ROOT, stdout=subprocess.PIPE, stderr=complaints, text=True
        ) as process,
        ExitStack() as stack,
    ):
        stack.callback(process.kill)
        port = int(process.stdout.readline().rpartition(":")[2])
        for _ in range(100):
            stack.enter_context(socket.create_connection(("127.0.0.1", port))).sendall(b"G")
        for _ in range(3):
            with socket.create_connection(("127.0.0.1", port), timeout=20) as client:
                client.sendall(b"GET /health HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n")
                assert client.recv(1000).startswith(b"HTTP/1.1 200")
    with complaints:
        complaints.seek(0)
        assert len(complaints.read()) < 2_000

"""The wire over real sockets: what no transport made for tests can show."""

import gzip
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from bio_mcp.adapters.entrez.transport import AnswerTooLarge, HttpTransport
from bio_mcp.deadline import NEVER, Deadline
from bio_mcp.errors import DeadlineExceeded, Misconfigured, NcbiFailed
from tests.adapters.entrez.scripted import KEY, WHO

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"


@contextmanager
def serving(*answers: bytes | None) -> Iterator[tuple[str, list[bytes]]]:
    """A server that says these bytes in turn, one connection after the other; None: it keeps silent."""
    listener = socket.create_server(("127.0.0.1", 0))
    heard: list[bytes] = []
    stop = threading.Event()

    def serve() -> None:
        for answer in answers:
            connection, _ = listener.accept()
            with connection:
                heard.append(_request(connection))
                if answer is None:
                    stop.wait(timeout=60)
                else:
                    connection.sendall(answer)

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/eutils", heard
    finally:
        stop.set()
        thread.join(timeout=60)
        listener.close()


def _request(connection: socket.socket) -> bytes:
    received = b""
    while b"\r\n\r\n" not in received:
        received += connection.recv(65536)
    head, _, body = received.partition(b"\r\n\r\n")
    length = next(int(line[15:]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:"))
    while len(body) < length:
        body += connection.recv(65536)
    return head + b"\r\n\r\n" + body


@contextmanager
def wire(base_url: str, **settings) -> Iterator[HttpTransport]:
    opened = HttpTransport(base_url, **WHO, **settings)
    try:
        yield opened
    finally:
        opened.close()


def test_a_request_is_one_form_with_the_identity_in_its_body():
    with serving(OK) as (base_url, heard), wire(base_url) as sender:
        answer = sender.send("elink", {"id": ["1", "2"], "db": "pubmed"}, NEVER)
    assert (answer.status, answer.body, answer.endpoint) == (200, b"{}", "elink")
    head, _, body = heard[0].partition(b"\r\n\r\n")
    assert head.startswith(b"POST /eutils/elink.fcgi HTTP/1.1\r\n")
    assert body.startswith(b"id=1&id=2&db=pubmed&")
    assert KEY.encode() in body
    assert KEY.encode() not in head


def test_a_key_is_read_again_for_each_request(closed):
    keys = iter(["old", "new"])
    with serving(OK, OK) as (base_url, heard):
        sender = closed(HttpTransport(base_url, identity={}, key=lambda: next(keys)))
        for _ in range(2):
            sender.send("einfo", {}, NEVER)
    assert [each.rpartition(b"api_key=")[2] for each in heard] == [b"old", b"new"]


@pytest.mark.parametrize(
    "message",
    [
        b"",
        b"HTTP/1.1 200 OK\r\nContent-Le",
        b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n<Pubmed",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n<Pubm\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 5\r\n\r\nnogzp",
        b"no http at all\r\n\r\n",
    ],
    ids=["nothing", "cut head", "cut body", "cut chunks", "broken gzip", "not http"],
)
def test_an_answer_that_breaks_off_is_none(message):
    with serving(message) as (base_url, _), wire(base_url) as sender, pytest.raises(NcbiFailed, match="could not be"):
        sender.send("efetch", {}, NEVER)


def test_a_silent_server_is_given_up_at_the_deadline():
    with serving(None) as (base_url, _), wire(base_url) as sender, pytest.raises(DeadlineExceeded):
        sender.send("efetch", {}, Deadline(0.2))


def test_a_deadline_that_has_passed_sends_nothing():
    with wire("http://127.0.0.1:9") as sender, pytest.raises(DeadlineExceeded):
        sender.send("efetch", {}, Deadline(0))


def test_a_redirect_is_not_followed():
    message = b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:9/stolen\r\nContent-Length: 0\r\n\r\n"
    with serving(message) as (base_url, heard), wire(base_url) as sender:
        assert sender.send("efetch", {}, NEVER).status == 302
    assert len(heard) == 1


def test_an_endless_answer_is_cut_off():
    packed = gzip.compress(b"x" * 1_000_000)
    message = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(packed) + packed
    with serving(message) as (base_url, _), wire(base_url, max_bytes=10_000) as sender, pytest.raises(AnswerTooLarge):
        sender.send("efetch", {}, NEVER)


@pytest.mark.parametrize("base_url", ["ftp://127.0.0.1/", "ncbi", "http://ncbi:port/"])
def test_an_address_that_is_none_is_named_as_the_setting_to_correct(base_url):
    with pytest.raises(Misconfigured, match="NCBI_BASE_URL"), wire(base_url) as sender:
        sender.send("efetch", {}, NEVER)

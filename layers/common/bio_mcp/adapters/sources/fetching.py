"""Fetches https addresses that clients name: the one way to them, whoever asks.

A host is looked up once, its addresses are checked, and the connection goes to one of these, with the certificate of
the name. It goes by no proxy, which would look the name up again. Redirects are checked like what was asked for.
"""

import socket
import ssl
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from socket import getaddrinfo
from threading import Timer
from typing import Any
from urllib.parse import SplitResult, urljoin

import httpx

from bio_mcp.adapters.http import trusted
from bio_mcp.adapters.sources.addresses import HTTPS, Resolve, checked_url, public_addresses
from bio_mcp.deadline import Deadline, call_deadline
from bio_mcp.errors import InvalidInput, UnreadableDocument, UpstreamFailed

WAIT_S = 20.0  # for a connection, and between two pieces of an answer
HEADERS = {"accept-encoding": "identity", "user-agent": "bio-mcp"}
CONNECTED = ("connection.connect_tcp.complete", "connection.start_tls.complete")  # httpcore's names
PASSING = {408, 425, 429, 500, 502, 503, 504}


class GuardedFetch:
    """Fetches what is at https addresses of the `hosts`; of any host with public addresses alone where they are None.

    An answer has `max_bytes` at most and takes `whole_s` seconds at most, after at most so many `redirects`.
    `private` allows private addresses, `context` has the certificates to trust; both are for tests.
    """

    def __init__(
        self,
        hosts: Sequence[str] | None,
        *,
        max_bytes: int,
        whole_s: float,
        redirects: int = 0,
        accept: str = "*/*",
        resolve: Resolve = getaddrinfo,
        private: bool = False,
        context: ssl.SSLContext | None = None,
    ) -> None:
        self._hosts, self._max_bytes, self._whole_s = hosts, max_bytes, whole_s
        self._redirects, self._accept = redirects, accept
        self._resolve, self._private, self._context = resolve, private, context

    def fetch(self, url: str, deadline: Deadline | None = None) -> bytes:
        """What is at the address, by `deadline` or within `whole_s`.

        Raises `InvalidInput` for what cannot be fetched, its kind `Forbidden` for a host that may not be asked and its
        kind `UnreadableDocument` for an answer that is too long; `UpstreamFailed` for what may go well later.
        """
        deadline = deadline or call_deadline().share(self._whole_s)
        for _ in range(self._redirects + 1):
            parts = checked_url(url, self._hosts)
            answer = self._ask(parts, deadline)
            if isinstance(answer, bytes):
                return answer
            url = urljoin(parts.geturl(), answer)
        raise InvalidInput(
            "this address leads from one to the next without an end"
            if self._redirects
            else "this address leads to another one, which is not followed"
        )

    def _ask(self, parts: SplitResult, deadline: Deadline) -> bytes | str:
        """What is at the address, or where it says that this is."""
        port = parts.port or HTTPS
        connect_to = public_addresses(parts.hostname or "", port, self._resolve, private=self._private)[0]
        url = httpx.URL(parts.geturl()).copy_with(host=connect_to)
        headers = {**HEADERS, "accept": self._accept, "host": parts.netloc}
        limit = max(0.1, min(WAIT_S, deadline.remaining))
        client = httpx.Client(verify=self._context or trusted(), trust_env=False, timeout=limit)
        with _translated(lambda: self._check_time(deadline)), client, _ending_with(deadline) as trace:
            extensions = {"sni_hostname": parts.hostname, "trace": trace}
            with client.stream("GET", url, headers=headers, extensions=extensions) as response:
                if response.has_redirect_location:
                    return response.headers["location"]
                _check_status(response)
                return self._body(response, deadline)

    def _body(self, response: httpx.Response, deadline: Deadline) -> bytes:
        """The body, counted as it comes, whatever its length was said to be."""
        body = bytearray()
        for piece in response.iter_bytes():
            body += piece
            if len(body) > self._max_bytes:
                raise UnreadableDocument(f"it is larger than {_size(self._max_bytes)}")
            self._check_time(deadline)
        return bytes(body)

    def _check_time(self, deadline: Deadline) -> None:
        if deadline.remaining <= 0:
            call_deadline().check("a document was fetched")
            raise UpstreamFailed(f"it did not come within {self._whole_s:.0f} s")


def _size(count: int) -> str:
    return f"{count >> 20} MB" if count >= 1 << 20 else f"{count >> 10} kB"


def _check_status(response: httpx.Response) -> None:
    status = response.status_code
    if status in PASSING:
        raise UpstreamFailed(f"its host answers {status}; try again later")
    if status != httpx.codes.OK:
        raise InvalidInput(f"its host answers {status} instead of a document")


@contextmanager
def _ending_with(deadline: Deadline) -> Iterator[Callable[[str, Mapping[str, Any]], None]]:
    """A trace for httpcore that ends the connection with the time, whatever drips: its own limits are of one read."""
    connected: list[socket.socket] = []

    def trace(event: str, details: Mapping[str, Any]) -> None:
        if event in CONNECTED:
            connected.append(details["return_value"].get_extra_info("socket"))

    def end() -> None:
        for each in connected:
            with suppress(OSError):
                socket.socket.shutdown(each, socket.SHUT_RDWR)  # not the method of TLS, which goes on in the clear

    timer = Timer(max(0.1, deadline.remaining), end)
    timer.daemon = True
    timer.start()
    try:
        yield trace
    finally:
        timer.cancel()


@contextmanager
def _translated(check_time: Callable[[], None]) -> Iterator[None]:
    """Errors of the network as failures that name no address."""
    try:
        yield
    except (httpx.InvalidURL, httpx.UnsupportedProtocol):
        raise InvalidInput("source: this is not an https address") from None
    except httpx.HTTPError as error:
        check_time()
        raise UpstreamFailed(f"its host could not be reached, or broke off ({type(error).__name__})") from None

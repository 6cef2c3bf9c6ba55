"""Documents at https addresses of the allowed hosts, and of no others: redirects are checked like what was asked for.

A host is looked up once, its addresses are checked, and the connection goes to one of these, with the certificate of
the name. It goes by no proxy, which would look the name up again.
"""

import ssl
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import PurePosixPath
from socket import getaddrinfo
from urllib.parse import SplitResult, unquote, urljoin

import httpx

from bio_mcp.adapters.retry import Backoff, retry
from bio_mcp.adapters.sources.addresses import HTTPS, Resolve, checked_url, public_addresses
from bio_mcp.deadline import Deadline, call_deadline
from bio_mcp.errors import InvalidInput, Misconfigured, UnreadableDocument, UpstreamFailed
from bio_mcp.ports.sources import MAX_BYTES, SourceFile

REDIRECTS = 5
WAIT_S = 20.0  # for a connection, and between two pieces of an answer
WHOLE_S = 120.0
HEADERS = {"accept": "*/*", "accept-encoding": "identity", "user-agent": "bio-mcp"}
PASSING = {408, 425, 429, 500, 502, 503, 504}


class WebFiles:
    """Documents by their https addresses, at the `hosts` that may be asked.

    `private` allows private addresses, `context` has the certificates to trust; both are for tests.
    """

    def __init__(
        self,
        hosts: Sequence[str],
        max_bytes: int = MAX_BYTES,
        *,
        backoff: Backoff | None = None,
        resolve: Resolve = getaddrinfo,
        private: bool = False,
        context: ssl.SSLContext | None = None,
        whole_s: float = WHOLE_S,
    ) -> None:
        self._hosts, self._max_bytes, self._backoff = hosts, max_bytes, backoff or Backoff(tries=3)
        self._resolve, self._private, self._context, self._whole_s = resolve, private, context, whole_s

    def locate(self, source: str, *, local: bool) -> str:  # noqa: ARG002  who asks makes no difference
        """The address without a fragment, its host as it is looked up."""
        return checked_url(source, self._hosts).geturl()

    def files(self, location: str, *, local: bool) -> list[SourceFile]:  # noqa: ARG002
        """The one document at the address."""
        parts = checked_url(location, self._hosts)
        last = PurePosixPath(unquote(parts.path, errors="replace")).name or parts.hostname or ""
        return [SourceFile("".join(each for each in last if each.isprintable())[:200], location)]

    def read(self, address: str, *, local: bool) -> bytes:  # noqa: ARG002
        """The document, after at most `REDIRECTS` redirects."""
        deadline = call_deadline().share(self._whole_s)
        return retry(
            lambda: self._fetch(address, deadline), worth=UpstreamFailed, backoff=self._backoff, deadline=deadline
        )

    def _fetch(self, address: str, deadline: Deadline) -> bytes:
        for _ in range(REDIRECTS + 1):
            parts = checked_url(address, self._hosts)
            answer = self._ask(parts, deadline)
            if isinstance(answer, bytes):
                return answer
            address = urljoin(parts.geturl(), answer)
        raise InvalidInput("this address leads from one to the next without an end")

    def _ask(self, parts: SplitResult, deadline: Deadline) -> bytes | str:
        """What is at the address, or where it says that this is."""
        port = parts.port or HTTPS
        connect_to = public_addresses(parts.hostname or "", port, self._resolve, private=self._private)[0]
        url = httpx.URL(parts.geturl()).copy_with(host=connect_to)
        headers, sni = {**HEADERS, "host": parts.netloc}, {"sni_hostname": parts.hostname}
        limit = max(0.1, min(WAIT_S, deadline.remaining))
        client = httpx.Client(verify=self._trusted, trust_env=False, timeout=limit)
        with _translated(), client, client.stream("GET", url, headers=headers, extensions=sni) as response:
            if response.has_redirect_location:
                return response.headers["location"]
            _check_status(response)
            return self._body(response, deadline)

    @property
    def _trusted(self) -> ssl.SSLContext:
        if self._context is None:
            try:
                self._context = httpx.create_ssl_context()
            except OSError:
                raise Misconfigured("SSL_CERT_FILE or SSL_CERT_DIR names no certificates that can be read") from None
        return self._context

    def _body(self, response: httpx.Response, deadline: Deadline) -> bytes:
        """The body, counted as it comes, whatever its length was said to be."""
        body = bytearray()
        for piece in response.iter_bytes():
            body += piece
            if len(body) > self._max_bytes:
                raise UnreadableDocument(f"it is larger than {self._max_bytes >> 20} MB")
            if deadline.remaining <= 0:
                call_deadline().check("a document was fetched")
                raise UpstreamFailed(f"it did not come within {self._whole_s:.0f} s")
        return bytes(body)


def _check_status(response: httpx.Response) -> None:
    status = response.status_code
    if status in PASSING:
        raise UpstreamFailed(f"its host answers {status}; try again later")
    if status != httpx.codes.OK:
        raise InvalidInput(f"its host answers {status} instead of a document")


@contextmanager
def _translated() -> Iterator[None]:
    """Errors of the network as failures that name no address."""
    try:
        yield
    except (httpx.InvalidURL, httpx.UnsupportedProtocol):
        raise InvalidInput("source: this is not an https address") from None
    except httpx.HTTPError as error:
        raise UpstreamFailed(f"its host could not be reached, or broke off ({type(error).__name__})") from None

"""HTTP clients: their time-outs, their answers as far as they may go, and their errors as failures."""

import json
from collections.abc import Callable, Iterator
from functools import cache, partial
from ssl import SSLContext
from typing import Any, TypeVar

import httpx

from bio_mcp.deadline import Deadline
from bio_mcp.errors import EmbeddingFailed, Failure, InvalidInput, Misconfigured, UpstreamFailed
from bio_mcp.lazy import Lazy
from bio_mcp.tracing import request_span

T = TypeVar("T")

CONNECT_S, READ_S = 10.0, 30.0

TRANSIENT_STATUSES = {408, 409, 425, 429, 500, 502, 503, 504, 529}  # of requests that may succeed later
LARGEST = 1 << 20  # bytes of an answer
LARGEST_OF_MODELS = 8 << 20  # 96 vectors of 3,072 numbers are 6 MiB


def http_client(**options: Any) -> httpx.Client:
    """An httpx client with the proxies and certificates of the environment. Raises `Misconfigured` if those are
    unusable."""
    try:
        return TracedClient(verify=trusted(), **options)
    except ImportError:
        raise Misconfigured("ALL_PROXY, HTTPS_PROXY or HTTP_PROXY names a SOCKS proxy; give an HTTP proxy") from None
    except (ValueError, httpx.InvalidURL):
        raise Misconfigured("ALL_PROXY, HTTPS_PROXY or HTTP_PROXY is not the address of a proxy") from None


class TracedClient(httpx.Client):
    """A client whose requests are spans, until their answers are read or closed. A span has the host, and of NCBI the
    utility, not the address: that may name a paper."""

    def send(self, request: httpx.Request, **options: Any) -> httpx.Response:
        last = request.url.path.rpartition("/")[2]
        operation = last if last.endswith(".fcgi") else request.method
        host = str(request.extensions.get("sni_hostname") or request.url.host)
        end = request_span(host, operation)
        try:
            response = super().send(request, **options)
        except Exception as error:
            end(type(error).__name__, {})
            raise
        ended = partial(
            end, str(response.status_code) if response.is_error else "", {"status": str(response.status_code)}
        )
        if response.is_closed:
            ended()
        else:
            response.stream = _Ending(response.stream, ended)
        return response


class _Ending(httpx.SyncByteStream):
    """The stream of an answer, which says when it is closed."""

    def __init__(self, stream: Any, ended: Callable[[], None]) -> None:
        self._stream, self._ended = stream, ended

    def __iter__(self) -> Iterator[bytes]:
        yield from self._stream

    def close(self) -> None:
        self._stream.close()
        self._ended()


@cache
def trusted() -> SSLContext:
    """The certificates of the environment, for all clients of this process: reading them takes some 30 ms.

    Raises `Misconfigured` where they cannot be read.
    """
    try:
        return httpx.create_ssl_context()
    except OSError:
        raise Misconfigured("SSL_CERT_FILE or SSL_CERT_DIR names no certificates that can be read") from None


def timeout_of(deadline: Deadline, read_s: float = READ_S) -> httpx.Timeout:
    """Time-outs for connecting and for pauses in an answer, within what is left of the deadline."""
    left = deadline.remaining
    return httpx.Timeout(min(read_s, left), connect=min(CONNECT_S, left))


def asked(
    send: Callable[[], T],
    service: str,
    setting: str,
    deadline: Deadline,
    failed: type[UpstreamFailed] = UpstreamFailed,
    unreachable: type[UpstreamFailed] = UpstreamFailed,
) -> T:
    """Return `send()`, which asks the service at the address of this setting; errors of httpx become failures, those of
    connecting `unreachable`."""
    failure: Failure
    try:
        return send()
    except (httpx.UnsupportedProtocol, httpx.InvalidURL):
        failure = Misconfigured(f"{setting} is not an http address; correct it")
    except UnicodeEncodeError:
        failure = InvalidInput("the request contains an unpaired surrogate; remove it")
    except httpx.HTTPError as error:
        kind = unreachable if isinstance(error, httpx.ConnectError | httpx.ConnectTimeout) else failed
        failure = kind(f"{service} could not be reached ({type(error).__name__}); try again in a minute")
    # Raised here and not in the handler: httpx's exception holds the request, and so its key or e-mail.
    if failure.retryable:
        deadline.check(f"{service} answered")
    raise failure


class Rejected(UpstreamFailed):
    """The service will answer the same again."""

    retryable = False


def read_body(
    response: httpx.Response, deadline: Deadline, doing: str, too_long: Failure, most: int = LARGEST
) -> bytes:
    """The body. Raises `too_long` for one of more bytes, `DeadlineExceeded` where it still comes when time is over."""
    content = bytearray()
    for part in response.iter_bytes():
        content += part
        deadline.check(doing)
        if len(content) > most:
            raise too_long
    return bytes(content)


class ModelEndpoint:
    """A model at an address that takes and gives JSON.

    `name` begins each message, `settings` are what to check where it cannot be reached, or refuses. Its own messages
    are not repeated, since some echo the key, which is sent as a bearer token: `api_key` is called for each request.
    `passing` is raised for what another try may cure, `lasting` for the rest.
    """

    def __init__(
        self,
        name: str,
        url: str,
        settings: tuple[str, str],
        *,
        api_key: Callable[[], str] | None,
        passing: type[EmbeddingFailed | UpstreamFailed],
        lasting: type[EmbeddingFailed | UpstreamFailed],
    ) -> None:
        self.url = url
        self._name, self._settings, self._api_key = name, settings, api_key
        self._passing, self._lasting = passing, lasting
        self._client = Lazy(http_client)

    def ask(self, body: dict[str, Any], deadline: Deadline) -> Any:
        """What it answers to the request. Raises also `DeadlineExceeded`."""
        deadline.check("asking a model")
        key = self._api_key() if self._api_key else ""
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        timeout = httpx.Timeout(deadline.remaining)
        try:
            with self._client().stream("POST", self.url, json=body, headers=headers, timeout=timeout) as response:
                if response.status_code != httpx.codes.OK:
                    raise self._refusal(response)
                doing = "reading a model's answer"
                return json.loads(read_body(response, deadline, doing, self.unreadable(), LARGEST_OF_MODELS))
        except (ValueError, RecursionError):
            raise self.unreadable() from None
        except httpx.TimeoutException:
            raise self._passing(f"{self._name} did not answer in time.") from None
        except (httpx.HTTPError, httpx.InvalidURL):
            raise self._passing(f"{self._name} cannot be reached; check {self._settings[0]}.") from None

    def unreadable(self) -> EmbeddingFailed | UpstreamFailed:
        """The failure for an answer that has not what was asked for."""
        return self._lasting(f"{self._name} gave an answer that cannot be read.")

    def _refusal(self, response: httpx.Response) -> EmbeddingFailed | UpstreamFailed:
        status = response.status_code
        if status in TRANSIENT_STATUSES:
            after = seconds(response.headers.get("Retry-After"))
            return self._passing(f"{self._name} is busy or down (HTTP {status}); try again later.", retry_after_s=after)
        if status in {httpx.codes.UNAUTHORIZED, httpx.codes.FORBIDDEN}:
            return self._lasting(f"{self._name} refused the API key (HTTP {status}).", retryable=False)
        wrong = " and ".join(self._settings)
        return self._lasting(f"{self._name} refused the request (HTTP {status}); check {wrong}.", retryable=False)


def answers(url: str, timeout_s: float) -> bool:
    """Whether anything at the address speaks HTTP, whatever it says."""
    try:
        with http_client(timeout=timeout_s) as client, client.stream("GET", url):
            return True
    except (httpx.HTTPError, httpx.InvalidURL):
        return False


def seconds(text: str | None) -> float | None:
    """The seconds that a header asks for, 0 or more; None without one, or for a date."""
    try:
        return max(0.0, float(text)) if text else None
    except ValueError:
        return None

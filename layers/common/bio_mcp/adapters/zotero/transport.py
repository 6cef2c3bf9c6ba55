"""Asks a server that speaks Zotero's API, version 3."""

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar
from urllib.parse import urljoin, urlsplit

import httpx

from bio_mcp.adapters.http import http_client, seconds
from bio_mcp.adapters.retry import Backoff, Worth, retry
from bio_mcp.deadline import call_deadline
from bio_mcp.errors import Failure, Misconfigured, NotFound, UpstreamFailed

T = TypeVar("T")

CONNECT_S = 10.0
READ_S = 60.0  # a large library takes its time
MAX_BYTES = 256 * 2**20  # of an answer
MAX_REDIRECTS = 3
REFUSED = {httpx.codes.UNAUTHORIZED, httpx.codes.FORBIDDEN}
PASSING = {httpx.codes.REQUEST_TIMEOUT, httpx.codes.CONFLICT, httpx.codes.TOO_MANY_REQUESTS}


class Rejected(UpstreamFailed):
    """Zotero will answer the same again."""

    retryable = False


@dataclass(frozen=True, slots=True)
class Answer:
    """A complete answer. `headers` are by lower-case name."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def version(self) -> int:
        """The version of the library. Raises `UpstreamFailed` when the answer has none."""
        return self.number("last-modified-version")

    def number(self, header: str) -> int:
        """The number in a header. Raises `UpstreamFailed` when there is none: this is not Zotero."""
        text = self.headers.get(header, "")
        if not text.isdecimal():
            raise not_zotero()
        return int(text)

    def json(self, kind: type[T]) -> T:
        """The body, which is of that kind. Raises `UpstreamFailed` when it is not."""
        try:
            read = json.loads(self.body)
        except ValueError:
            raise UpstreamFailed("Zotero's answer is not whole; try again in a minute") from None
        if not isinstance(read, kind):
            raise not_zotero()
        return read


class Transport:
    """HTTP to one server. The key goes to its host alone, in a header, and is read again for each request.

    A failure that may pass is tried again as `backoff` says, after the pause that the server asks for (`Retry-After`);
    one that it asks for beside a good answer (`Backoff`) is held before the next request. Threads may share it. `clock`
    is the time of day, as the monotonic clock of a frozen Lambda environment stands still.
    """

    def __init__(
        self,
        url: str,
        *,
        key: Callable[[], str] | None = None,
        backoff: Backoff | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._url = url.rstrip("/") + "/"
        self._key = key
        self._backoff = backoff or Backoff()
        self._clock = clock
        self._pause_from, self._pause_s = 0.0, 0.0
        self._client = http_client(follow_redirects=False, headers={"Zotero-API-Version": "3"})

    def get(self, path: str, parameters: Mapping[str, str] | None = None) -> Answer:
        """The answer to a request below the address.

        Raises `NotFound`, `UpstreamFailed`, `Misconfigured` for a key that is refused, and `DeadlineExceeded`.
        """
        try:
            url = str(httpx.URL(urljoin(self._url, path), params=dict(parameters or {})))
        except httpx.InvalidURL:
            raise Misconfigured("ZOTERO_API_URL is not an http address; correct it") from None
        return self._ask(url, keyed=True)

    def follow(self, answer: Answer) -> Answer:
        """The answer at the end of redirects, which lead to a store of files. No key is sent there, nor in the clear
        when the server itself is asked over https."""
        for _ in range(MAX_REDIRECTS):
            if not httpx.codes.is_redirect(answer.status):
                return answer
            target = answer.headers.get("location", "")
            if urlsplit(target).scheme not in {"https", urlsplit(self._url).scheme}:
                raise Rejected("Zotero's files are at no address that may be followed")
            answer = self._ask(target, keyed=False)
        raise Rejected("Zotero's files are behind too many redirects")

    def close(self) -> None:
        """Close the pooled connections."""
        self._client.close()

    def _ask(self, url: str, *, keyed: bool) -> Answer:
        worth: Worth = {UpstreamFailed: self._backoff.tries, Rejected: 1}
        return retry(lambda: self._try(url, keyed=keyed), worth=worth, backoff=self._backoff)

    def _try(self, url: str, *, keyed: bool) -> Answer:
        waited = self._clock() - self._pause_from
        if waited >= 0 and (wait := self._pause_s - waited) > 0:
            raise UpstreamFailed("Zotero asks for a pause; try again in a minute", retry_after_s=wait)
        headers = {"Zotero-API-Key": self._key()} if keyed and self._key else {}
        failure: Failure
        try:
            return self._exchange(url, headers, of_library=keyed)
        except (httpx.UnsupportedProtocol, httpx.InvalidURL):
            failure = Misconfigured("ZOTERO_API_URL is not an http address; correct it")
        except httpx.HTTPError as error:
            failure = UpstreamFailed(f"Zotero could not be reached ({type(error).__name__}); try again in a minute")
        # Raised here and not in the handler: httpx's exception holds the request, and so the key.
        call_deadline().check("Zotero answered")
        raise failure

    def _exchange(self, url: str, headers: Mapping[str, str], *, of_library: bool) -> Answer:
        left = call_deadline().remaining
        timeout = httpx.Timeout(min(READ_S, left), connect=min(CONNECT_S, left))
        with self._client.stream("GET", url, headers=dict(headers), timeout=timeout) as response:
            found = {name.lower(): value for name, value in response.headers.items()}
            self._pause_from, self._pause_s = self._clock(), seconds(found.get("backoff")) or 0.0
            if failure := _failure_in(response.status_code, found, of_library=of_library):
                raise failure
            return Answer(response.status_code, found, _body(response))


def not_zotero() -> UpstreamFailed:
    """The failure for an answer that has not the form of Zotero's."""
    return UpstreamFailed("what answers at the address of Zotero is not Zotero's API; check ZOTERO_API_URL")


def _body(response: httpx.Response) -> bytes:
    parts: list[bytes] = []
    size = 0
    for part in response.iter_bytes():
        call_deadline().check("Zotero's answer was whole")
        parts.append(part)
        size += len(part)
        if size > MAX_BYTES:
            raise Rejected(f"Zotero's answer is longer than {MAX_BYTES >> 20} MB")
    return b"".join(parts)


def _failure_in(status: int, headers: Mapping[str, str], *, of_library: bool) -> Failure | None:
    if status < httpx.codes.BAD_REQUEST:
        return None
    if status in REFUSED and of_library:
        return Misconfigured(
            "Zotero refuses access to this library: ZOTERO_API_KEY must be a key that may read it, ZOTERO_LIBRARY_ID "
            "and ZOTERO_LIBRARY_TYPE must name it, and a running Zotero must allow other applications on this computer"
        )
    if status == httpx.codes.NOT_FOUND:
        return NotFound("Zotero has no such thing")
    if status not in PASSING and status < httpx.codes.INTERNAL_SERVER_ERROR:
        return Rejected(f"Zotero answered with status {status}; check ZOTERO_API_URL and ZOTERO_LIBRARY_ID")
    hint = "is busy" if status == httpx.codes.TOO_MANY_REQUESTS else f"answered with status {status}"
    return UpstreamFailed(f"Zotero {hint}; try again later", retry_after_s=seconds(headers.get("retry-after")))

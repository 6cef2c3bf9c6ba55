"""Asks a service over HTTP: at its pace, within a deadline, again where a failure may pass, and reads whole answers."""

import json
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import httpx

from bio_mcp.adapters.http import http_client, seconds
from bio_mcp.adapters.retry import Backoff, Worth, retry
from bio_mcp.deadline import Deadline
from bio_mcp.errors import Failure, InvalidInput, Misconfigured, NotFound, UpstreamFailed
from bio_mcp.ports.ncbi import RateLimiter

T = TypeVar("T")

CONNECT_S, READ_S = 10.0, 30.0
MAX_BYTES = 64 << 20  # of an answer
TRIES = 3
LONGEST_PAUSE_S = 600.0  # that a service may ask for
PAUSE_S = 5.0  # for everybody, where a service that is asked too fast names no time
PASSING = {httpx.codes.REQUEST_TIMEOUT, httpx.codes.TOO_EARLY, httpx.codes.TOO_MANY_REQUESTS}

Parameters = Mapping[str, str]


class Rejected(UpstreamFailed):
    """The service will answer the same again."""

    retryable = False


class RestApi:
    """One service at a base address. `setting` is the variable that names it, `always` goes with every request.

    Redirects are not followed: an e-mail that goes with a request would go there, too. Threads may share it.
    """

    def __init__(
        self,
        name: str,
        url: str,
        setting: str,
        *,
        pacer: RateLimiter,
        user_agent: str,
        always: Parameters | None = None,
        backoff: Backoff | None = None,
        max_bytes: int = MAX_BYTES,
    ) -> None:
        self.name = name
        self._url = url.rstrip("/")
        self._setting = setting
        self._pacer = pacer
        self._always = dict(always or {})
        self._backoff = backoff or Backoff(tries=TRIES)
        self._max_bytes = max_bytes
        self._client = http_client(follow_redirects=False, headers={"User-Agent": user_agent})

    def json(
        self,
        path: str,
        parameters: Parameters | None = None,
        *,
        deadline: Deadline,
        check: Callable[[dict[str, Any]], None] = lambda _answer: None,
    ) -> dict[str, Any]:
        """The JSON object at a path below the address. Raises as `read` does, and what `check` raises of an answer."""
        return self._retried(lambda: self._object(self._ask(path, parameters or {}, deadline), check), deadline)

    def read(self, path: str, parameters: Parameters | None = None, *, deadline: Deadline) -> bytes:
        """The answer at a path below the address.

        Raises `NotFound` where the service has no such thing, `UpstreamFailed`, its kind `Rejected` for what will fail
        again, `DeadlineExceeded`, and `Misconfigured` for an address that is none.
        """
        return self._retried(lambda: self._ask(path, parameters or {}, deadline), deadline)

    def unreadable(self) -> UpstreamFailed:
        """The failure for an answer that has not the form of this service's."""
        return UpstreamFailed(f"{self.name} sent something else than an answer; try again in a minute")

    def close(self) -> None:
        """Close the pooled connections."""
        self._client.close()

    def _retried(self, attempt: Callable[[], T], deadline: Deadline) -> T:
        worth: Worth = {UpstreamFailed: self._backoff.tries, Rejected: 1}
        return retry(attempt, worth=worth, backoff=self._backoff, deadline=deadline)

    def _object(self, body: bytes, check: Callable[[dict[str, Any]], None]) -> dict[str, Any]:
        try:
            read = json.loads(body)
        except (ValueError, RecursionError):
            raise self.unreadable() from None
        if not isinstance(read, dict):
            raise self.unreadable()
        check(read)
        return read

    def _ask(self, path: str, parameters: Parameters, deadline: Deadline) -> bytes:
        self._pacer.wait(deadline)
        deadline.check(f"asking {self.name}")
        failure: Failure
        try:
            return self._exchange(f"{self._url}/{path}", {**parameters, **self._always}, deadline)
        except (httpx.UnsupportedProtocol, httpx.InvalidURL):
            failure = Misconfigured(f"{self._setting} is not an http address; correct it")
        except UnicodeEncodeError:
            failure = InvalidInput("the request contains an unpaired surrogate; remove it")
        except httpx.HTTPError as error:
            why = type(error).__name__
            failure = UpstreamFailed(f"{self.name} could not be reached ({why}); try again in a minute")
        # Raised here and not in the handler: httpx's exception holds the request, and so the e-mail.
        if failure.retryable:
            deadline.check(f"{self.name} answered")
        raise failure

    def _exchange(self, url: str, parameters: Parameters, deadline: Deadline) -> bytes:
        left = deadline.remaining
        timeout = httpx.Timeout(min(READ_S, left), connect=min(CONNECT_S, left))
        with self._client.stream("GET", url, params=dict(parameters), timeout=timeout) as response:
            if failure := self._failure_in(response):
                raise failure
            return self._body(response, deadline)

    def _body(self, response: httpx.Response, deadline: Deadline) -> bytes:
        body = bytearray()
        for piece in response.iter_bytes():
            deadline.check(f"the answer of {self.name} was whole")
            body += piece
            if len(body) > self._max_bytes:
                raise Rejected(f"the answer of {self.name} is too long; ask for less at once")
        return bytes(body)

    def _failure_in(self, response: httpx.Response) -> Failure | None:
        status = response.status_code
        named: dict[str, Any] = {"service": self.name, "http_status": status}
        if status == httpx.codes.OK:
            return None
        if status == httpx.codes.NOT_FOUND:
            return NotFound(f"{self.name} has no such thing", **named)
        if status not in PASSING and status < httpx.codes.INTERNAL_SERVER_ERROR:
            return Rejected(f"{self.name} refused the request (HTTP {status}); check {self._setting}", **named)
        asked_s = seconds(response.headers.get("retry-after"))
        wait_s = None if asked_s is None else min(asked_s, LONGEST_PAUSE_S)
        if status == httpx.codes.TOO_MANY_REQUESTS:
            wait_s = PAUSE_S if wait_s is None else wait_s
            self._pacer.cool_down(wait_s)
        return UpstreamFailed(
            f"{self.name} is having trouble (HTTP {status}); try again later", retry_after_s=wait_s, **named
        )

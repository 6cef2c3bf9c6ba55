"""What others publish for signing in: the keys of an issuer of access tokens, and descriptions of clients."""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable

import httpx

from bio_mcp.adapters.http import http_client, read_body
from bio_mcp.adapters.sources import GuardedFetch
from bio_mcp.deadline import Deadline
from bio_mcp.errors import DeadlineExceeded, UpstreamFailed

TIMEOUT_S = 3.0  # for the whole answer
MAX_BYTES = 256 * 1024
HEADERS = {"accept": "application/json", "accept-encoding": "identity"}


def fetch(url: str, *, timeout_s: float = TIMEOUT_S, max_bytes: int = MAX_BYTES) -> bytes:
    """Fetch the key set at `url` as bytes. Redirects are not followed, as they could lead from https to http.

    Raises `UpstreamFailed`, whose message contains neither the address nor the answer.
    """
    deadline = Deadline(timeout_s)
    try:
        with http_client(timeout=timeout_s) as client, client.stream("GET", url, headers=HEADERS) as response:
            if response.status_code == httpx.codes.OK:
                too_long = UpstreamFailed("the issuer's keys are longer than any set of keys; check their address")
                return read_body(response, deadline, "the issuer's keys were whole", too_long, max_bytes)
            problem = f"status {response.status_code}"
    except (httpx.HTTPError, httpx.InvalidURL, DeadlineExceeded) as error:
        problem = type(error).__name__
    raise UpstreamFailed(f"the issuer's keys could not be read ({problem}); try again in a minute")


MAX_DESCRIPTION_BYTES = 5 << 10
WHOLE_S = 5.0
AGE_S = 600.0
MOST = 256


class ClientDocuments:
    """Descriptions of clients at public https addresses, each fetched at most every `AGE_S` seconds.

    Redirects are not followed. Threads may share it. `clock` is in seconds and defaults to the time of
    day, as the monotonic clock of a frozen Lambda environment stands still.
    """

    def __init__(self, fetch: Callable[[str], bytes] | None = None, clock: Callable[[], float] = time.time) -> None:
        accept = "application/json"
        self._fetch = fetch or GuardedFetch(None, max_bytes=MAX_DESCRIPTION_BYTES, whole_s=WHOLE_S, accept=accept).fetch
        self._clock = clock
        self._fetched: OrderedDict[str, tuple[float, bytes]] = OrderedDict()
        self._lock = threading.Lock()

    def read(self, address: str) -> bytes:
        """The description at this address. Raises `InvalidInput` where it cannot be fetched, `UpstreamFailed` for the
        moment."""
        with self._lock:
            at, body = self._fetched.get(address, (float("-inf"), b""))
        if not 0 <= self._clock() - at <= AGE_S:
            body = self._fetch(address)
            with self._lock:
                self._fetched[address] = (self._clock(), body)
                while len(self._fetched) > MOST:
                    self._fetched.popitem(last=False)
        return body

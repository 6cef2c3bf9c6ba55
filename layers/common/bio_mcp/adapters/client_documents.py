"""What clients publish of themselves at the address that is their id (OAuth Client ID Metadata Documents)."""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable

from bio_mcp.adapters.sources.fetching import GuardedFetch

MAX_BYTES = 5 << 10
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
        self._fetch = fetch or GuardedFetch(None, max_bytes=MAX_BYTES, whole_s=WHOLE_S, accept=accept).fetch
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

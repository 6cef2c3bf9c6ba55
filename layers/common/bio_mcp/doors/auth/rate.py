"""Limits the number of calls per token subject, and says which addresses count as one."""

import time
from collections import OrderedDict
from collections.abc import Callable
from hashlib import sha256
from ipaddress import IPv6Address, ip_address, ip_network
from threading import Lock

MINUTE_S = 60.0
SUBJECTS = 10_000  # tracked; the least recently seen are dropped


class RateLimiter:
    """Allows `per_minute` calls to each subject, in a burst or evenly, refilled evenly (GCRA); 0 means no limit.

    `clock` is in seconds and defaults to the time of day, as the monotonic clock of a frozen Lambda environment stands
    still.
    """

    def __init__(self, per_minute: int, clock: Callable[[], float] = time.time, subjects: int = SUBJECTS) -> None:
        self._interval = MINUTE_S / per_minute if per_minute else 0.0
        self._clock = clock
        self._subjects = subjects
        self._full_at: OrderedDict[str, float] = OrderedDict()  # when a subject's allowance is full again
        self._lock = Lock()

    def wait_s(self, subject: str) -> float:
        """Count one call and return 0 if it is allowed; otherwise the seconds until one is."""
        if not self._interval:
            return 0.0
        with self._lock:
            now = self._clock()
            full_at = min(max(self._full_at.pop(subject, now), now), now + MINUTE_S)
            wait = full_at + self._interval - now - MINUTE_S
            self._full_at[subject] = full_at if wait > 1e-6 else full_at + self._interval
            if len(self._full_at) > self._subjects:
                self._full_at.popitem(last=False)
            return wait if wait > 1e-6 else 0.0


def network_of(address: str) -> str:
    """A name for the address that does not show it; all addresses of an IPv6 network of 64 bits, which one customer of
    a provider has, share it."""
    try:
        parsed = ip_address(address)
    except ValueError:
        return ""
    if isinstance(parsed, IPv6Address):
        parsed = parsed.ipv4_mapped or ip_network((int(parsed), 64), strict=False).network_address
    return sha256(parsed.packed).hexdigest()[:16]

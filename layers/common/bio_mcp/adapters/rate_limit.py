"""Rate limiting of requests to NCBI."""

import threading
import time
from collections import deque
from collections.abc import Callable
from hashlib import sha256

from bio_mcp.deadline import Clock, Deadline
from bio_mcp.errors import DeadlineExceeded, NcbiRateLimited

PER_SECOND, PER_SECOND_WITH_KEY = 3, 10  # requests that NCBI allows an address, and a key

# Clients with gaps of exactly 1/3 s and 1/10 s still met the limit, so the gaps are a little wider.
GAP_S = 0.35
GAP_WITH_KEY_S = 0.12
SHARE = 0.9  # of what NCBI allows, where processes share it: each has LATE_S to start after its turn
LATE_S = 0.1


def gap_s(keyed: bool, delay_ms: int | None = None) -> float:
    """Seconds between two starts in one process; `delay_ms` can lengthen NCBI's minimum, never shorten it."""
    allowed = GAP_WITH_KEY_S if keyed else GAP_S
    return max(allowed, (delay_ms or 0) / 1000)


def fleet_gap_s(keyed: bool, delay_ms: int | None = None) -> float:
    """Seconds between two starts of processes that share a budget; `delay_ms` can lengthen it, never shorten it."""
    return max(1 / (SHARE * (PER_SECOND_WITH_KEY if keyed else PER_SECOND)), (delay_ms or 0) / 1000)


def budget_of(api_key: str | None) -> str:
    """The name of the budget that an API key draws on; a hash, so that it does not reveal the key."""
    return sha256(api_key.encode()).hexdigest()[:32] if api_key else "keyless"


def too_late(wait_s: float, cooling: bool) -> DeadlineExceeded | NcbiRateLimited:
    """The failure for a request whose turn, `wait_s` seconds from now, comes after its deadline."""
    wait_s = round(wait_s, 3)
    if cooling:
        return NcbiRateLimited(
            "NCBI asked us to slow down, and the pause outlasts the time of this call; try again later",
            retry_after_s=wait_s,
        )
    return DeadlineExceeded(
        "too many requests to NCBI are waiting for their turn; ask for less or try again", retry_after_s=wait_s
    )


class LocalRateLimiter:
    """The rate limiter of one process: shares take turns, each first come, first served, at least `gap` seconds apart.

    A late start (a slow wake-up) delays the following ones, so no time window exceeds its share.
    """

    def __init__(self, gap: float, clock: Clock = time.monotonic, sleep: Callable[[float], None] = time.sleep) -> None:
        self._gap = gap
        self._clock = clock
        self._sleep = sleep
        self._lock = threading.Lock()
        self._queues: dict[str, deque[object]] = {}  # by share; the first has the next turn
        self._free_at = float("-inf")
        self._cool_until = float("-inf")

    @property
    def waiting(self) -> int:
        """The number of requests waiting for their turn."""
        return sum(map(len, self._queues.values()))

    def wait(self, deadline: Deadline, share: str = "") -> None:
        ticket = object()
        with self._lock:
            self._queues.setdefault(share, deque()).append(ticket)
        try:
            while (seconds := self._until_turn(ticket, deadline, share)) > 0:
                self._sleep(seconds)
        finally:
            with self._lock:
                if ticket in (queue := self._queues.get(share, deque())):
                    queue.remove(ticket)
                    if not queue:
                        del self._queues[share]

    def cool_down(self, seconds: float) -> None:
        with self._lock:
            self._cool_until = max(self._cool_until, self._clock() + seconds)
            self._free_at = max(self._free_at, self._cool_until)

    def _until_turn(self, ticket: object, deadline: Deadline, share: str) -> float:
        """Seconds until this ticket's turn; 0 takes the turn."""
        with self._lock:
            now = self._clock()
            seconds = max(now, self._free_at) + self._place(ticket, share) * self._gap - now
            if seconds >= deadline.remaining:
                raise too_late(seconds, cooling=now < self._cool_until)
            if seconds <= 0:
                queue = self._queues.pop(share)
                queue.popleft()
                if queue:
                    self._queues[share] = queue
                self._free_at = now + self._gap
            return seconds

    def _place(self, ticket: object, share: str) -> int:
        """How many turns come before the ticket's: in each round every share that still waits has one."""
        rounds = self._queues[share].index(ticket)
        shares = list(self._queues)
        here = shares.index(share)
        ahead = (min(len(self._queues[each]), rounds + (at < here)) for at, each in enumerate(shares) if at != here)
        return rounds + sum(ahead)

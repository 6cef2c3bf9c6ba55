"""The rate limiter of every process that uses an API key: one DynamoDB item hands out the turns.

This is the generic cell rate algorithm (GCRA). The item has the time of the next free turn (`tat`), and one conditional
update both takes it and moves it on by the gap. It also notes the turn under the share that took it, which takes no
other before that one has come: so shares take turns, and nobody's queue is longer than one. Shares are told apart by a
hash of few values, which keeps the item small: two that have the same one count as one share. There is no lock to lose;
a process that dies wastes one turn. `pushed` is the sum of the time by which cool-downs moved pending turns; `cool` is
when the last cool-down ends. Times are microseconds since 1970, by clocks that agree to within a few hundredths of a
second, as Lambda's do.

Turns are 1/0.9 of NCBI's minimum apart, and a process that wakes up more than `LATE` after its turn takes another one.
So no second has more than 10 (or 3) starts: those of a window of 1 s have their turns in it or in the 0.1 s before it,
which are at most ceil(1.1 * 9) = 10 turns (ceil(1.1 * 2.7) = 3).
"""

import threading
import time
from collections.abc import Callable
from dataclasses import replace
from hashlib import sha256
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

from bio_mcp.adapters.aws.clients import BUSY, Contended
from bio_mcp.adapters.aws.table import Item, Table
from bio_mcp.adapters.rate_limit import LATE_S, too_late
from bio_mcp.adapters.retry import Backoff, retry
from bio_mcp.deadline import Clock, Deadline

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.client import DynamoDBClient

LATE = int(LATE_S * 1_000_000)  # microseconds
LONGEST_TRIP = 500_000
NEVER = 10**18
BACKOFF = Backoff(tries=20, first_s=0.05, cap_s=0.1, jitter=0.5)  # of a cool-down that others' turns overtake
MICRO = 1_000_000
FREE = "(attribute_not_exists(#{own}) OR #{own} <= :soonest)"
NEW: dict[str, int] = {"tat": 0, "pushed": 0, "cool": 0}  # an item that was never written
SHARES = 64  # values of the hash that tells shares apart: the item stays below 1 kB, for which DynamoDB charges once


class DynamoRateLimiter:
    """The port `RateLimiter` over one item of a table (key: budget).

    A process has at most one turn of a share reserved, however many threads ask. `clock` returns seconds since 1970.
    """

    def __init__(
        self,
        client: "DynamoDBClient",
        table: str,
        budget: str,
        gap: float,
        clock: Clock = time.time,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._table, self._key = Table(client, table, "turns at NCBI"), {"budget": budget}
        self._gap = int(gap * MICRO)
        self._clock, self._sleep, self._backoff = clock, sleep, replace(BACKOFF, sleep=sleep)
        self._share_locks: WeakValueDictionary[str, threading.Lock] = WeakValueDictionary()
        self._count_lock = threading.Lock()
        self._waiting = 0
        self._trip = 0  # the table's last response time, in microseconds

    def wait(self, deadline: Deadline, share: str = "") -> None:
        with self._count_lock:
            self._waiting += 1
        try:
            first = self._queue_up(share, deadline)
            try:
                while not self._sleep_until(*self._reserve(share, deadline), deadline):
                    continue
            finally:
                first.release()
        finally:
            with self._count_lock:
                self._waiting -= 1

    def cool_down(self, seconds: float) -> None:
        """Let no process start for `seconds` from now; all pending turns move by as much."""

        def extend() -> None:
            now = self._now()
            until = now + int(seconds * MICRO)
            seen = self._read()
            by, pushed = until - max(now, seen["cool"]), seen["pushed"]
            if by <= 0:
                return
            values = {"cool": until, "pushed": pushed + by, "tat": max(seen["tat"] + by, until)}
            only, before = ("tat = :seen", {"seen": seen["tat"]}) if seen["tat"] else ("attribute_not_exists(tat)", {})
            changes = "SET cool = :cool, pushed = :pushed, tat = :tat"
            if not self._update(changes, only, values | before)[0]:  # a turn was taken since
                raise Contended(BUSY.format(what=self._table.what))

        retry(extend, worth=Contended, backoff=self._backoff)

    def _queue_up(self, share: str, deadline: Deadline) -> threading.Lock:
        """Wait until no other thread of this process has a turn of the share reserved; returns the lock for it."""
        remaining = deadline.remaining
        hopeless = (self._waiting - 1) * self._gap / MICRO >= remaining
        first = self._share_locks.setdefault(share, threading.Lock())
        if hopeless or not first.acquire(timeout=min(remaining, threading.TIMEOUT_MAX)):
            raise too_late(self._waiting * self._gap / MICRO, cooling=False)
        return first

    def _reserve(self, share: str, deadline: Deadline) -> tuple[int, int]:
        """Reserve the next turn, after the share's pending one. Returns its time and the value of `pushed`."""
        own = f"s{int.from_bytes(sha256(share.encode()).digest()[:4]) % SHARES}" if share else ""
        while True:
            now = self._now()
            latest = NEVER if deadline.remaining == float("inf") else now + int(deadline.remaining * MICRO)
            soonest = now + self._trip  # a turn that passes before the answer arrives would be wasted
            taken, item = self._take("tat", "tat >= :soonest AND tat < :latest", own, soonest, latest=latest)
            if taken:
                return item["tat"] - self._gap, item["pushed"]
            if max(item["tat"], soonest) >= latest:
                raise too_late(max(0, item["tat"] - now) / MICRO, cooling=now < item["cool"])
            if (pending := item.get(own, 0)) > soonest:
                self._sleep_micros(pending - soonest)
                continue
            taken, item = self._take(":soonest", "attribute_not_exists(tat) OR tat < :soonest", own, soonest)
            if taken:
                return soonest, item["pushed"]

    def _take(self, turn: str, condition: str, own: str, soonest: int, **values: int) -> tuple[bool, Item]:
        """Take `turn` if the condition holds and no turn of the share is pending, of which the attribute `own` has the
        last; the installation's own share, "", may have several."""
        changes = f"SET tat = {turn} + :gap"
        if own:
            changes, condition = f"{changes}, #{own} = {turn}", f"({condition}) AND {FREE.format(own=own)}"
        return self._update(changes, condition, values | {"gap": self._gap, "soonest": soonest})

    def _sleep_until(self, turn: int, pushed: int, deadline: Deadline) -> bool:
        """Sleep until the turn, following it through cool-downs; returns whether the wake-up was in time."""
        while (left := turn - self._now()) > 0:
            self._sleep_micros(left - self._trip)
            item = self._read()
            if item["pushed"] == pushed:
                self._sleep_micros(turn - self._now())
                break
            turn, pushed = turn + item["pushed"] - pushed, item["pushed"]
            if (now := self._now()) + deadline.remaining * MICRO <= turn:
                raise too_late(max(0, item["tat"] - now) / MICRO, cooling=now < item["cool"])
        return self._now() - turn <= LATE

    def _sleep_micros(self, micros: int) -> None:
        if micros > 0:
            self._sleep(micros / MICRO)

    def _update(self, change: str, condition: str, values: dict[str, int]) -> tuple[bool, Item]:
        """Whether the condition held and the change was made, and the item as it is now."""
        began = self._now()
        changed, there = self._table.update_item(self._key, change, condition, returns=True, **values)
        self._trip = min(LONGEST_TRIP, max(0, self._now() - began))
        return changed, NEW | dict(there)

    def _read(self) -> Item:
        began = self._now()
        there = self._table.get_item(self._key) or {}
        self._trip = min(LONGEST_TRIP, max(0, self._now() - began))
        return NEW | dict(there)

    def _now(self) -> int:
        return int(self._clock() * MICRO)

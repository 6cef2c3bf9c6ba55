"""One NCBI budget for every process that uses a key: turns are handed out by a DynamoDB item.

The generic cell rate algorithm: the item holds the time of the next free turn (`tat`), and one conditional update both
takes it and moves it on by the gap. There is no lock to lose; a process that dies wastes a turn. `pushed` sums up by
how much cool-downs moved all turns that had not come; `cool` is when the last one ends. Times are microseconds since
1970, by clocks that agree to within a few hundredths of a second, as Lambda's do.

Between two turns lie 1/0.9 of what NCBI demands, and a process that wakes up more than `LATE` after its turn takes
another one. So no second holds more than 10 (or 3) starts: those of a window of 1 s have their turns in it or in the
0.1 s before it, which are at most ceil(1.1 * 9) = 10 turns (ceil(1.1 * 2.7) = 3).
"""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from bio_mcp.adapters.aws.dynamodb import Item
from bio_mcp.adapters.aws.failures import BUSY, Contended, reaching
from bio_mcp.adapters.rate_limit import LATE_S, too_late
from bio_mcp.adapters.retry import Backoff, retry
from bio_mcp.deadline import Clock, Deadline

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.client import DynamoDBClient

WHAT = "turns at NCBI"
LATE = int(LATE_S * 1_000_000)  # microseconds
LONGEST_TRIP = 500_000
NEVER = 10**18
BACKOFF = Backoff(tries=20, first_s=0.05, cap_s=0.1, jitter=0.5)  # of a cool-down that others' turns overtake
MICRO = 1_000_000


@dataclass(frozen=True, slots=True)
class _Item:
    """Microseconds since 1970; `pushed` is a sum of them."""

    tat: int = 0
    pushed: int = 0
    cool: int = 0


class DynamoRateLimiter:
    """`bio_mcp.adapters.rate_limit.Pacer` over one item of a table (key: budget).

    A process holds one turn at most, whatever its threads ask for, so that a sync never stands before a live call
    more than once. `clock` gives seconds since 1970.
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
        self._client = client
        self._table = table
        self._budget = budget
        self._gap = int(gap * MICRO)
        self._clock = clock
        self._sleep = sleep
        self._backoff = replace(BACKOFF, sleep=sleep)
        self._turn = threading.Lock()
        self._counting = threading.Lock()
        self._asking = 0
        self._trip = 0  # microseconds that the table took to answer last time

    def wait(self, deadline: Deadline) -> None:
        with self._counting:
            self._asking += 1
        try:
            self._queue_up(deadline)
            try:
                while not self._came_in_time(*self._reserve(deadline), deadline):
                    continue
            finally:
                self._turn.release()
        finally:
            with self._counting:
                self._asking -= 1

    def cool_down(self, seconds: float) -> None:
        """Let no process start for `seconds` from now; the turns of those who wait are all moved by as much."""
        retry(lambda: self._extend(seconds), worth=Contended, backoff=self._backoff)

    def _extend(self, seconds: float) -> None:
        now = self._now()
        until = now + int(seconds * MICRO)
        seen = self._read()
        by = until - max(now, seen.cool)
        if by > 0 and not self._push(seen, by, until):
            raise Contended(BUSY.format(what=WHAT))

    def _queue_up(self, deadline: Deadline) -> None:
        """Wait until no other thread of this process has a turn."""
        remaining = deadline.remaining
        hopeless = (self._asking - 1) * self._gap / MICRO >= remaining
        if hopeless or not self._turn.acquire(timeout=min(remaining, threading.TIMEOUT_MAX)):
            raise too_late(self._asking * self._gap / MICRO, cooling=False)

    def _reserve(self, deadline: Deadline) -> tuple[int, int]:
        """Take the next turn: when it comes, and what `pushed` was then."""
        while True:
            now = self._now()
            latest = NEVER if deadline.remaining == float("inf") else now + int(deadline.remaining * MICRO)
            soonest = now + self._trip  # a turn that has passed before the answer is here would be wasted
            taken, item = self._update(
                "SET tat = tat + :gap",
                "tat >= :soonest AND tat < :latest",
                gap=self._gap,
                soonest=soonest,
                latest=latest,
            )
            if taken:
                return item.tat - self._gap, item.pushed
            if max(item.tat, soonest) >= latest:
                raise too_late(_until(item, now), cooling=now < item.cool)
            taken, item = self._update(
                "SET tat = :free",
                "attribute_not_exists(tat) OR tat < :soonest",
                free=soonest + self._gap,
                soonest=soonest,
            )
            if taken:
                return soonest, item.pushed

    def _came_in_time(self, turn: int, pushed: int, deadline: Deadline) -> bool:
        """Sleep until the turn, wherever cool-downs move it; says whether it was met."""
        while (left := turn - self._now()) > 0:
            self._rest(left - self._trip)
            item = self._read()
            if item.pushed == pushed:
                self._rest(turn - self._now())
                break
            turn, pushed = turn + item.pushed - pushed, item.pushed
            if (now := self._now()) + deadline.remaining * MICRO <= turn:
                raise too_late(_until(item, now), cooling=now < item.cool)
        return self._now() - turn <= LATE

    def _rest(self, micros: int) -> None:
        if micros > 0:
            self._sleep(micros / MICRO)

    def _push(self, seen: _Item, by: int, until: int) -> bool:
        """Move all turns that have not come by `by`, unless some turn was taken since; says whether it was done."""
        condition = "tat = :seen" if seen.tat else "attribute_not_exists(tat)"
        values = {"cool": until, "pushed": seen.pushed + by, "tat": max(seen.tat + by, until)}
        changes = "SET cool = :cool, pushed = :pushed, tat = :tat"
        return self._update(changes, condition, **values, **({"seen": seen.tat} if seen.tat else {}))[0]

    def _update(self, change: str, condition: str, **values: int) -> tuple[bool, _Item]:
        """Whether the condition held and the change was made; and the item as it stands now."""
        began = self._now()
        with reaching(WHAT):
            try:
                found: Item = self._client.update_item(
                    TableName=self._table,
                    Key={"budget": {"S": self._budget}},
                    UpdateExpression=change,
                    ConditionExpression=condition,
                    ExpressionAttributeValues={f":{name}": {"N": str(value)} for name, value in values.items()},
                    ReturnValues="ALL_NEW",
                    ReturnValuesOnConditionCheckFailure="ALL_OLD",
                )["Attributes"]
                made = True
            except self._client.exceptions.ConditionalCheckFailedException as error:
                reply: Any = error.response
                found, made = reply.get("Item", {}), False
        self._trip = min(LONGEST_TRIP, max(0, self._now() - began))
        return made, _item(found)

    def _read(self) -> _Item:
        began = self._now()
        with reaching(WHAT):
            answer = self._client.get_item(
                TableName=self._table, Key={"budget": {"S": self._budget}}, ConsistentRead=True
            )
        self._trip = min(LONGEST_TRIP, max(0, self._now() - began))
        return _item(answer.get("Item", {}))

    def _now(self) -> int:
        return int(self._clock() * MICRO)


def _item(attributes: Item) -> _Item:
    return _Item(**{name: int(attributes[name]["N"]) for name in ("tat", "pushed", "cool") if name in attributes})


def _until(item: _Item, now: int) -> float:
    """Seconds from `now` to the next free turn."""
    return max(0, item.tat - now) / MICRO

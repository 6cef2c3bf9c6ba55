"""The log of calls, in a DynamoDB table whose items expire, and in a folder of the bucket whose files do.

A call is an item, and a day has an item for each of its calls, which names it: so the newest calls are read without a
scan. What a call read is mostly too large to be paid for as an item, and is a file.
"""

import json
import time
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from bio_mcp.adapters.aws.dynamodb import BACKOFF, Item, batch_get, item_key, partition
from bio_mcp.adapters.aws.failures import reaching
from bio_mcp.adapters.aws.large_values import LargeValues
from bio_mcp.adapters.retry import Backoff
from bio_mcp.errors import NotFound
from bio_mcp.literature.clock import sortable
from bio_mcp.ports.calls import CallRecord
from bio_mcp.ports.stores import Blobs

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.client import DynamoDBClient

WHAT = "the log of calls"
FOLDER = "calls"
INLINE = 8 * 1024  # bytes that cost less in an item than in a file
CALL = "call"
NAMES = tuple(each.name for each in fields(CallRecord) if each.name != "read")


class DynamoCalls:
    """The port `Calls` over one table (key: name, item) and a bucket, for `days`. `clock` returns seconds since 1970.

    An expired call counts as gone even before DynamoDB removes it. Files of the folder must last a day longer.
    """

    def __init__(
        self,
        client: "DynamoDBClient",
        table: str,
        blobs: Callable[[], Blobs],
        days: int,
        clock: Callable[[], float] = time.time,
        backoff: Backoff = BACKOFF,
    ) -> None:
        self._client = client
        self._table = table
        self._calls, self._read = LargeValues(blobs, FOLDER), LargeValues(blobs, FOLDER, "read", INLINE)
        self._days = days
        self._clock = clock
        self._backoff = backoff

    def record(self, call: CallRecord) -> None:
        """Store the call, then name it in its day; after a crash in between, `get` finds it and `latest` does not."""
        at = sortable(call.at)
        contents = self._calls.attributes(_packed(call, at)) | self._read.attributes(call.read)
        with reaching(WHAT):
            try:
                self._client.put_item(
                    TableName=self._table,
                    Item={**item_key(_call(call.correlation_id), CALL), **contents, "expires_at": self._expiry()},
                    ConditionExpression="attribute_not_exists(#name)",
                    ExpressionAttributeNames={"#name": "name"},
                )
            except self._client.exceptions.ConditionalCheckFailedException:
                return
            in_day = item_key(_day(at), f"{at} {_call(call.correlation_id)}")
            named = {"correlation_id": {"S": call.correlation_id}, "expires_at": self._expiry()}
            self._client.put_item(TableName=self._table, Item={**in_day, **named})

    def get(self, correlation_id: str) -> CallRecord:
        with reaching(WHAT):
            found = self._stored([correlation_id], with_read=True)
        if correlation_id not in found:
            raise NotFound(f"There is no call {correlation_id!r} in the log, which has the calls of {self._days} days")
        return found[correlation_id]

    def latest(self, limit: int) -> list[CallRecord]:
        named: list[str] = []
        with reaching(WHAT):
            for day in self._days_back():
                if len(named) >= limit:
                    break
                named += self._of_day(day, limit - len(named))
            found = self._stored(named)
        return [found[each] for each in named if each in found]

    def _days_back(self) -> Iterator[str]:
        """Today and the days before, for which calls may be stored."""
        today = datetime.fromtimestamp(self._clock(), UTC)
        for back in range(self._days + 1):
            yield _day(sortable(today - timedelta(days=back)))

    def _of_day(self, day: str, most: int) -> list[str]:
        """The correlation ids of the newest calls of a day, the newest first."""
        items = partition(self._client, self._table, day, newest_first=True, limit=most)
        return [item["correlation_id"]["S"] for item in items]

    def _stored(self, correlation_ids: Sequence[str], *, with_read: bool = False) -> dict[str, CallRecord]:
        keys = [item_key(_call(each), CALL) for each in dict.fromkeys(correlation_ids)]
        attributes = ("expires_at", *self._calls.names, *(self._read.names if with_read else ()))
        found = [
            self._record(item, with_read=with_read)
            for item in batch_get(self._client, self._table, keys, attributes, self._backoff)
            if int(item["expires_at"]["N"]) > self._clock()
        ]
        return {each.correlation_id: each for each in found}

    def _record(self, item: Item, *, with_read: bool) -> CallRecord:
        row: dict[str, Any] = json.loads(zlib.decompress(self._calls.of(item)))
        row["at"] = datetime.fromisoformat(row["at"])
        return CallRecord(**row, read=self._read.of(item) if with_read else b"")

    def _expiry(self) -> dict[str, str]:
        return {"N": str(int(self._clock()) + self._days * 86_400)}


def _packed(call: CallRecord, at: str) -> bytes:
    row = {name: getattr(call, name) for name in NAMES} | {"at": at, "inputs": dict(call.inputs)}
    return zlib.compress(json.dumps(row).encode())


def _call(correlation_id: str) -> str:
    """The partition of a call, whose id may be a client's and longer than a key."""
    return f"{CALL} {sha256(correlation_id.encode()).hexdigest()}"


def _day(at: str) -> str:
    return f"day {at[:10]}"

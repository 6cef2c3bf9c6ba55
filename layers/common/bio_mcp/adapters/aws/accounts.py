"""Authorizations, budgets and calls, in DynamoDB tables."""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from math import ceil
from typing import TYPE_CHECKING, Any

from bio_mcp.adapters.aws.table import DynamoStore, Item, LargeValues, item_key
from bio_mcp.adapters.stored import LONGEST_AUTHORIZATION_S, utc_day
from bio_mcp.errors import NotFound
from bio_mcp.literature.clock import sortable
from bio_mcp.ports.state import Allowance, Authorization, CallRecord, Charge
from bio_mcp.ports.stores import Blobs

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.client import DynamoDBClient

ITEM = "authorization"  # the sort key of an authorization
ATTRIBUTES = ("kind", "key", "owner", "expires", "ends", "content")


class DynamoAuthorizations(DynamoStore):
    """The port `Authorizations` over one table (key: name, item).
    What has expired is ignored even before DynamoDB removes it, which may take days.
    """

    WHAT = "sign-ins and authorizations"

    def get(self, kind: str, key: str) -> Authorization | None:
        return self._valid(self._table.get_item(_key(kind, key)))

    def take(self, kind: str, key: str) -> Authorization | None:
        return self._valid(self._table.take_item(_key(kind, key)))

    def of(self, kind: str, owner: str) -> list[Authorization]:
        items = self._table.partition(_hashed("owner", owner), begins=f"{kind} " if kind else "")
        keys = [item_key(each["item"], ITEM) for each in items]
        valid = [found for item in self._table.batch_get_items(keys, ATTRIBUTES) if (found := self._valid(item))]
        return sorted((each for each in valid if each.owner == owner), key=lambda each: (each.kind, each.key))

    def revoke(self, owner: str) -> int:
        """Those that another owner has by now stay."""
        keys = [_key(each.kind, each.key) for each in self.of("", owner)]
        return sum(self._table.delete_item(key, "#owner = :owner", owner=owner) for key in keys)

    def put(self, authorization: Authorization, *, new: bool = False) -> bool:
        """Write it and what its owner has of it."""
        ends, key = authorization.expires.timestamp(), _key(authorization.kind, authorization.key)
        expires = {"expires_at": ceil(ends)}
        whole = {
            **key,
            "kind": authorization.kind,
            "key": authorization.key,
            "owner": authorization.owner,
            "expires": sortable(authorization.expires),
            "ends": ends,
            "content": json.dumps(authorization.content),
            **expires,
        }
        named = {**item_key(_hashed("owner", authorization.owner), key["name"]), **expires}
        now = self._clock()
        bounds = {"now": float(now), "latest": now + LONGEST_AUTHORIZATION_S} if new else {}
        only = "attribute_not_exists(#ends) OR #ends <= :now OR #ends > :latest" if new else ""
        return not self._table.transact_write_items(
            [self._table.putting(whole, only, **bounds), self._table.putting(named)]
        )

    def _valid(self, item: Item | None) -> Authorization | None:
        """The authorization of an item; None if it has expired, or lasts longer than any does."""
        now = self._clock()
        if item is None or not now < item["ends"] <= now + LONGEST_AUTHORIZATION_S:
            return None
        expires = datetime.fromisoformat(item["expires"]).astimezone(UTC)
        return Authorization(item["kind"], item["key"], item["owner"], expires, json.loads(item["content"]))


def _key(kind: str, key: str) -> dict[str, Any]:
    return item_key(_hashed(kind, key), ITEM)


def _hashed(kind: str, name: str) -> str:
    """The partition of something whose name may be a client's and longer than a key."""
    return f"{kind} {sha256(name.encode()).hexdigest()}"


SWEPT_S = 3_600  # an item is removed this long after its period


class DynamoBudgets(DynamoStore):
    """The port `Budgets` over one table (key: name, item)."""

    WHAT = "budgets"

    def spend(self, charges: Sequence[Charge]) -> list[Allowance]:
        now, spent = self._clock(), list[int]()
        for number, charge in enumerate(charges):
            room = charge.most - charge.amount
            unused = "attribute_not_exists(#used) OR " if room >= 0 else ""
            granted, used = self._add(charge, charge.amount, now, f"{unused}#used <= :room", room=room)
            spent.append(used)
            if not granted:
                back = [self._add(each, -each.amount, now)[1] for each in charges[:number]]
                unasked = [self._table.get_item(_period(each, now)[0]) or {} for each in charges[number + 1 :]]
                spent = [*back, used, *(each.get("used", 0) for each in unasked)]
                break
        else:
            granted = True
        return [
            Allowance(charge, granted, max(0, charge.most - used), _period(charge, now)[1] - now)
            for charge, used in zip(charges, spent, strict=True)
        ]

    def _add(self, charge: Charge, amount: int, now: float, only: str = "", **values: Any) -> tuple[bool, int]:
        """Charge the amount where the condition holds; returns whether it did, and what is used now."""
        key, ends = _period(charge, now)
        values |= {"amount": amount, "expires": ends + SWEPT_S}
        made, item = self._table.update_item(key, "SET #expires_at = :expires ADD #used :amount", only, **values)
        return made, item.get("used", 0)


def _period(charge: Charge, now: float) -> tuple[Item, int]:
    """The key of what an account used in the period of a charge, and when that ends, in seconds since 1970."""
    begins = int(now // charge.seconds) * charge.seconds
    return item_key(charge.account, f"{charge.unit} {charge.seconds} {begins}"), begins + charge.seconds


INLINE = 8 * 1024  # bytes that cost less in an item than in a file
CALL = "call"
SEQUENCE = "sequence"  # counts the calls
NAMED_TOGETHER = 1_000  # calls, in a partition by their numbers
DIGITS = 12  # of a number, so that names are in the order of numbers
NAMES = tuple(each.name for each in fields(CallRecord) if each.name != "read")


class DynamoCalls(DynamoStore):
    """The port `Calls` over one table (key: name, item) and a bucket, for `days`.

    An expired call counts as gone even before DynamoDB removes it. Files of the folder must last a day longer.
    """

    WHAT = "the log of calls"
    FOLDER = "calls"

    def __init__(
        self, client: "DynamoDBClient", table: str, blobs: Callable[[], Blobs], days: int, **options: Any
    ) -> None:
        super().__init__(client, table, blobs, **options)
        self._read, self._days = LargeValues(blobs, self.FOLDER, "read", INLINE), days

    def record(self, call: CallRecord) -> None:
        """Store the call, then number it; after a crash in between, `get` finds it and `latest` does not."""
        at, key = sortable(call.at), _hashed(CALL, call.correlation_id)
        expiry = {"expires_at": int(self._clock()) + self._days * 86_400}
        row = {name: getattr(call, name) for name in NAMES} | {"at": at, "inputs": dict(call.inputs)}
        item = {**item_key(key, CALL), **self._contents.packed(row), **self._read.attributes(call.read), **expiry}
        if self._table.put_item(item, "attribute_not_exists(#name)"):
            number = self._table.next_number(item_key(SEQUENCE, SEQUENCE))
            named = {"correlation_id": call.correlation_id, **expiry}
            self._table.put_item({**item_key(f"calls {number // NAMED_TOGETHER}", f"{number:0{DIGITS}}"), **named})

    def get(self, correlation_id: str) -> CallRecord:
        found = self._stored([correlation_id], with_read=True)
        if correlation_id not in found:
            raise NotFound(f"There is no call {correlation_id!r} in the log, which has the calls of {self._days} days")
        return found[correlation_id]

    def latest(self, limit: int) -> list[CallRecord]:
        named: list[str] = []
        for partition in self._partitions(limit):
            items = self._table.partition(partition, newest_first=True, limit=limit - len(named))
            named += [item["correlation_id"] for item in items]
            if len(named) >= limit:
                break
        found = self._stored(named)
        return [found[each] for each in named if each in found]

    def _partitions(self, limit: int) -> Iterator[str]:
        """The partitions that may name the `limit` newest calls, the newest first: by numbers, then by the days of an
        earlier version."""
        counted = self._table.get_item(item_key(SEQUENCE, SEQUENCE)) or {"number": 0}
        newest = counted["number"] // NAMED_TOGETHER
        oldest = max(0, newest - limit // NAMED_TOGETHER - 1)
        yield from (f"calls {each}" for each in range(newest, oldest - 1, -1))
        today = utc_day(self._clock())
        yield from (f"day {today - timedelta(days=back)}" for back in range(self._days + 1))

    def _stored(self, correlation_ids: Sequence[str], *, with_read: bool = False) -> dict[str, CallRecord]:
        keys = [item_key(_hashed(CALL, each), CALL) for each in dict.fromkeys(correlation_ids)]
        attributes = ("expires_at", *self._contents.names, *(self._read.names if with_read else ()))
        found = {}
        for item in self._table.batch_get_items(keys, attributes):
            if item["expires_at"] > self._clock():
                row: dict[str, Any] = self._contents.row(item)
                row["at"] = datetime.fromisoformat(row["at"])
                found[row["correlation_id"]] = CallRecord(**row, read=self._read.of(item) if with_read else b"")
        return found

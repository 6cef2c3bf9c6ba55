"""Authorizations, budgets and calls, in DynamoDB tables."""

import json
from collections.abc import Callable, Sequence
from dataclasses import fields
from datetime import UTC, datetime, timedelta
from functools import partial
from hashlib import sha256
from math import ceil
from typing import TYPE_CHECKING, Any

from bio_mcp.adapters.aws.clients import Contended
from bio_mcp.adapters.aws.table import BACKOFF, DynamoStore, Item, LargeValues, item_key
from bio_mcp.adapters.retry import retry
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

    def add(self, authorization: Authorization) -> bool:
        now = float(self._clock())
        return self._written(authorization, "attribute_not_exists(#ends) OR #ends <= :now", now=now)

    def put(self, authorization: Authorization) -> None:
        self._written(authorization)

    def get(self, kind: str, key: str) -> Authorization | None:
        return self._valid(self._table.get_item(_key(kind, key)))

    def take(self, kind: str, key: str) -> Authorization | None:
        delete = partial(self._table.delete_item, _key(kind, key))
        return self._valid(retry(delete, worth=Contended, backoff=BACKOFF))

    def of(self, kind: str, owner: str) -> list[Authorization]:
        return self._owned(owner, kind)

    def revoke(self, owner: str) -> int:
        return sum(self._ended(each) for each in self._owned(owner))

    def _written(self, authorization: Authorization, only: str = "", **values: float) -> bool:
        """Write it and what its owner has of it, where a condition holds; returns whether it did."""
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
        named = {**item_key(_owner(authorization.owner), key["name"]), **expires}
        puts = [self._table.putting(whole, only, **values), self._table.putting(named)]
        return not self._table.transact_write_items(puts)

    def _owned(self, owner: str, kind: str = "") -> list[Authorization]:
        """The owner's, by kind and key."""
        items = self._table.partition(_owner(owner), begins=f"{kind} " if kind else "")
        keys = [item_key(each["item"], ITEM) for each in items]
        valid = [found for item in self._table.batch_get_items(keys, ATTRIBUTES) if (found := self._valid(item))]
        return sorted((each for each in valid if each.owner == owner), key=lambda each: (each.kind, each.key))

    def _ended(self, authorization: Authorization) -> bool:
        """Delete it unless another owner has it by now; returns whether it was deleted."""
        key, owner = _key(authorization.kind, authorization.key), authorization.owner
        delete = partial(self._table.delete_item, key, "#owner = :owner", owner=owner)
        return retry(delete, worth=Contended, backoff=BACKOFF) is not None

    def _valid(self, item: Item | None) -> Authorization | None:
        """The authorization of an item; None if it has expired."""
        if item is None or item["ends"] <= self._clock():
            return None
        expires = datetime.fromisoformat(item["expires"]).astimezone(UTC)
        return Authorization(item["kind"], item["key"], item["owner"], expires, json.loads(item["content"]))


def _key(kind: str, key: str) -> dict[str, Any]:
    return item_key(f"{kind} {sha256(key.encode()).hexdigest()}", ITEM)


def _owner(owner: str) -> str:
    return f"owner {sha256(owner.encode()).hexdigest()}"


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
                rest = [_used(self._table.get_item(_period(each, now)) or {}) for each in charges[number + 1 :]]
                spent = [*back, used, *rest]
                break
        else:
            granted = True
        return [
            Allowance(charge, granted, max(0, charge.most - used), _starts(charge, now) + charge.seconds - now)
            for charge, used in zip(charges, spent, strict=True)
        ]

    def _add(self, charge: Charge, amount: int, now: float, only: str = "", **values: Any) -> tuple[bool, int]:
        """Charge the amount where the condition holds; returns whether it did, and what is used now."""
        values |= {"amount": amount, "expires": _starts(charge, now) + charge.seconds + SWEPT_S}
        changes = "SET #expires_at = :expires ADD #used :amount"
        update = partial(self._table.update_item, _period(charge, now), changes, only, **values)
        made, item = retry(update, worth=Contended, backoff=BACKOFF)
        return made, _used(item)


def _starts(charge: Charge, now: float) -> int:
    """When the period of a charge began, in seconds since 1970."""
    return int(now // charge.seconds) * charge.seconds


def _period(charge: Charge, now: float) -> Item:
    """The key of what an account used in a period."""
    return item_key(charge.account, f"{charge.unit} {charge.seconds} {_starts(charge, now)}")


def _used(item: Item) -> int:
    used: int = item.get("used", 0)
    return used


INLINE = 8 * 1024  # bytes that cost less in an item than in a file
CALL = "call"
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
        """Store the call, then name it in its day; after a crash in between, `get` finds it and `latest` does not."""
        at, key = sortable(call.at), _call(call.correlation_id)
        expiry = {"expires_at": int(self._clock()) + self._days * 86_400}
        row = {name: getattr(call, name) for name in NAMES} | {"at": at, "inputs": dict(call.inputs)}
        item = {**item_key(key, CALL), **self._contents.packed(row), **self._read.attributes(call.read), **expiry}
        if self._table.put_item(item, "attribute_not_exists(#name)"):
            named = {"correlation_id": call.correlation_id, **expiry}
            self._table.put_item({**item_key(_day(at), f"{at} {key}"), **named})

    def get(self, correlation_id: str) -> CallRecord:
        found = self._stored([correlation_id], with_read=True)
        if correlation_id not in found:
            raise NotFound(f"There is no call {correlation_id!r} in the log, which has the calls of {self._days} days")
        return found[correlation_id]

    def latest(self, limit: int) -> list[CallRecord]:
        named: list[str] = []
        today = datetime.fromtimestamp(self._clock(), UTC)
        for back in range(self._days + 1):
            if len(named) >= limit:
                break
            day = _day(sortable(today - timedelta(days=back)))
            items = self._table.partition(day, newest_first=True, limit=limit - len(named))
            named += [item["correlation_id"] for item in items]
        found = self._stored(named)
        return [found[each] for each in named if each in found]

    def _stored(self, correlation_ids: Sequence[str], *, with_read: bool = False) -> dict[str, CallRecord]:
        keys = [item_key(_call(each), CALL) for each in dict.fromkeys(correlation_ids)]
        attributes = ("expires_at", *self._contents.names, *(self._read.names if with_read else ()))
        found = [
            self._record(item, with_read=with_read)
            for item in self._table.batch_get_items(keys, attributes)
            if item["expires_at"] > self._clock()
        ]
        return {each.correlation_id: each for each in found}

    def _record(self, item: Item, *, with_read: bool) -> CallRecord:
        row: dict[str, Any] = self._contents.row(item)
        row["at"] = datetime.fromisoformat(row["at"])
        return CallRecord(**row, read=self._read.of(item) if with_read else b"")


def _call(correlation_id: str) -> str:
    """The partition of a call, whose id may be a client's and longer than a key."""
    return f"{CALL} {sha256(correlation_id.encode()).hexdigest()}"


def _day(at: str) -> str:
    return f"day {at[:10]}"

"""What an authorization server remembers, in a DynamoDB table.

An authorization is an item of its own, and its owner has an item that names it. Both are written in one transaction,
and what an owner's item names is read before it counts: one that outlived its authorization is ignored. Keys and owners
are stored under their hashes, so that no length and no character of theirs matters.
"""

import json
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import partial
from hashlib import sha256
from math import ceil
from typing import TYPE_CHECKING, Any

from bio_mcp.adapters.aws.dynamodb import BACKOFF, Item, batch_get, item_key, number, partition
from bio_mcp.adapters.aws.failures import Contended, reaching
from bio_mcp.adapters.aws.transactions import transact
from bio_mcp.adapters.retry import retry
from bio_mcp.literature.clock import sortable
from bio_mcp.ports.authorizations import Authorization

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.client import DynamoDBClient

WHAT = "sign-ins and authorizations"
ITEM = "authorization"  # the sort key of an authorization
ATTRIBUTES = ("kind", "key", "owner", "expires", "ends", "content")


class DynamoAuthorizations:
    """The port `Authorizations` over one table (key: name, item). `clock` returns seconds since 1970 and must agree
    everywhere.

    What has expired is ignored even before DynamoDB removes it, which may take days.
    """

    def __init__(self, client: "DynamoDBClient", table: str, clock: Callable[[], float] = time.time) -> None:
        self._client = client
        self._table = table
        self._clock = clock

    def add(self, authorization: Authorization) -> bool:
        unless = {
            "ConditionExpression": "attribute_not_exists(#ends) OR #ends <= :now",
            "ExpressionAttributeNames": {"#ends": "ends"},
            "ExpressionAttributeValues": {":now": {"N": number(self._clock())}},
        }
        return self._written(authorization, unless)

    def put(self, authorization: Authorization) -> None:
        self._written(authorization, {})

    def get(self, kind: str, key: str) -> Authorization | None:
        with reaching(WHAT):
            item = self._client.get_item(TableName=self._table, Key=_key(kind, key), ConsistentRead=True).get("Item")
        return self._valid(item) if item else None

    def take(self, kind: str, key: str) -> Authorization | None:
        return retry(partial(self._taken, kind, key), worth=Contended, backoff=BACKOFF)

    def of(self, kind: str, owner: str) -> list[Authorization]:
        return self._owned(owner, kind)

    def revoke(self, owner: str) -> int:
        return sum(self._ended(each) for each in self._owned(owner))

    def _written(self, authorization: Authorization, unless: dict[str, Any]) -> bool:
        """Write it and what its owner has of it, unless a condition does not hold; returns whether it did."""
        ends = authorization.expires.timestamp()
        expires = {"expires_at": {"N": str(ceil(ends))}}
        whole = {
            **_key(authorization.kind, authorization.key),
            "kind": {"S": authorization.kind},
            "key": {"S": authorization.key},
            "owner": {"S": authorization.owner},
            "expires": {"S": sortable(authorization.expires)},
            "ends": {"N": number(ends)},
            "content": {"S": json.dumps(authorization.content)},
            **expires,
        }
        named = {**item_key(_owner(authorization.owner), _name(authorization.kind, authorization.key)), **expires}
        puts = [{"TableName": self._table, "Item": whole, **unless}, {"TableName": self._table, "Item": named}]
        with reaching(WHAT):
            return not transact(self._client, [{"Put": each} for each in puts], WHAT, BACKOFF)

    def _taken(self, kind: str, key: str) -> Authorization | None:
        with reaching(WHAT):
            deleted = self._client.delete_item(TableName=self._table, Key=_key(kind, key), ReturnValues="ALL_OLD")
        item = deleted.get("Attributes")
        return self._valid(item) if item else None

    def _owned(self, owner: str, kind: str = "") -> list[Authorization]:
        """The owner's, by kind and key."""
        with reaching(WHAT):
            items = partition(self._client, self._table, _owner(owner), begins=f"{kind} " if kind else "")
            keys = [item_key(each["item"]["S"], ITEM) for each in items]
            valid = self._all_valid(list(batch_get(self._client, self._table, keys, ATTRIBUTES, BACKOFF)))
        return sorted((each for each in valid if each.owner == owner), key=lambda each: (each.kind, each.key))

    def _all_valid(self, items: Sequence[Item]) -> list[Authorization]:
        return [found for item in items if (found := self._valid(item))]

    def _ended(self, authorization: Authorization) -> bool:
        """Delete it unless another owner has it by now; returns whether it was deleted."""
        return retry(partial(self._deleted, authorization), worth=Contended, backoff=BACKOFF)

    def _deleted(self, authorization: Authorization) -> bool:
        with reaching(WHAT):
            try:
                self._client.delete_item(
                    TableName=self._table,
                    Key=_key(authorization.kind, authorization.key),
                    ConditionExpression="#owner = :owner",
                    ExpressionAttributeNames={"#owner": "owner"},
                    ExpressionAttributeValues={":owner": {"S": authorization.owner}},
                )
            except self._client.exceptions.ConditionalCheckFailedException:
                return False
        return True

    def _valid(self, item: Item) -> Authorization | None:
        """The authorization of an item; None if it has expired."""
        if float(item["ends"]["N"]) <= self._clock():
            return None
        return Authorization(
            item["kind"]["S"],
            item["key"]["S"],
            item["owner"]["S"],
            datetime.fromisoformat(item["expires"]["S"]).astimezone(UTC),
            json.loads(item["content"]["S"]),
        )


def _key(kind: str, key: str) -> dict[str, Any]:
    return item_key(_name(kind, key), ITEM)


def _name(kind: str, key: str) -> str:
    return f"{kind} {sha256(key.encode()).hexdigest()}"


def _owner(owner: str) -> str:
    return f"owner {sha256(owner.encode()).hexdigest()}"

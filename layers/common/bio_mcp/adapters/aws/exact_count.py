"""Adds and removes items so that their exact number is known without reading them.

DescribeTable updates its count every six hours, and a Scan reads everything. Here each transaction that adds or removes
items also changes one of a few counters, chosen at random so that writers rarely contend. The items' conditions protect
the counter: a transaction that is repeated after its answer was lost finds its items present (or gone) and is
cancelled.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from random import randrange
from typing import TYPE_CHECKING, Any

from bio_mcp.adapters.aws.dynamodb import BACKOFF, Item, batch_get
from bio_mcp.adapters.aws.transactions import ACTIONS, MAX_BYTES, transact
from bio_mcp.adapters.retry import Backoff

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.client import DynamoDBClient


WHAT = "papers"
SHARDS = 16
AT_ONCE = ACTIONS - 1  # one more updates a counter


class CountedItems:
    """The items of a table (key: `attribute`, a string that never starts with #) and their number."""

    def __init__(self, client: "DynamoDBClient", table: str, attribute: str, backoff: Backoff = BACKOFF) -> None:
        self._client = client
        self._table = table
        self._attribute = attribute
        self._backoff = backoff

    def add(self, items: Mapping[str, Item]) -> list[str]:
        """Store the items that do not exist yet, by key. Returns the keys of existing ones, which are left
        unchanged."""
        existing = self._existing(items)
        for part in _parts({name: item for name, item in items.items() if name not in existing}):
            puts = {name: self._put(items[name]) for name in part}
            existing |= puts.keys() - self._transact(puts, 1)
        return [name for name in items if name in existing]

    def remove(self, names: Sequence[str]) -> int:
        """Delete the items that exist; returns how many."""
        existing = sorted(self._existing(names))
        removed = 0
        for start in range(0, len(existing), AT_ONCE):
            deletes = {name: self._delete(name) for name in existing[start : start + AT_ONCE]}
            removed += len(self._transact(deletes, -1))
        return removed

    def total(self) -> int:
        """The number of items: the sum of the counters, read consistently."""
        keys = [self._key(f"#{shard}") for shard in range(SHARDS)]
        items = batch_get(self._client, self._table, keys, ["items"], self._backoff)
        return sum(int(item["items"]["N"]) for item in items)

    def names(self) -> Iterator[str]:
        """The keys of all items, by scanning the table."""
        pages = self._client.get_paginator("scan").paginate(
            TableName=self._table,
            ConsistentRead=True,
            ProjectionExpression="#key",
            ExpressionAttributeNames={"#key": self._attribute},
        )
        for page in pages:
            for item in page["Items"]:
                name = item[self._attribute]["S"]
                if not name.startswith("#"):
                    yield name

    def _existing(self, names: Collection[str]) -> set[str]:
        keys = [self._key(name) for name in names]
        items = batch_get(self._client, self._table, keys, [self._attribute], self._backoff)
        return {item[self._attribute]["S"] for item in items}

    def _transact(self, actions: dict[str, Any], step: int) -> set[str]:
        """Apply all actions whose condition holds, and count them, in one transaction. Returns the keys applied."""
        left = dict(actions)
        while left and (refused := self._refused(left, step)):
            for name in refused:
                del left[name]
        return set(left)

    def _refused(self, actions: Mapping[str, Any], step: int) -> list[str]:
        """Whose conditions prevented the transaction; none when it was carried out."""
        whole = [*actions.values(), self._count(step * len(actions))]
        names = list(actions)
        return [names[number] for number in transact(self._client, whole, WHAT, self._backoff)]

    def _key(self, name: str) -> dict[str, Any]:
        return {self._attribute: {"S": name}}

    def _put(self, item: Item) -> dict[str, Any]:
        return {
            "Put": {
                "TableName": self._table,
                "Item": item,
                "ConditionExpression": "attribute_not_exists(#key)",
                "ExpressionAttributeNames": {"#key": self._attribute},
            }
        }

    def _delete(self, name: str) -> dict[str, Any]:
        return {
            "Delete": {
                "TableName": self._table,
                "Key": self._key(name),
                "ConditionExpression": "attribute_exists(#key)",
                "ExpressionAttributeNames": {"#key": self._attribute},
            }
        }

    def _count(self, by: int) -> dict[str, Any]:
        return {
            "Update": {
                "TableName": self._table,
                "Key": self._key(f"#{randrange(SHARDS)}"),  # noqa: S311  # spreads load, hides nothing
                "UpdateExpression": "ADD #items :by",
                "ExpressionAttributeNames": {"#items": "items"},
                "ExpressionAttributeValues": {":by": {"N": str(by)}},
            }
        }


def _parts(items: Mapping[str, Item]) -> Iterator[list[str]]:
    """The keys in parts that each fit into a transaction."""
    part: list[str] = []
    room = MAX_BYTES
    for name, item in items.items():
        size = 1_000 + sum(len(value.get("B", b"")) for value in item.values())
        if part and (len(part) == AT_ONCE or size > room):
            yield part
            part, room = [], MAX_BYTES
        part.append(name)
        room -= size
    if part:
        yield part

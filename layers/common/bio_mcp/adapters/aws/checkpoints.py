"""How far each query has been synced, in a DynamoDB table."""

import json
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from bio_mcp.adapters.aws.batches import Item, Sleep, pause
from bio_mcp.adapters.aws.failures import reaching
from bio_mcp.errors import Conflict
from bio_mcp.ports import Checkpoint

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.client import DynamoDBClient


WHAT = "checkpoints"
TRIES = 12


class DynamoCheckpoints:
    """`bio_mcp.ports.Checkpoints` over one table (key: query_key).

    All watermarks of a query are one item, written only over the revision that was read: whatever others write in
    between, no watermark moves that should not, and all of a call move together.
    """

    def __init__(self, client: "DynamoDBClient", table: str, sleep: Sleep = time.sleep) -> None:
        self._client = client
        self._table = table
        self._sleep = sleep

    def get(self, query_key: str) -> Checkpoint:
        return self._read(query_key)[0]

    def advance(self, query_key: str, last_edat: str | None, windows: Mapping[str, str]) -> Checkpoint:
        return self._change(query_key, lambda stood: stood.advanced(last_edat, windows))[1]

    def set(self, query_key: str, last_edat: str, windows: Mapping[str, str]) -> Checkpoint:
        return self._change(query_key, lambda _: Checkpoint(query_key, last_edat, dict(windows)))[0]

    def _change(self, query_key: str, change: Callable[[Checkpoint], Checkpoint]) -> tuple[Checkpoint, Checkpoint]:
        """What stood before and what stands now."""
        for attempt in range(TRIES):
            stood, seen = self._read(query_key)
            stands = change(stood)
            if stands == stood or self._write(stands, seen):
                return stood, stands
            pause(attempt, self._sleep)
        raise Conflict(f"the checkpoint of {query_key!r} is being moved by many at once; try again")

    def _read(self, query_key: str) -> tuple[Checkpoint, str | None]:
        """The checkpoint and its revision; None when there is none."""
        with reaching(WHAT):
            item = self._client.get_item(
                TableName=self._table, Key={"query_key": {"S": query_key}}, ConsistentRead=True
            ).get("Item")
        if item is None:
            return Checkpoint(query_key), None
        checkpoint = Checkpoint(query_key, item["last_edat"].get("S"), json.loads(item["windows"]["S"]))
        return checkpoint, _revision(item)

    def _write(self, checkpoint: Checkpoint, seen: str | None) -> bool:
        """Store the checkpoint unless it is no longer the revision that was seen; says whether it stands."""
        revision = uuid4().hex
        last_edat: Any = {"S": checkpoint.last_edat} if checkpoint.last_edat else {"NULL": True}
        with reaching(WHAT):
            try:
                self._client.put_item(
                    TableName=self._table,
                    Item={
                        "query_key": {"S": checkpoint.query_key},
                        "last_edat": last_edat,
                        "windows": {"S": json.dumps(dict(checkpoint.windows), sort_keys=True)},
                        "revision": {"S": revision},
                    },
                    ReturnValuesOnConditionCheckFailure="ALL_OLD",
                    **_only_over(seen),
                )
            except self._client.exceptions.ConditionalCheckFailedException as error:
                # Sent twice, since its first answer was lost: then what stands there is this very revision.
                reply: Any = error.response
                return _revision(reply.get("Item")) == revision
        return True


def _only_over(seen: str | None) -> dict[str, Any]:
    if seen is None:
        return {
            "ConditionExpression": "attribute_not_exists(#query_key)",
            "ExpressionAttributeNames": {"#query_key": "query_key"},
        }
    return {
        "ConditionExpression": "#revision = :seen",
        "ExpressionAttributeNames": {"#revision": "revision"},
        "ExpressionAttributeValues": {":seen": {"S": seen}},
    }


def _revision(item: Item | None) -> str | None:
    return str(item["revision"]["S"]) if item else None

"""Sync checkpoints, in a DynamoDB table."""

import json
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from bio_mcp.adapters.aws.dynamodb import BACKOFF, Item
from bio_mcp.adapters.aws.failures import reaching
from bio_mcp.adapters.checkpoints import Change, CheckpointsByKey
from bio_mcp.adapters.retry import Backoff, retry
from bio_mcp.errors import Conflict
from bio_mcp.ports.state import Checkpoint, KeyCheckpoints

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.client import DynamoDBClient


WHAT = "checkpoints"


class _Outrun(Conflict):
    """Another writer changed the checkpoint after it was read."""


class DynamoCheckpoints(CheckpointsByKey):
    """The port `Checkpoints` over one table (key: query_key). Listing scans it: its items are few and small.

    All watermarks of a query are one item, written only if it still has the revision that was read: concurrent writers
    cannot move a watermark back, and all watermarks of a call move together. An item of an older version has no `terms`
    and reads as a checkpoint without a term.
    """

    def __init__(self, client: "DynamoDBClient", table: str, backoff: Backoff = BACKOFF) -> None:
        self._client = client
        self._table = table
        self._backoff = backoff

    def all(self, query_key: str | None = None) -> list[Checkpoint]:
        if query_key is not None:
            return list(self._read(query_key).terms)
        with reaching(WHAT):
            pages = self._client.get_paginator("scan").paginate(TableName=self._table, ConsistentRead=True)
            keys = [_checkpoints(item) for page in pages for item in page["Items"]]
        return [checkpoint for key in sorted(keys, key=lambda key: key.query_key) for checkpoint in key.terms]

    def remove(self, query_key: str) -> list[Checkpoint]:
        with reaching(WHAT):
            item = self._client.delete_item(
                TableName=self._table, Key={"query_key": {"S": query_key}}, ReturnValues="ALL_OLD"
            ).get("Attributes")
        return list(_checkpoints(item).terms) if item else []

    def _change(self, query_key: str, change: Change) -> tuple[KeyCheckpoints, KeyCheckpoints]:

        def move() -> tuple[KeyCheckpoints, KeyCheckpoints]:
            before, seen = self._stored(query_key)
            after = change(before)
            if after != before and not self._write(after, seen):
                raise _Outrun(f"the checkpoint of {query_key!r} is being moved by many at once; try again")
            return before, after

        return retry(move, worth=_Outrun, backoff=self._backoff)

    def _read(self, query_key: str) -> KeyCheckpoints:
        return self._stored(query_key)[0]

    def _stored(self, query_key: str) -> tuple[KeyCheckpoints, str | None]:
        """The checkpoints and their revision; None if there are none."""
        with reaching(WHAT):
            item = self._client.get_item(
                TableName=self._table, Key={"query_key": {"S": query_key}}, ConsistentRead=True
            ).get("Item")
        return (_checkpoints(item), _revision(item)) if item else (KeyCheckpoints(query_key), None)

    def _write(self, checkpoints: KeyCheckpoints, seen: str | None) -> bool:
        """Store the checkpoints if the item still has the revision `seen`; returns whether they are stored."""
        revision = uuid4().hex
        with reaching(WHAT):
            try:
                self._client.put_item(
                    TableName=self._table,
                    Item={**_attributes(checkpoints), "revision": {"S": revision}},
                    ReturnValuesOnConditionCheckFailure="ALL_OLD",
                    **_only_over(seen),
                )
            except self._client.exceptions.ConditionalCheckFailedException as error:
                # A repeated request, whose first answer was lost, finds its own revision.
                reply: Any = error.response
                return _revision(reply.get("Item")) == revision
        return True


def _attributes(checkpoints: KeyCheckpoints) -> dict[str, Any]:
    """The item. `last_edat` and `windows` are those of the last term, for versions that know of no terms."""
    last = checkpoints.of(None)
    terms = [[checkpoint.term, checkpoint.last_edat, dict(checkpoint.windows)] for checkpoint in checkpoints.terms]
    return {
        "query_key": {"S": checkpoints.query_key},
        "last_edat": {"S": last.last_edat} if last.last_edat else {"NULL": True},
        "windows": {"S": json.dumps(dict(last.windows), sort_keys=True)},
        "terms": {"S": json.dumps(terms, ensure_ascii=False)},
    }


def _checkpoints(item: Item) -> KeyCheckpoints:
    key = item["query_key"]["S"]
    if "terms" not in item:
        only = Checkpoint(key, item["last_edat"].get("S"), json.loads(item["windows"]["S"]))
        return KeyCheckpoints(key, (only,))
    terms = [Checkpoint(key, edat, windows, term) for term, edat, windows in json.loads(item["terms"]["S"])]
    return KeyCheckpoints(key, tuple(terms))


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

"""The audit log of changes made by hand, in an append-only DynamoDB table."""

import json
from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from bio_mcp.adapters.aws.failures import reaching
from bio_mcp.literature.clock import sortable, utc_now

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.client import DynamoDBClient

WHAT = "the audit log"


class DynamoAudit:
    """The port `Audit` over one table (key: month, at). Writing needs only dynamodb:PutItem."""

    def __init__(self, client: "DynamoDBClient", table: str, now: Callable[[], datetime] = utc_now) -> None:
        self._client = client
        self._table = table
        self._now = now

    def record(self, action: str, subject: str, before: Any, after: Any, caller: str | None = None) -> None:
        at = sortable(self._now())
        attributes = {
            "month": at[:7],
            "at": f"{at} {uuid4().hex}",
            "action": action,
            "subject": subject,
            "before": json.dumps(before),
            "after": json.dumps(after),
            **({} if caller is None else {"caller": caller}),
        }
        with reaching(WHAT):
            try:
                self._client.put_item(
                    TableName=self._table,
                    Item={name: {"S": text} for name, text in attributes.items()},
                    ConditionExpression="attribute_not_exists(#at)",
                    ExpressionAttributeNames={"#at": "at"},
                )
            except self._client.exceptions.ConditionalCheckFailedException:
                return  # a repeated request, whose first answer was lost

    def entries(self) -> list[dict[str, Any]]:
        """List every change, oldest first, with the keys at (ISO 8601), action, subject, before, after and caller.
        Scans the table."""
        with reaching(WHAT):
            pages = self._client.get_paginator("scan").paginate(TableName=self._table, ConsistentRead=True)
            items = [{name: value["S"] for name, value in item.items()} for page in pages for item in page["Items"]]
        return [
            {
                "at": item["at"].partition(" ")[0],
                "action": item["action"],
                "subject": item["subject"],
                "before": json.loads(item["before"]),
                "after": json.loads(item["after"]),
                "caller": item.get("caller"),
            }
            for item in sorted(items, key=lambda item: item["at"])
        ]

"""Leases, in a DynamoDB table."""

import time
from collections.abc import Callable
from math import ceil
from typing import TYPE_CHECKING

from bio_mcp.adapters.aws.dynamodb import number
from bio_mcp.adapters.aws.failures import reaching

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.client import DynamoDBClient

WHAT = "leases"
SWEPT_S = 3_600  # an item is removed this long after the lease has expired


class DynamoLeases:
    """The port `Leases` over one table (key: lease). `clock` returns seconds since 1970 and must agree everywhere.

    The lease of a killed process ends when it expires.
    """

    def __init__(self, client: "DynamoDBClient", table: str, clock: Callable[[], float] = time.time) -> None:
        self._client = client
        self._table = table
        self._clock = clock

    def acquire(self, name: str, holder: str, seconds: float) -> bool:
        now = self._clock()
        with reaching(WHAT):
            try:
                self._client.put_item(
                    TableName=self._table,
                    Item={
                        "lease": {"S": name},
                        "holder": {"S": holder},
                        "ends": {"N": number(now + seconds)},
                        "expires_at": {"N": str(ceil(now + seconds + SWEPT_S))},
                    },
                    ConditionExpression="attribute_not_exists(#lease) OR #holder = :holder OR #ends <= :now",
                    ExpressionAttributeNames={"#lease": "lease", "#holder": "holder", "#ends": "ends"},
                    ExpressionAttributeValues={":holder": {"S": holder}, ":now": {"N": number(now)}},
                )
            except self._client.exceptions.ConditionalCheckFailedException:
                return False
        return True

    def release(self, name: str, holder: str) -> None:
        with reaching(WHAT):
            try:
                self._client.delete_item(
                    TableName=self._table,
                    Key={"lease": {"S": name}},
                    ConditionExpression="#holder = :holder",
                    ExpressionAttributeNames={"#holder": "holder"},
                    ExpressionAttributeValues={":holder": {"S": holder}},
                )
            except self._client.exceptions.ConditionalCheckFailedException:
                return

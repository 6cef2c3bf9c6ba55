"""Writes to DynamoDB in batches, each complete."""

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, Any

from bio_mcp.adapters.aws.dynamodb import BACKOFF, busy
from bio_mcp.adapters.aws.failures import Contended
from bio_mcp.adapters.retry import Backoff, pause, retry

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.client import DynamoDBClient

AT_ONCE = 25  # requests of one BatchWriteItem


def batch_write(
    client: "DynamoDBClient", table: str, requests: Sequence[Mapping[str, Any]], backoff: Backoff = BACKOFF
) -> None:
    """Make the requests, as `{"PutRequest": {"Item": ...}}`, of which no two may name one item.

    Those that DynamoDB leaves unprocessed are made again, after a growing pause. Raises `StoreFailed` rather than omit
    one.
    """
    for start in range(0, len(requests), AT_ONCE):
        left: Sequence[Mapping[str, Any]] = requests[start : start + AT_ONCE]
        for answers in count(1):
            left = retry(partial(_write_some, client, table, left), worth=Contended, backoff=backoff)
            if not left:
                break
            pause(answers, backoff, busy())


def _write_some(
    client: "DynamoDBClient", table: str, requests: Sequence[Mapping[str, Any]]
) -> Sequence[Mapping[str, Any]]:
    """Make some requests; returns those left unprocessed. Raises `Contended` if none was processed."""
    wanted: Any = {table: requests}
    unprocessed: Any = client.batch_write_item(RequestItems=wanted)["UnprocessedItems"]
    left: Sequence[Mapping[str, Any]] = unprocessed.get(table, [])
    if len(left) == len(requests):
        raise busy()
    return left

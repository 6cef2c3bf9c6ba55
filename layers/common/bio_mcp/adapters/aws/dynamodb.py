"""What the DynamoDB adapters share: numbers, complete batch reads, and calls at once."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from decimal import Decimal
from functools import partial
from typing import TYPE_CHECKING, Any

from bio_mcp.adapters.aws.failures import Contended
from bio_mcp.adapters.retry import Backoff, retry

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.client import DynamoDBClient

Item = Mapping[str, Any]  # name -> value in DynamoDB's JSON, as {"S": "text"}
AT_ONCE = 100  # keys of one BatchGetItem
THREADS = 8  # concurrent writes
BACKOFF = Backoff(tries=12, first_s=0.05, cap_s=20.0, jitter=0.5)
"""For writers that contend for one item: 12 tries, a minute in all. The large jitter separates them."""


def item_key(name: str, item: str) -> dict[str, Any]:
    """The key of an item, in a table whose key is a name and an item under it."""
    return {"name": {"S": name}, "item": {"S": item}}


def number(seconds: float) -> str:
    """Seconds as a DynamoDB number, to the microsecond."""
    return str(Decimal(repr(seconds)).quantize(Decimal("0.000001")))


def batch_get(
    client: "DynamoDBClient", table: str, keys: Sequence[Item], attributes: Sequence[str], backoff: Backoff = BACKOFF
) -> Iterator[Item]:
    """The existing items of `keys` (no duplicates), with `attributes`, read consistently.

    Keys that DynamoDB leaves unprocessed (an answer ends at 16 MB, or under throttling) are requested again, after a
    growing pause while nothing comes. Raises `StoreFailed` rather than omit one.
    """
    names = {f"#{number}": name for number, name in enumerate(attributes)}
    options = {"ConsistentRead": True, "ProjectionExpression": ", ".join(names), "ExpressionAttributeNames": names}
    for start in range(0, len(keys), AT_ONCE):
        left: Sequence[Item] = keys[start : start + AT_ONCE]
        while left:
            found, left = retry(partial(_get_some, client, table, left, options), worth=Contended, backoff=backoff)
            yield from found


def _get_some(
    client: "DynamoDBClient", table: str, keys: Sequence[Item], options: Mapping[str, Any]
) -> tuple[Sequence[Item], Sequence[Item]]:
    """The items of some `keys`, and the unprocessed keys. Raises `Contended` if no key was processed."""
    requested: Any = {table: {"Keys": keys, **options}}
    answer = client.batch_get_item(RequestItems=requested)
    unprocessed = [key for part in answer["UnprocessedKeys"].values() for key in part["Keys"]]
    if len(unprocessed) == len(keys):
        raise Contended("The store is busy at the moment. Nothing is lost; try again.")
    return answer["Responses"].get(table, []), unprocessed


def in_parallel(calls: Sequence[Callable[[], None]]) -> None:
    """Make the calls on a few threads, with this call's deadline. Raises the first failure, after all have ended."""
    with ThreadPoolExecutor(THREADS) as pool:
        for future in [pool.submit(copy_context().run, call) for call in calls]:
            future.result()

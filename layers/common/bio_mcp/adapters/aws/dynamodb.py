"""What the DynamoDB adapters share: numbers, complete batch reads, and calls at once."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from decimal import Decimal
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, Any, TypeVar

from bio_mcp.adapters.aws.failures import Contended
from bio_mcp.adapters.retry import Backoff, pause, retry

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.client import DynamoDBClient

T = TypeVar("T")
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
    growing pause. Raises `StoreFailed` rather than omit one.
    """
    names = {f"#{number}": name for number, name in enumerate(attributes)}
    options = {"ConsistentRead": True, "ProjectionExpression": ", ".join(names), "ExpressionAttributeNames": names}
    for start in range(0, len(keys), AT_ONCE):
        left: Sequence[Item] = keys[start : start + AT_ONCE]
        for answers in count(1):
            found, left = retry(partial(_get_some, client, table, left, options), worth=Contended, backoff=backoff)
            yield from found
            if not left:
                break
            pause(answers, backoff, busy())


def _get_some(
    client: "DynamoDBClient", table: str, keys: Sequence[Item], options: Mapping[str, Any]
) -> tuple[Sequence[Item], Sequence[Item]]:
    """The items of some `keys`, and the unprocessed keys. Raises `Contended` if no key was processed."""
    requested: Any = {table: {"Keys": keys, **options}}
    answer = client.batch_get_item(RequestItems=requested)
    unprocessed = [key for part in answer["UnprocessedKeys"].values() for key in part["Keys"]]
    if len(unprocessed) == len(keys):
        raise busy()
    return answer["Responses"].get(table, []), unprocessed


def busy() -> Contended:
    """The failure of a request of which DynamoDB processed nothing, or not enough in time."""
    return Contended("The store is busy at the moment. Nothing is lost; try again.")


def partition(
    client: "DynamoDBClient",
    table: str,
    name: str,
    *,
    begins: str = "",
    newest_first: bool = False,
    limit: int | None = None,
) -> Iterator[Item]:
    """The items of a name, whose key `item` begins so, in its order or against it; the first `limit`, read consistently
    and no more of them.

    The table's key is that of `item_key`.
    """
    condition = "#name = :name" + (" AND begins_with(#item, :begins)" if begins else "")
    names = {"#name": "name"} | ({"#item": "item"} if begins else {})
    values: dict[str, Any] = {":name": {"S": name}} | ({":begins": {"S": begins}} if begins else {})
    pages = client.get_paginator("query").paginate(
        TableName=table,
        ConsistentRead=True,
        KeyConditionExpression=condition,
        ExpressionAttributeNames=names,
        ExpressionAttributeValues=values,
        ScanIndexForward=not newest_first,
        PaginationConfig={"MaxItems": limit, "PageSize": limit} if limit else {},
    )
    return (item for page in pages for item in page["Items"])


def in_parallel(calls: Sequence[Callable[[], T]]) -> list[T]:
    """Make the calls on a few threads, with this call's deadline, and return what they do, in their order.

    Raises the first failure, after all have ended.
    """
    with ThreadPoolExecutor(THREADS) as pool:
        return [future.result() for future in [pool.submit(copy_context().run, call) for call in calls]]

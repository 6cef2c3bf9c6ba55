"""What the adapters of tables share: numbers, trying again, and reading many items at once, whole or not at all."""

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from functools import partial
from typing import TYPE_CHECKING, Any

from bio_mcp.adapters.aws.failures import Contended
from bio_mcp.adapters.retry import Backoff, retry

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.client import DynamoDBClient

Item = Mapping[str, Any]  # name -> value in DynamoDB's JSON, as {"S": "text"}
AT_ONCE = 100  # keys of one BatchGetItem
BACKOFF = Backoff(tries=12, first_s=0.05, cap_s=20.0, jitter=0.5)
"""Of writers that meet at one item: 12 tries, a minute in all. The large jitter parts those that met once."""


def number(seconds: float) -> str:
    """Seconds as DynamoDB takes numbers, to the microsecond."""
    return str(Decimal(repr(seconds)).quantize(Decimal("0.000001")))


def batch_get(
    client: "DynamoDBClient", table: str, keys: Sequence[Item], attributes: Sequence[str], backoff: Backoff = BACKOFF
) -> Iterator[Item]:
    """The items that exist of `keys` (each once), with `attributes`, as they stand after every finished write.

    What DynamoDB leaves undone (an answer ends at 16 MB, or where it is asked too much) is asked for again, after a
    pause where it did nothing. Raises `Contended` rather than leave one out.
    """
    names = {f"#{number}": name for number, name in enumerate(attributes)}
    wanted = {"ConsistentRead": True, "ProjectionExpression": ", ".join(names), "ExpressionAttributeNames": names}
    for start in range(0, len(keys), AT_ONCE):
        left: Sequence[Item] = keys[start : start + AT_ONCE]
        while left:
            found, left = retry(partial(_some, client, table, left, wanted), worth=Contended, backoff=backoff)
            yield from found


def _some(
    client: "DynamoDBClient", table: str, keys: Sequence[Item], wanted: Mapping[str, Any]
) -> tuple[Sequence[Item], Sequence[Item]]:
    """Items of `keys`, and the keys that are still to be asked for. Raises `Contended` when those are all of them."""
    requested: Any = {table: {"Keys": keys, **wanted}}
    answer = client.batch_get_item(RequestItems=requested)
    undone = [key for each in answer["UnprocessedKeys"].values() for key in each["Keys"]]
    if len(undone) == len(keys):
        raise Contended("The store is asked too much at the moment. Nothing is lost; try again.")
    return answer["Responses"].get(table, []), undone

"""What the tables' adapters share: numbers, pauses, and reading many items at once, whole or not at all."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal
from random import random
from typing import TYPE_CHECKING, Any

from bio_mcp.errors import StoreFailed

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.client import DynamoDBClient

Item = Mapping[str, Any]  # name -> value in DynamoDB's JSON, as {"S": "text"}
AT_ONCE = 100  # keys of one BatchGetItem
TRIES = 10  # of keys that DynamoDB left undone, waiting twice as long each time: a minute in all
FIRST_S, LONGEST_S = 0.05, 20.0

Sleep = Callable[[float], None]


def number(seconds: float) -> str:
    """Seconds as DynamoDB takes numbers, to the microsecond."""
    return str(Decimal(repr(seconds)).quantize(Decimal("0.000001")))


def pause(attempt: int, sleep: Sleep = time.sleep) -> None:
    """Wait before try number `attempt` + 1: up to 50 ms, 100 ms, ... 20 s, at random so that writers part."""
    sleep(min(LONGEST_S, FIRST_S * 2**attempt) * (0.5 + random() / 2))  # noqa: S311  # spreads load, hides nothing


def batch_get(
    client: "DynamoDBClient", table: str, keys: Sequence[Item], attributes: Sequence[str], sleep: Sleep = time.sleep
) -> Iterator[Item]:
    """The items that exist of `keys` (each once), with `attributes`, as they stand after every finished write.

    What DynamoDB leaves undone (an answer ends at 16 MB, or where it is asked too much) is asked for again, after a
    pause that grows while it does nothing. Raises `StoreFailed` rather than leave one out.
    """
    names = {f"#{number}": name for number, name in enumerate(attributes)}
    for start in range(0, len(keys), AT_ONCE):
        left: Sequence[Item] = keys[start : start + AT_ONCE]
        fruitless = 0
        while left:
            answer = client.batch_get_item(
                RequestItems={
                    table: {
                        "Keys": left,
                        "ConsistentRead": True,
                        "ProjectionExpression": ", ".join(names),
                        "ExpressionAttributeNames": names,
                    }
                }
            )
            yield from answer["Responses"].get(table, [])
            undone: Sequence[Item] = [key for each in answer["UnprocessedKeys"].values() for key in each["Keys"]]
            fruitless = 0 if len(undone) < len(left) else fruitless + 1
            if fruitless == TRIES:
                raise StoreFailed("The store is asked too much at the moment. Nothing is lost; try again.")
            if undone:
                pause(fruitless, sleep)
            left = undone

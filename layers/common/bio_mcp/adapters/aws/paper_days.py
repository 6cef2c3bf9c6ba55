"""How many papers each day brought, in items of their own of the table of papers.

They are counted after the papers are stored: who is killed in between leaves some uncounted.
"""

from collections.abc import Callable
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from bio_mcp.adapters.aws.dynamodb import BACKOFF, batch_get
from bio_mcp.adapters.papers import utc_day
from bio_mcp.adapters.retry import Backoff
from bio_mcp.ports.stores import StoredDay

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.client import DynamoDBClient


class PaperDays:
    """Days (UTC) in a table (key: pmid), under names that begin with #. `clock` returns seconds since 1970."""

    def __init__(
        self, client: "DynamoDBClient", table: str, clock: Callable[[], float], backoff: Backoff = BACKOFF
    ) -> None:
        self._client = client
        self._table = table
        self._clock = clock
        self._backoff = backoff

    def add(self, added: int, revised: int) -> None:
        """Count papers to today."""
        if not added and not revised:
            return
        self._client.update_item(
            TableName=self._table,
            Key=_key(utc_day(self._clock()).isoformat()),
            UpdateExpression="ADD #added :added, #revised :revised",
            ExpressionAttributeNames={"#added": "added", "#revised": "revised"},
            ExpressionAttributeValues={":added": {"N": str(added)}, ":revised": {"N": str(revised)}},
        )

    def last(self, days: int) -> list[StoredDay]:
        """The last days, today included, on which papers were stored, the oldest first."""
        today = utc_day(self._clock())
        named = {_key(str(day))["pmid"]["S"]: day for day in (today - timedelta(days=back) for back in range(days))}
        keys = [{"pmid": {"S": name}} for name in named]
        found = batch_get(self._client, self._table, keys, ("pmid", "added", "revised"), self._backoff)
        counted = [
            StoredDay(named[item["pmid"]["S"]], int(item["added"]["N"]), int(item["revised"]["N"])) for item in found
        ]
        return sorted(counted, key=lambda each: each.day)


def _key(day: str) -> dict[str, Any]:
    return {"pmid": {"S": f"#day {day}"}}

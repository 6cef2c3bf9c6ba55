"""A cache of PubMed answers in a DynamoDB table whose time to live removes expired items."""

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from math import ceil
from typing import TYPE_CHECKING, Any

from botocore.config import Config

from bio_mcp.adapters.aws.dynamodb import number
from bio_mcp.adapters.aws.failures import reaching
from bio_mcp.adapters.caching.expiry import age_s
from bio_mcp.ports.cache import CacheEntry

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.client import DynamoDBClient

log = logging.getLogger(__name__)

WHAT = "cached answers"
LARGEST = 390_000  # bytes of a value; an item is limited to 400 KB with its key and times
READ_AT_ONCE, WRITTEN_AT_ONCE = 100, 25
IMPATIENT = Config(  # asking NCBI again costs less than waiting for a cached answer
    connect_timeout=1,
    read_timeout=2,
    retries={"mode": "standard", "total_max_attempts": 2},
    max_pool_connections=16,
    account_id_endpoint_mode="disabled",
)


class DynamoCache:
    """The port `Cache` over one table (key: entry). `clock` returns seconds since 1970 and must agree
    everywhere.

    Nothing is retried: an unread value counts as not cached. An expired value is ignored even before DynamoDB removes
    it, which may take days.
    """

    def __init__(self, client: "DynamoDBClient", table: str, clock: Callable[[], float] = time.time) -> None:
        self._client = client
        self._table = table
        self._clock = clock

    def get(self, keys: Sequence[str]) -> dict[str, CacheEntry]:
        now, entries = self._clock(), {}
        for start in range(0, len(keys), READ_AT_ONCE):
            batch: list[dict[str, Any]] = [{"entry": {"S": key}} for key in keys[start : start + READ_AT_ONCE]]
            with reaching(WHAT):
                answer = self._client.batch_get_item(RequestItems={self._table: {"Keys": batch}})
            for item in answer["Responses"].get(self._table, []):
                age = age_s(float(item["stored"]["N"]), float(item["ends"]["N"]), now)
                if age is not None:
                    entries[item["entry"]["S"]] = CacheEntry(bytes(item["value"]["B"]), age)
        return entries

    def put(self, values: Mapping[str, bytes], lifetime_s: float) -> None:
        items = [self._item(key, value, lifetime_s) for key, value in values.items() if len(value) <= LARGEST]
        for start in range(0, len(items), WRITTEN_AT_ONCE):
            requests: list[Any] = [{"PutRequest": {"Item": item}} for item in items[start : start + WRITTEN_AT_ONCE]]
            with reaching(WHAT):
                answer = self._client.batch_write_item(RequestItems={self._table: requests})
            if undone := answer.get("UnprocessedItems"):
                log.info("%d answers were not cached: the table is throttled", len(undone[self._table]))
                return

    def _item(self, key: str, value: bytes, lifetime_s: float) -> dict[str, Any]:
        now = self._clock()
        return {
            "entry": {"S": key},
            "value": {"B": value},
            "stored": {"N": number(now)},
            "ends": {"N": number(now + lifetime_s)},
            "expires_at": {"N": str(ceil(now + lifetime_s))},
        }

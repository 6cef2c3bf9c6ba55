"""Reviews, in a DynamoDB table with a partition for each.

Records, labels and searches are items of their own, told apart by how their key begins, so that a label is one small
write. A record's text is compressed; a search lists too many records for an item, perhaps, and is then a file.
"""

import json
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from bio_mcp.adapters.aws.batch_writes import batch_write
from bio_mcp.adapters.aws.dynamodb import BACKOFF, Item, item_key, partition
from bio_mcp.adapters.aws.failures import reaching
from bio_mcp.adapters.aws.large_values import LargeValues
from bio_mcp.adapters.retry import Backoff
from bio_mcp.adapters.screenings import by_time, label_of, label_row, record_of, search_of, search_row
from bio_mcp.ports.screening import ReviewRecord, ReviewSearch, ScreeningLabel, Stage
from bio_mcp.ports.stores import Blobs

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.client import DynamoDBClient

WHAT = "reviews"
FOLDER = "reviews"
RECORD, LABEL, SEARCH = "record ", "label ", "search "


class DynamoScreenings:
    """The port `Screenings` over one table (key: name, item) and, for searches that found much, a bucket."""

    def __init__(
        self, client: "DynamoDBClient", table: str, blobs: Callable[[], Blobs], backoff: Backoff = BACKOFF
    ) -> None:
        self._client = client
        self._table = table
        self._bodies = LargeValues(blobs, FOLDER)
        self._backoff = backoff

    def put_records(self, review: str, records: Sequence[ReviewRecord]) -> None:
        self._put(review, {RECORD + each.record_id: asdict(each) for each in records})

    def records(self, review: str) -> list[ReviewRecord]:
        return sorted((record_of(row) for row in self._rows(review, RECORD)), key=lambda each: each.record_id)

    def put_labels(self, review: str, labels: Sequence[ScreeningLabel]) -> None:
        self._put(review, {_label(each.stage, each.record_id): label_row(each) for each in labels})

    def remove_labels(self, review: str, stage: Stage, record_ids: Sequence[str]) -> None:
        with reaching(WHAT):
            self._delete([_key(review, _label(stage, each)) for each in dict.fromkeys(record_ids)])

    def labels(self, review: str) -> list[ScreeningLabel]:
        return by_time([label_of(row) for row in self._rows(review, LABEL)])

    def put_search(self, review: str, search: ReviewSearch) -> None:
        self._put(review, {SEARCH + search.search_id: search_row(search)})

    def searches(self, review: str) -> list[ReviewSearch]:
        found = [search_of(row) for row in self._rows(review, SEARCH)]
        return sorted(found, key=lambda each: (each.at, each.search_id))

    def drop(self, review: str) -> None:
        with reaching(WHAT):
            items = partition(self._client, self._table, review)
            self._delete([{name: item[name] for name in ("name", "item")} for item in items])

    def _put(self, review: str, rows: Mapping[str, dict[str, Any]]) -> None:
        with reaching(WHAT):
            items = [{**_key(review, item), **self._packed(row)} for item, row in rows.items()]
            self._write([{"PutRequest": {"Item": each}} for each in items])

    def _packed(self, row: dict[str, Any]) -> dict[str, Any]:
        return self._bodies.attributes(zlib.compress(json.dumps(row, ensure_ascii=False).encode()))

    def _rows(self, review: str, begins: str) -> Iterator[dict[str, Any]]:
        with reaching(WHAT):
            for item in partition(self._client, self._table, review, begins=begins):
                yield json.loads(zlib.decompress(self._bodies.of(item)))

    def _delete(self, keys: Sequence[Item]) -> None:
        self._write([{"DeleteRequest": {"Key": each}} for each in keys])

    def _write(self, requests: Sequence[Mapping[str, Any]]) -> None:
        batch_write(self._client, self._table, requests, self._backoff)


def _label(stage: str, record_id: str) -> str:
    return f"{LABEL}{stage} {record_id}"


def _key(review: str, item: str) -> dict[str, Any]:
    """The key of an item, whose record may have a DOI longer than a key may be."""
    encoded = item.encode()
    kind = item.partition(" ")[0]
    return item_key(review, item if len(encoded) <= 1_000 else f"{kind} hash {sha256(encoded).hexdigest()}")

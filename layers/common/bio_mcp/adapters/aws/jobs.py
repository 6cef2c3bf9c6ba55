"""Long pieces of work, in a DynamoDB table.

A job is one item; other items for each kind and query, and for each term of it, name the newest one. An index could
do that, but it follows late: a continuation would miss the job that it continues.
"""

import hashlib
import json
import time
import zlib
from collections.abc import Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from bio_mcp.adapters.aws.dynamodb import Item
from bio_mcp.adapters.aws.failures import reaching
from bio_mcp.adapters.aws.large_values import LargeValues
from bio_mcp.errors import NotFound
from bio_mcp.ports.state import Job
from bio_mcp.ports.stores import Blobs

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.client import DynamoDBClient


WHAT = "jobs"
KEPT_S = 180 * 86_400  # after its last change a job is forgotten
FOLDER = "jobs"
CANCELLED = "cancelled"


class DynamoJobs:
    """The port `Jobs` over one table (key: job) and, for jobs that it cannot hold, a bucket.

    Times without a zone are taken as UTC. `clock` gives seconds since 1970.
    """

    def __init__(
        self, client: "DynamoDBClient", table: str, blobs: Blobs, clock: Callable[[], float] = time.time
    ) -> None:
        self._client = client
        self._table = table
        self._bodies = LargeValues(blobs, FOLDER)
        self._clock = clock

    def get(self, job_id: str) -> Job:
        item = self._read(_key(job_id))
        if item is None:
            raise NotFound(f"There is no job {job_id!r}")
        return self._job(item)

    def put(self, job: Job) -> None:
        """Store the job, then name it as the newest where it is: cut off between the two, an earlier one is named."""
        kept = {"expires_at": {"N": str(int(self._clock() + KEPT_S))}}
        created, updated = _iso(job.created), _iso(job.updated)
        texts = {"kind": job.kind, "state": job.state, "created": created, "updated": updated, "job_id": job.job_id}
        body = zlib.compress(json.dumps([job.request, job.cursor, job.progress]).encode())
        item = {name: {"S": text} for name, text in texts.items()}
        with reaching(WHAT):
            if self._write({"job": {"S": _key(job.job_id)}, **item, **kept, **self._bodies.attributes(body)}):
                for key in _names(job):
                    self._name_newest(key, created, job.job_id, kept)

    def is_cancelled(self, job_id: str) -> bool:
        with reaching(WHAT):
            item = self._client.get_item(
                TableName=self._table,
                Key={"job": {"S": _key(job_id)}},
                ProjectionExpression="#state",
                ExpressionAttributeNames={"#state": "state"},
            ).get("Item", {})
        return item.get("state") == {"S": CANCELLED}

    def remove(self, job: Job) -> None:
        """What names the job goes with it, although an older one might be named then: nobody asks for that one."""
        with reaching(WHAT):
            for key in (*_names(job), _key(job.job_id)):
                self._client.delete_item(TableName=self._table, Key={"job": {"S": key}})

    def latest(self, kind: str, query_key: str, term: str | None = None) -> Job | None:
        found = self._named(_newest(kind, query_key, term))
        if found is None and term is not None:  # an older version named no job by its term
            found = self._named(_newest(kind, query_key))
            return found if found and found.request.get("term") == term else None
        return found

    def _named(self, key: str) -> Job | None:
        newest = self._read(key)
        item = self._read(_key(newest["job_id"]["S"])) if newest else None
        return self._job(item) if item else None

    def _read(self, key: str) -> Item | None:
        with reaching(WHAT):
            return self._client.get_item(TableName=self._table, Key={"job": {"S": key}}, ConsistentRead=True).get(
                "Item"
            )

    def _write(self, item: Item) -> bool:
        """Store the item unless the job was cancelled; says whether it was stored."""
        try:
            self._client.put_item(
                TableName=self._table,
                Item=item,
                ConditionExpression="attribute_not_exists(#state) OR #state <> :cancelled",
                ExpressionAttributeNames={"#state": "state"},
                ExpressionAttributeValues={":cancelled": {"S": CANCELLED}},
            )
        except self._client.exceptions.ConditionalCheckFailedException:
            return False
        return True

    def _name_newest(self, key: str, created: str, job_id: str, kept: dict[str, Any]) -> None:
        try:
            self._client.update_item(
                TableName=self._table,
                Key={"job": {"S": key}},
                UpdateExpression="SET #order = :order, #id = :id, #expires = :expires",
                ConditionExpression="attribute_not_exists(#order) OR #order <= :order",
                ExpressionAttributeNames={"#order": "ordinal", "#id": "job_id", "#expires": "expires_at"},
                ExpressionAttributeValues={
                    ":order": {"S": f"{created} {job_id}"},
                    ":id": {"S": job_id},
                    ":expires": kept["expires_at"],
                },
            )
        except self._client.exceptions.ConditionalCheckFailedException:
            return  # a newer one is named

    def _job(self, item: Item) -> Job:
        request, cursor, progress = json.loads(zlib.decompress(self._bodies.of(item)))
        created, updated = (datetime.fromisoformat(item[name]["S"]) for name in ("created", "updated"))
        return Job(
            item["job_id"]["S"], item["kind"]["S"], item["state"]["S"], created, updated, request, cursor, progress
        )


def _key(job_id: str) -> str:
    return f"job {job_id}"


def _names(job: Job) -> set[str]:
    """The keys of the items that may name the job as the newest."""
    query_key, term = job.request.get("query_key"), job.request.get("term")
    return set() if query_key is None else {_newest(job.kind, query_key), _newest(job.kind, query_key, term)}


def _newest(kind: str, query_key: str, term: str | None = None) -> str:
    """The key of the item that names the newest job; a term, which may be longer than a key, stands in it as a hash."""
    hashed = [] if term is None else [hashlib.sha256(term.encode()).hexdigest()]
    return "newest " + json.dumps([kind, query_key, *hashed])


def _iso(moment: datetime) -> str:
    """The moment in UTC, always with microseconds, so that text sorts as time."""
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return aware.astimezone(UTC).isoformat(timespec="microseconds")

"""Jobs, in a DynamoDB table.

A job is one item. Other items, one for each kind and query and one for each of its terms, name the newest job. A
secondary index could do that, but it is eventually consistent: a continuation would miss the job that it continues.
One more item for each kind and day names the jobs that were made on it.
"""

import hashlib
import json
import time
import zlib
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from bio_mcp.adapters.aws.dynamodb import AT_ONCE, Item, batch_get
from bio_mcp.adapters.aws.failures import reaching
from bio_mcp.adapters.aws.large_values import LargeValues
from bio_mcp.adapters.papers import utc_day
from bio_mcp.errors import NotFound
from bio_mcp.literature.clock import sortable
from bio_mcp.ports.state import Job
from bio_mcp.ports.stores import Blobs

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.client import DynamoDBClient


WHAT = "jobs"
LIFETIME_S = 180 * 86_400  # a job expires this long after its last change
FOLDER = "jobs"
CANCELLED = "cancelled"
NAMED = "jobs"
DAYS = LIFETIME_S // 86_400 + 1  # that are looked back for jobs
ATTRIBUTES = ("job_id", "kind", "state", "created", "updated")


class DynamoJobs:
    """The port `Jobs` over one table (key: job) and, for jobs too large for it, a bucket.

    A time without a zone is taken as UTC. `clock` returns seconds since 1970.
    """

    def __init__(
        self, client: "DynamoDBClient", table: str, blobs: Callable[[], Blobs], clock: Callable[[], float] = time.time
    ) -> None:
        self._client = client
        self._table = table
        self._contents = LargeValues(blobs, FOLDER)
        self._clock = clock

    def get(self, job_id: str) -> Job:
        item = self._read(_key(job_id))
        if item is None:
            raise NotFound(f"There is no job {job_id!r}")
        return self._job(item)

    def put(self, job: Job) -> None:
        """Name the job in its day, store it, then name it as the newest; after a crash in between, an earlier job is
        still named."""
        expiry = self._expiry()
        created, updated = sortable(job.created), sortable(job.updated)
        texts = {"kind": job.kind, "state": job.state, "created": created, "updated": updated, "job_id": job.job_id}
        body = zlib.compress(json.dumps([job.request, job.cursor, job.progress]).encode())
        item = {name: {"S": text} for name, text in texts.items()}
        with reaching(WHAT):
            self._name_in_day(job, expiry, action="ADD")
            if self._write({"job": {"S": _key(job.job_id)}, **item, **expiry, **self._contents.attributes(body)}):
                for key in _names(job):
                    self._name_newest(key, created, job.job_id, expiry)

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
        """Delete the job and the items that name it. No older job is named instead: nobody asks for one."""
        with reaching(WHAT):
            self._name_in_day(job, self._expiry(), action="DELETE")
            for key in (*_names(job), _key(job.job_id)):
                self._client.delete_item(TableName=self._table, Key={"job": {"S": key}})

    def latest(self, kind: str, query_key: str, term: str | None = None) -> Job | None:
        job = self._named(_newest(kind, query_key, term))
        if job is None and term is not None:  # an older version named no job by its term
            job = self._named(_newest(kind, query_key))
            return job if job and job.request.get("term") == term else None
        return job

    def newest(self, kind: str, most: int) -> list[Job]:
        with reaching(WHAT):
            named = self._named_in_days(kind, most)
            keys = [{"job": {"S": _key(each)}} for each in named]
            items = batch_get(self._client, self._table, keys, (*ATTRIBUTES, *self._contents.names))
            jobs = {item["job_id"]["S"]: self._job(item) for item in items}
        return [jobs[each] for each in named if each in jobs]

    def _named_in_days(self, kind: str, most: int) -> list[str]:
        """The ids of the newest jobs of a kind, the newest first."""
        today, named = utc_day(self._clock()), list[str]()
        for back in range(0, DAYS, AT_ONCE):
            days = [(today - timedelta(days=back + number)).isoformat() for number in range(AT_ONCE)]
            keys = [{"job": {"S": _made_on(kind, day)}} for day in days]
            found = batch_get(self._client, self._table, keys, (NAMED,))
            named += sorted((name for item in found if NAMED in item for name in item[NAMED]["SS"]), reverse=True)
            if len(named) >= most:
                break
        return [name.partition(" ")[2] for name in named[:most]]

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
        """Store the item unless the job was cancelled; returns whether it was stored."""
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

    def _name_newest(self, key: str, created: str, job_id: str, expiry: dict[str, Any]) -> None:
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
                    ":expires": expiry["expires_at"],
                },
            )
        except self._client.exceptions.ConditionalCheckFailedException:
            return  # a newer one is named

    def _name_in_day(self, job: Job, expiry: dict[str, Any], *, action: str) -> None:
        """Name the job in the item of the day that it was made on (ADD), or no longer (DELETE)."""
        created = sortable(job.created)
        self._client.update_item(
            TableName=self._table,
            Key={"job": {"S": _made_on(job.kind, created[:10])}},
            UpdateExpression=f"SET #expires = :expires {action} #named :job",
            ExpressionAttributeNames={"#expires": "expires_at", "#named": NAMED},
            ExpressionAttributeValues={":expires": expiry["expires_at"], ":job": {"SS": [f"{created} {job.job_id}"]}},
        )

    def _expiry(self) -> dict[str, Any]:
        return {"expires_at": {"N": str(int(self._clock() + LIFETIME_S))}}

    def _job(self, item: Item) -> Job:
        request, cursor, progress = json.loads(zlib.decompress(self._contents.of(item)))
        created, updated = (datetime.fromisoformat(item[name]["S"]) for name in ("created", "updated"))
        return Job(
            item["job_id"]["S"], item["kind"]["S"], item["state"]["S"], created, updated, request, cursor, progress
        )


def _key(job_id: str) -> str:
    return f"job {job_id}"


def _made_on(kind: str, day: str) -> str:
    """The key of the item that names the jobs that were made on a day (UTC)."""
    return f"day {day} {kind}"


def _names(job: Job) -> set[str]:
    """The keys of the items that may name the job as the newest."""
    query_key, term = job.request.get("query_key"), job.request.get("term")
    return set() if query_key is None else {_newest(job.kind, query_key), _newest(job.kind, query_key, term)}


def _newest(kind: str, query_key: str, term: str | None = None) -> str:
    """The key of the item that names the newest job. The term is hashed, as it may be longer than a key."""
    hashed = [] if term is None else [hashlib.sha256(term.encode()).hexdigest()]
    return "newest " + json.dumps([kind, query_key, *hashed])

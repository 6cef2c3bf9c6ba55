"""Checkpoints, jobs, leases and the log of changes, in DynamoDB tables."""

import hashlib
import json
from datetime import UTC, datetime, timedelta
from math import ceil
from typing import Any
from uuid import uuid4

from bio_mcp.adapters.aws.table import AT_ONCE, HOLDS, DynamoStore, Item
from bio_mcp.adapters.retry import retry
from bio_mcp.adapters.stored import Change, CheckpointsByKey, utc_day
from bio_mcp.errors import Conflict, NotFound
from bio_mcp.literature.clock import sortable
from bio_mcp.ports.state import Checkpoint, Hold, Job, KeyCheckpoints


class _Outrun(Conflict):
    """Another writer changed the checkpoint after it was read."""


class DynamoCheckpoints(DynamoStore, CheckpointsByKey):
    """The port `Checkpoints` over one table (key: query_key). Listing scans it: its items are few and small.

    All watermarks of a query are one item, written only if it still has the revision that was read: concurrent writers
    cannot move a watermark back, and all watermarks of a call move together.
    """

    WHAT = "checkpoints"

    def all(self, query_key: str | None = None) -> list[Checkpoint]:
        if query_key is not None:
            return list(self._read(query_key).terms)
        keys = [_checkpoints(item["query_key"], item) for item in self._table.scan()]
        return [checkpoint for key in sorted(keys, key=lambda key: key.query_key) for checkpoint in key.terms]

    def remove(self, query_key: str) -> list[Checkpoint]:
        before = self.all(query_key)
        self._table.delete_item({"query_key": query_key})
        return before

    def _change(self, query_key: str, change: Change) -> tuple[KeyCheckpoints, KeyCheckpoints]:
        def move() -> tuple[KeyCheckpoints, KeyCheckpoints]:
            item = self._table.get_item({"query_key": query_key})
            before = _checkpoints(query_key, item)
            after = change(before)
            if after != before and not self._write(after, item):
                raise _Outrun(f"the checkpoint of {query_key!r} is being moved by many at once; try again")
            return before, after

        return retry(move, worth=_Outrun, backoff=self._table.backoff)

    def _read(self, query_key: str) -> KeyCheckpoints:
        return _checkpoints(query_key, self._table.get_item({"query_key": query_key}))

    def _write(self, checkpoints: KeyCheckpoints, seen: Item | None) -> bool:
        """Store the checkpoints if the item is still the one that was seen; returns whether they are stored."""
        terms = [[each.term, each.last_edat, dict(each.windows)] for each in checkpoints.terms]
        revision, unseen = uuid4().hex, {} if seen is None else {"seen": seen["revision"]}
        item = {
            "query_key": checkpoints.query_key,
            "terms": json.dumps(terms, ensure_ascii=False),
            "revision": revision,
        }
        only = "#revision = :seen" if unseen else "attribute_not_exists(#query_key)"
        if self._table.put_item(item, only, **unseen):
            return True
        there = self._table.get_item({"query_key": checkpoints.query_key})
        return bool(there and there["revision"] == revision)  # a request whose first answer was lost is repeated


def _checkpoints(query_key: str, item: Item | None) -> KeyCheckpoints:
    terms = json.loads(item.get("terms", "[]")) if item else []
    return KeyCheckpoints(query_key, tuple(Checkpoint(query_key, edat, windows, term) for term, edat, windows in terms))


LIFETIME_S = 180 * 86_400  # a job expires this long after its last change
CANCELLED = "cancelled"
NAMED = "jobs"
DIGITS = 12  # of a number, so that names are in the order of numbers
DAYS = LIFETIME_S // 86_400 + 1  # that are looked back for jobs
ATTRIBUTES = ("job_id", "kind", "state", "created", "updated", "number")
SEQUENCE = "sequence"  # the item that counts the jobs
KEPT = 200  # jobs of a kind that are named, at least


class DynamoJobs(DynamoStore):
    """The port `Jobs` over one table (key: job) and, for jobs too large for it, a bucket.

    A time without a zone is taken as UTC.
    """

    WHAT = "jobs"
    FOLDER = "jobs"

    def get(self, job_id: str) -> Job:
        item = self._table.get_item(_key(job_id))
        if item is None:
            raise NotFound(f"There is no job {job_id!r}")
        return self._job(item)

    def put(self, job: Job) -> None:
        """Number the job and name it among the last of its kind, store it, then name it as the newest; after a crash in
        between, an earlier job is still named."""
        times = {"created": sortable(job.created), "updated": sortable(job.updated)}
        if job.number is None:
            job.number = self._number(job)
        item = {"kind": job.kind, "state": job.state, "job_id": job.job_id, "number": job.number, **times}
        item |= {**_key(job.job_id), **self._contents.packed([job.request, job.cursor, job.progress])}
        only = "attribute_not_exists(#state) OR #state <> :cancelled"
        if self._table.put_item({**item, "expires_at": int(self._clock() + LIFETIME_S)}, only, cancelled=CANCELLED):
            for key in _names(job):
                self._name_newest(key, job)

    def is_cancelled(self, job_id: str) -> bool:
        return (self._table.get_item(_key(job_id), ("state",)) or {}).get("state") == CANCELLED

    def remove(self, job: Job) -> None:
        """Delete the job and what names it as the newest. No older job is named instead: nobody asks for one."""
        for key in (*({"job": each} for each in _names(job)), _key(job.job_id)):
            self._table.delete_item(key)

    def latest(self, kind: str, query_key: str, term: str | None = None) -> Job | None:
        newest = self._table.get_item({"job": _newest(kind, query_key, term)})
        item = self._table.get_item(_key(newest["job_id"])) if newest else None
        return self._job(item) if item else None

    def newest(self, kind: str, most: int) -> list[Job]:
        last = self._table.get_item({"job": f"last {kind}"}) or {NAMED: set()}
        named = sorted(last[NAMED], reverse=True)
        if len(named) < most:
            named += self._named_in_days(kind, most - len(named))
        ids = list(dict.fromkeys(each.partition(" ")[2] for each in named))[:most]  # who was killed named one twice
        items = self._table.batch_get_items([_key(each) for each in ids], (*ATTRIBUTES, *self._contents.names))
        jobs = {item["job_id"]: self._job(item) for item in items}
        return [jobs[each] for each in ids if each in jobs]

    def _named_in_days(self, kind: str, most: int) -> list[str]:
        """The times and ids of the newest jobs that have no number, the newest first."""
        today, named = utc_day(self._clock()), list[str]()
        for back in range(0, DAYS, AT_ONCE):
            days = [(today - timedelta(days=back + number)).isoformat() for number in range(AT_ONCE)]
            found = self._table.batch_get_items([{"job": f"day {day} {kind}"} for day in days], (NAMED,))
            named += sorted((name for item in found if NAMED in item for name in item[NAMED]), reverse=True)
            if len(named) >= most:
                break
        return named

    def _number(self, job: Job) -> int:
        """The number of a job that is stored, 0 for one of an older version, or else the next one, by which the job is
        named among the last."""
        if stored := self._table.get_item(_key(job.job_id)):
            return int(stored.get("number", 0))
        number = self._table.next_number({"job": SEQUENCE})
        last, names = {"job": f"last {job.kind}"}, {f"{number:0{DIGITS}} {job.job_id}"}
        adding = f"SET #expires_at = :expires ADD #{NAMED} :names"
        there = self._table.update_item(last, adding, expires=int(self._clock() + LIFETIME_S), names=names)[1][NAMED]
        if len(there) > 2 * KEPT:
            oldest = set(sorted(there)[:-KEPT])
            self._table.update_item(last, f"DELETE #{NAMED} :oldest", returns=False, oldest=oldest)
        return number

    def _name_newest(self, key: str, job: Job) -> None:
        """Name the job, unless one with a higher number is named, or, of two without one, a later one."""
        order: int | str
        if job.number:
            name, order = "number", job.number
            only = "attribute_not_exists(#number) OR #number <= :order"
        else:
            name, order = "ordinal", f"{sortable(job.created)} {job.job_id}"
            only = "attribute_not_exists(#number) AND (attribute_not_exists(#ordinal) OR #ordinal <= :order)"
        changes = f"SET #{name} = :order, #job_id = :id, #expires_at = :expires"
        expires, job_id = int(self._clock() + LIFETIME_S), job.job_id
        self._table.update_item({"job": key}, changes, only, returns=False, order=order, id=job_id, expires=expires)

    def _job(self, item: Item) -> Job:
        created, updated = (datetime.fromisoformat(item[name]) for name in ("created", "updated"))
        request, cursor, progress = self._contents.row(item)
        job_id, kind, state, number = item["job_id"], item["kind"], item["state"], item.get("number", 0)
        return Job(job_id, kind, state, created, updated, request, cursor, progress, number)


def _key(job_id: str) -> Item:
    return {"job": f"job {job_id}"}


def _names(job: Job) -> set[str]:
    """The keys of the items that may name the job as the newest."""
    query_key, term = job.request.get("query_key"), job.request.get("term")
    return set() if query_key is None else {_newest(job.kind, query_key), _newest(job.kind, query_key, term)}


def _newest(kind: str, query_key: str, term: str | None = None) -> str:
    """The key of the item that names the newest job. The term is hashed, as it may be longer than a key."""
    hashed = [] if term is None else [hashlib.sha256(term.encode()).hexdigest()]
    return "newest " + json.dumps([kind, query_key, *hashed])


NUMBERS = "#numbers"  # the item that counts the leases
SWEPT_S = 3_600  # an item is removed this long after the lease has expired
LONGEST_S = 86_400.0  # of a lease of an earlier version, which does not say how long it was taken for


class DynamoLeases(DynamoStore):
    """The port `Leases` over one table (key: lease). That of a killed process ends when it expires. One that was taken
    by a clock that was ahead expires as long after another asks for it as it was taken for."""

    WHAT = "leases"

    def acquire(self, name: str, holder: str, seconds: float) -> Hold | None:
        """Extend the lease, or take it with the next number: all leases are counted together, so that one that is
        deleted loses none."""
        now, key = self._clock(), {"lease": name}
        lasting = {"seconds": float(seconds), **_ending(now + seconds)}
        setting = "SET #number = if_not_exists(#number, :zero), " + ", ".join(f"#{each} = :{each}" for each in lasting)
        extended, held = self._table.update_item(key, setting, "#holder = :holder", holder=holder, zero=0, **lasting)
        if extended:
            return self._hold(name, held["number"])
        if held and held["ends"] > now:
            if held["ends"] > (latest := now + held.get("seconds", LONGEST_S)):
                self._table.put_or_get({**held, **_ending(latest)}, "#ends = :seen", seen=held["ends"])
            return None
        number = self._table.next_number({"lease": NUMBERS})
        lease = {**key, "holder": holder, "number": number, **lasting}
        only = "attribute_not_exists(#lease) OR #holder = :holder OR #ends <= :now"
        free, _ = self._table.put_or_get(lease, only, holder=holder, now=float(now))
        return self._hold(name, number) if free else None

    def _hold(self, name: str, number: int) -> Hold:
        return Hold(name, number, f"{HOLDS}{self._table.name}")

    def release(self, name: str, holder: str) -> None:
        self._table.take_item({"lease": name}, "#holder = :holder", holder=holder)


def _ending(ends: float) -> Item:
    return {"ends": float(ends), "expires_at": ceil(ends + SWEPT_S)}


class DynamoAudit(DynamoStore):
    """The port `Audit` over one table (key: month, at). Writing needs only dynamodb:PutItem."""

    WHAT = "the audit log"

    def record(self, action: str, subject: str, before: Any, after: Any, caller: str | None = None) -> None:
        at = sortable(datetime.fromtimestamp(self._clock(), UTC))
        item = {
            "month": at[:7],
            "at": f"{at} {uuid4().hex}",
            "action": action,
            "subject": subject,
            "before": json.dumps(before),
            "after": json.dumps(after),
            **({} if caller is None else {"caller": caller}),
        }
        self._table.put_item(item, "attribute_not_exists(#at)")  # it is there where a first answer was lost

"""How far long work is, in the corpus file: jobs, checkpoints, leases, queued calls, news of query keys, audit log."""

import json
import logging
import sqlite3
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from bio_mcp.adapters.embedded.database import Database, Store
from bio_mcp.adapters.retry import Backoff
from bio_mcp.adapters.stored import Change, CheckpointsByKey, entry_at, key
from bio_mcp.errors import NotFound
from bio_mcp.literature.clock import sortable
from bio_mcp.literature.records import ChangeKind, CorpusChange
from bio_mcp.ports.messages import Letter
from bio_mcp.ports.state import NUMBERED, Checkpoint, Found, Hold, Job, KeyCheckpoints, NewsEntry, divided
from bio_mcp.scope import holding

log = logging.getLogger(__name__)


class LoggedAnnouncements:
    """The port `Announcements` for a laptop: one log line per kind of change, listing its PMIDs."""

    def publish(self, news: Sequence[CorpusChange]) -> None:
        for kind in ChangeKind:
            if pmids := [change.pmid for change in news if change.kind is kind]:
                log.info("corpus.%s %s", kind, " ".join(pmids))


class NoAnnouncements:
    """The port `Announcements` for a corpus that nobody listens to."""

    def publish(self, news: Sequence[CorpusChange]) -> None:
        """Nobody hears it."""


class SqliteAudit(Store):
    """The port `Audit` over the corpus file."""

    def record(self, action: str, subject: str, before: Any, after: Any, caller: str | None = None) -> None:
        at = datetime.fromtimestamp(self._clock(), UTC).isoformat()
        row = (at, action, subject, json.dumps(before), json.dumps(after), caller)
        self._database.write(
            "INSERT INTO audit (at, action, subject, before, after, caller) VALUES (?, ?, ?, ?, ?, ?)", row
        )

    def entries(self) -> list[dict[str, Any]]:
        """List every change, oldest first, with the keys at (ISO 8601), action, subject, before, after and caller."""
        names = ("at", "action", "subject", "before", "after", "caller")
        rows = self._database.rows(f"SELECT {', '.join(names)} FROM audit ORDER BY id")  # noqa: S608  the names above
        found = [dict(zip(names, row, strict=True)) for row in rows]
        return [each | {name: json.loads(each[name]) for name in ("before", "after")} for each in found]


class SqliteJobs(Store):
    """The port `Jobs` over the corpus file. A time without a zone is taken as UTC."""

    def get(self, job_id: str) -> Job:
        if found := self._jobs("job_id = ?", job_id):
            return found[0]
        raise NotFound(f"There is no job {job_id!r}")

    def put(self, job: Job) -> None:
        times = sortable(job.created), sortable(job.updated)
        texts = json.dumps(job.request), json.dumps(job.cursor), json.dumps(job.progress)
        with self._database.writing() as connection:
            connection.execute(
                "INSERT INTO jobs VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, (SELECT coalesce(max(number), 0) + 1 FROM jobs)) "
                "ON CONFLICT (job_id) DO UPDATE SET "
                "state = excluded.state, updated = excluded.updated, request = excluded.request, "
                "cursor = excluded.cursor, progress = excluded.progress WHERE state <> 'cancelled'",
                (job.job_id, job.kind, job.state, job.request.get("query_key"), *times, *texts),
            )
            query = "SELECT number FROM jobs WHERE job_id = ?"
            (job.number,) = connection.execute(query, (job.job_id,)).fetchone()

    def is_cancelled(self, job_id: str) -> bool:
        return self._database.row("SELECT 1 FROM jobs WHERE job_id = ? AND state = 'cancelled'", (job_id,)) is not None

    def remove(self, job: Job) -> None:
        self._database.write("DELETE FROM jobs WHERE job_id = ?", (job.job_id,))

    def latest(self, kind: str, query_key: str, term: str | None = None) -> Job | None:
        wanted = "kind = ? AND query_key = ? AND (? IS NULL OR json_extract(request, '$.term') = ?)"
        found = self._jobs(f"{wanted} ORDER BY number DESC LIMIT 1", kind, query_key, term, term)
        return found[0] if found else None

    def newest(self, kind: str, most: int) -> list[Job]:
        return self._jobs("kind = ? ORDER BY number DESC LIMIT ?", kind, most)

    def _jobs(self, wanted: str, *values: str | int | None) -> list[Job]:
        columns = "job_id, kind, state, created, updated, request, cursor, progress, number"
        rows = self._database.rows(f"SELECT {columns} FROM jobs WHERE {wanted}", values)  # noqa: S608  our own words
        dated, decoded = datetime.fromisoformat, json.loads
        return [
            Job(job_id, kind, state, dated(created), dated(updated), decoded(asked), decoded(at), decoded(done), number)
            for job_id, kind, state, created, updated, asked, at, done, number in rows
        ]


class SqliteCheckpoints(CheckpointsByKey, Store):
    """The port `Checkpoints` over the corpus file. The last written row of a key is the one synced last."""

    def all(self, query_key: str | None = None) -> list[Checkpoint]:
        with self._database.reading() as connection:
            return _checkpoints(connection, query_key)

    def remove(self, query_key: str) -> list[Checkpoint]:
        return list(self._change(query_key, lambda _: KeyCheckpoints(query_key))[0].terms)

    def _read(self, query_key: str) -> KeyCheckpoints:
        return KeyCheckpoints(query_key, tuple(self.all(query_key)))

    def _change(self, query_key: str, change: Change) -> tuple[KeyCheckpoints, KeyCheckpoints]:
        with self._database.writing() as connection:
            before = KeyCheckpoints(query_key, tuple(_checkpoints(connection, query_key)))
            after = change(before)
            if after != before:
                connection.execute("DELETE FROM checkpoints WHERE query_key = ?", (query_key,))
                connection.executemany(
                    "INSERT INTO checkpoints (query_key, last_edat, windows, term) VALUES (?, ?, ?, ?)",
                    [
                        (query_key, each.last_edat, json.dumps(dict(each.windows), sort_keys=True), each.term)
                        for each in after.terms
                    ],
                )
        return before, after


def _checkpoints(connection: sqlite3.Connection, query_key: str | None) -> list[Checkpoint]:
    """The checkpoints of a key, or all, in the order in which those of a key were written."""
    rows = connection.execute(
        "SELECT query_key, last_edat, windows, term FROM checkpoints WHERE ?1 IS NULL OR query_key = ?1 "
        "ORDER BY query_key, rowid",
        (query_key,),
    )
    return [Checkpoint(of, last_edat, json.loads(windows), term) for of, last_edat, windows, term in rows]


MAX_ATTEMPTS = 105  # with the pauses of `BACKOFF`, over some 24 hours
MAX_UNANSWERED = 10  # receivers that ended without ack or fail; the event may be what kills them
BACKOFF = Backoff(first_s=2.0, cap_s=900.0)


class SqliteContinuations(Store):
    """The port `WorkQueue` over the corpus file.

    A received event that is neither acknowledged nor failed becomes due again when its lease ends, or as soon as the
    process that received it has ended. After `max_attempts` it is a dead letter: stored with its last reason and not
    received again unless it is sent again. None waits longer than it was told to, whatever the clock said then.
    """

    def __init__(
        self,
        database: Database,
        clock: Callable[[], float] = time.time,
        max_attempts: int = MAX_ATTEMPTS,
        backoff: Backoff = BACKOFF,
    ) -> None:
        super().__init__(database, clock)
        self._max_attempts, self._backoff = max_attempts, backoff

    def send(self, event: dict[str, Any], delay_s: float = 0) -> None:
        text = json.dumps(event, sort_keys=True, separators=(",", ":"), ensure_ascii=False)  # equal events, equal texts
        with self._database.writing() as connection:
            connection.execute("DELETE FROM continuations WHERE event = ? AND state = 'dead'", (text,))
            connection.execute(
                "INSERT INTO continuations (event, state, due, waits, attempts) VALUES (?1, 'waiting', ?2, ?3, 0) "
                "ON CONFLICT (event) WHERE state = 'waiting' DO UPDATE SET due = min(due, ?2), waits = min(waits, ?3)",
                (text, self._clock() + delay_s, delay_s),
            )

    def receive(self, lease_s: float) -> tuple[str, dict[str, Any]] | None:
        """Lease the event that has been due longest for `lease_s` seconds; None if none is due.

        Returns (receipt, event). The receipt expires with the lease: once another receiver has the event, it does
        nothing.
        """
        now, presence = self._clock(), self._database.presence
        with self._database.writing() as connection:
            ahead = "UPDATE continuations SET due = ?1 + waits WHERE state <> 'dead' AND due > ?1 + waits"
            connection.execute(ahead, (now,))
            query = "SELECT DISTINCT process FROM continuations WHERE state = 'leased' AND due > ?"
            for (mark,) in connection.execute(query, (now,)).fetchall():
                if not presence.is_running(mark):
                    change = "UPDATE continuations SET due = ? WHERE state = 'leased' AND process = ?"
                    connection.execute(change, (now, mark))
            connection.execute(  # the event may be what kills its receivers
                "UPDATE continuations SET state = 'dead', reason = 'the receiver never answered' "
                "WHERE state = 'leased' AND due <= ? AND (unanswered + 1 >= ? OR attempts >= ?)",
                (now, MAX_UNANSWERED, self._max_attempts),
            )
            row = connection.execute(
                "UPDATE continuations SET unanswered = unanswered + (state = 'leased'), state = 'leased', due = ?, "
                "waits = ?, attempts = attempts + 1, process = ? WHERE id = ("
                "SELECT id FROM continuations WHERE state <> 'dead' AND due <= ? ORDER BY due, id LIMIT 1) "
                "RETURNING id, attempts, event",
                (now + lease_s, lease_s, presence.mark, now),
            ).fetchone()
        return (f"{row[0]}.{row[1]}", json.loads(row[2])) if row else None

    def ack(self, receipt: str) -> None:
        self._database.write(
            "DELETE FROM continuations WHERE id = ? AND attempts = ? AND state = 'leased'", _ids(receipt)
        )

    def fail(self, receipt: str, reason: str, *, retryable: bool = True, wait_s: float | None = None) -> float | None:
        with self._database.writing() as connection:
            row = connection.execute(
                "SELECT id, event, attempts FROM continuations WHERE id = ? AND attempts = ? AND state = 'leased'",
                _ids(receipt),
            ).fetchone()
            if row is None:
                return 0.0
            row_id, event, attempts = row
            if attempts >= self._max_attempts or not retryable:
                dying = "UPDATE continuations SET state = 'dead', reason = ?, due = ? WHERE id = ?"
                connection.execute(dying, (reason, self._clock(), row_id))
                return None
            wait_s = self._backoff.pause_s(attempts) if wait_s is None else wait_s
            waiting = "SELECT 1 FROM continuations WHERE event = ? AND state = 'waiting'"
            if connection.execute(waiting, (event,)).fetchone():  # an equal one is queued already
                connection.execute("DELETE FROM continuations WHERE id = ?", (row_id,))
            else:
                connection.execute(
                    "UPDATE continuations SET state = 'waiting', due = ?, waits = ?, reason = ?, unanswered = 0 "
                    "WHERE id = ?",
                    (self._clock() + wait_s, wait_s, reason, row_id),
                )
            return wait_s

    def hold(self, receipt: str, seconds: float) -> None:
        self._database.write(
            "UPDATE continuations SET due = ?, waits = ? WHERE id = ? AND attempts = ? AND state = 'leased'",
            (self._clock() + seconds, seconds, *_ids(receipt)),
        )

    def early_s(self, _attributes: Mapping[str, Mapping[str, Any]]) -> float:
        """0: no event is received before it is due."""
        return 0.0


class SqliteDeadLetters(Store):
    """The port `DeadLetters` over the corpus file. What is due of a dead letter is when it was given up."""

    def all(self) -> Sequence[Letter]:
        query = "SELECT id, event, reason, attempts, due FROM continuations WHERE state = 'dead' ORDER BY id"
        return [
            Letter(
                str(row_id), event, "queue work", "work", reason, attempts, failed_at=datetime.fromtimestamp(due, UTC)
            )
            for row_id, event, reason, attempts, due in self._database.rows(query)
        ]

    def held_elsewhere(self) -> int:
        """0: nobody holds any."""
        return 0

    def redrive(self, ids: Collection[str]) -> Sequence[str]:
        queue = SqliteContinuations(self._database, self._clock)
        chosen = [each for each in self.all() if each.letter_id in ids]
        for each in chosen:
            queue.send(json.loads(each.body))  # which deletes the letter in the same transaction
        return [each.letter_id for each in chosen]

    def delete(self, ids: Collection[str]) -> Sequence[str]:
        chosen = [each.letter_id for each in self.all() if each.letter_id in ids]
        with self._database.writing() as connection:
            deleting = "DELETE FROM continuations WHERE id = ? AND state = 'dead'"
            connection.executemany(deleting, [(int(each),) for each in chosen])
        return chosen


def _ids(receipt: str) -> tuple[int, int]:
    row, attempt = receipt.split(".")
    return int(row), int(attempt)


class SqliteLeases(Store):
    """The port `Leases` over the corpus file.

    The lease of a process that has ended is free at once, before it expires, whatever container the process ran in. One
    that was taken while the clock was ahead expires as long after another asks for it as it was taken for.
    """

    def acquire(self, name: str, holder: str, seconds: float) -> Hold | None:
        presence = self._database.presence
        with holding(None), self._database.writing() as connection:
            now = self._clock()
            query = "SELECT holder, expires, process, seconds, number FROM leases WHERE name = ?"
            lease = connection.execute(query, (name,)).fetchone()
            if lease and lease[0] not in ("", holder) and lease[1] > now and presence.is_running(lease[2]):
                ahead = "UPDATE leases SET expires = ?1 + seconds WHERE name = ?2 AND expires > ?1 + seconds"
                connection.execute(ahead, (now, name))
                return None
            number = (lease[4] + (lease[0] != holder)) if lease else 1
            row = (name, holder, now + seconds, presence.mark, seconds, number)
            connection.execute("INSERT OR REPLACE INTO leases VALUES (?, ?, ?, ?, ?, ?)", row)
            return Hold(name, number, self._database.holds)

    def take(self, name: str) -> Hold:
        with self._database.writing() as connection:
            taking = (
                "INSERT INTO leases (name, holder, expires, process, seconds, number) VALUES (?, '', 0, '', 0, 1) "
                "ON CONFLICT (name) DO UPDATE SET holder = '', expires = 0, number = number + 1 RETURNING number"
            )
            (number,) = connection.execute(taking, (name,)).fetchone()
        return Hold(name, number, self._database.holds)

    def release(self, name: str, holder: str) -> None:
        """End the lease; its number stays, and the next holder has the one after it."""
        with holding(None):
            self._database.write(
                "UPDATE leases SET holder = '', expires = 0 WHERE name = ? AND holder = ?", (name, holder)
            )


class SqliteNews(Store):
    """The port `News` over the corpus file.

    Entries are numbered within the transaction that writes them: one that is read never comes before one that was. An
    entry of the same kind, PMID and version is not entered twice.
    """

    def find(self, query_key: str, papers: Sequence[Found], *, first: bool = False) -> None:
        with self._database.writing() as connection:
            number, now = _number(connection, query_key), self._now()
            for each in papers:
                if connection.execute(
                    "INSERT OR IGNORE INTO found_papers VALUES (?, ?)", (query_key, key(each.pmid))
                ).rowcount:
                    place = 0 if first and each.at else number
                    entry = NewsEntry(each.at or now, ChangeKind.NEW, each.pmid, each.version, place)
                    _enter(connection, query_key, entry)

    def record(self, changes: Sequence[CorpusChange]) -> None:
        entered = [each for each in changes if each.kind is not ChangeKind.NEW]
        if not entered:
            return
        with self._database.writing() as connection:
            for each in entered:
                keys = "SELECT query_key FROM found_papers WHERE pmid = ? ORDER BY query_key"
                for (query_key,) in connection.execute(keys, (key(each.pmid),)).fetchall():
                    number = _number(connection, query_key)
                    _enter(connection, query_key, NewsEntry(self._now(), each.kind, each.pmid, each.version, number))
                if each.kind is ChangeKind.DELETED:
                    connection.execute("DELETE FROM found_papers WHERE pmid = ?", (key(each.pmid),))

    def since(self, query_key: str, after: str, limit: int, *, newest_first: bool = False) -> list[NewsEntry]:
        order, (position, time) = "DESC" if newest_first else "ASC", divided(after)
        behind = "position > ? AND (position < ? OR substr(position, ?) >= ?)"
        sql = f"SELECT position FROM news WHERE query_key = ? AND {behind} ORDER BY position {order} LIMIT ?"  # noqa: S608
        rows = self._database.rows(sql, (query_key, position, NUMBERED, TIME_AT, time, limit))
        return [entry_at(position) for (position,) in rows]

    def pmids(self, query_key: str) -> Iterator[str]:
        sql = "SELECT pmid FROM found_papers WHERE query_key = ? AND pmid > ? ORDER BY pmid LIMIT ?"
        for page in self._database.pages(sql, query_key):
            yield from (str(pmid) for (pmid,) in page)

    def is_whole(self, query_key: str) -> bool:
        return self._database.row("SELECT 1 FROM whole_queries WHERE query_key = ?", (query_key,)) is not None

    def set_whole(self, query_key: str) -> None:
        self._database.write("INSERT OR IGNORE INTO whole_queries VALUES (?)", (query_key,))

    def read_to(self, query_key: str, reader: str) -> str:
        sql = "SELECT position FROM read_news WHERE query_key = ? AND reader = ?"
        found = self._database.row(sql, (query_key, reader))
        return found[0] if found else ""

    def mark_read(self, query_key: str, reader: str, position: str) -> None:
        self._database.write(
            "INSERT INTO read_news VALUES (?, ?, ?) "
            "ON CONFLICT (query_key, reader) DO UPDATE SET position = max(position, excluded.position)",
            (query_key, reader, position),
        )

    def forget(self, query_key: str) -> None:
        with self._database.writing() as connection:
            for table in ("whole_queries", "found_papers", "news", "read_news"):
                connection.execute(f"DELETE FROM {table} WHERE query_key = ?", (query_key,))  # noqa: S608  our own names

    def _now(self) -> datetime:
        return datetime.fromtimestamp(self._clock(), UTC)


TIME_AT = 15  # where the time begins in a position with a number, counted from 1


def _number(connection: sqlite3.Connection, query_key: str) -> int:
    """The next number of a key's news."""
    sql = "INSERT INTO news_numbers VALUES (?, 1) ON CONFLICT (query_key) DO UPDATE SET number = number + 1"
    return int(connection.execute(f"{sql} RETURNING number", (query_key,)).fetchone()[0])


def _enter(connection: sqlite3.Connection, query_key: str, entry: NewsEntry) -> None:
    connection.execute(
        "INSERT OR IGNORE INTO news VALUES (?, ?, ?, ?, ?)",
        (query_key, entry.position, entry.kind.value, key(entry.pmid), entry.version),
    )

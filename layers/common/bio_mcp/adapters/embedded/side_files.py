"""SQLite files beside the corpus, for what may be lost: the corpus neither grows by them nor waits for them.

One may be deleted or replaced at any time, which whoever uses it notices at the next transaction. One that is damaged,
or has the schema of another version, is made anew. Whoever deletes `authorizations.sqlite3` signs everybody out and
ends every grant; whoever deletes `budgets.sqlite3` gives everybody a new budget.
"""

import json
import sqlite3
import threading
import time
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import fields
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from bio_mcp.adapters.embedded.database import READ, WITNESSES, WRITE, Connection, SqliteFile, connect, refused
from bio_mcp.adapters.stored import LONGEST_AUTHORIZATION_S, age_s
from bio_mcp.errors import NotFound, StoreFailed
from bio_mcp.literature.clock import sortable
from bio_mcp.ports.state import Allowance, Authorization, CallRecord, Charge
from bio_mcp.ports.stores import CacheEntry

BUSY_S = 1.0  # wait for another process's write; to do without costs less than a longer wait
LOG_BYTES = 16 << 20
LARGEST_SHARE = 8  # one value of a limited file may take an eighth of it
USELESS = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR}  # SQLITE_ERROR: another schema


class SideFile(SqliteFile):
    """A file in `directory`, which one thread at a time uses. `what` names it in failures, `version` its
    `schema`. `clock` returns seconds since 1970.

    Threads may share it, and processes the file; unless it is `durable`, the last writes may be lost in a power cut.
    """

    file: str
    what: str
    schema: str
    version = 1
    durable = False
    journal = "WAL"
    busy_s = BUSY_S

    def __init__(self, directory: Path, clock: Callable[[], float] = time.time) -> None:
        super().__init__(directory / self.file)
        self._clock = clock
        self._lock = threading.Lock()
        self._unusable = f"The file of {self.what} cannot be used at the moment."

    def close(self) -> None:
        """Close the file; the next use reopens it."""
        with self._lock:
            super().close()

    @contextmanager
    def transaction(self, begin: str) -> Iterator[Connection]:
        """A transaction that commits at the end of the block. Raises `StoreFailed`, also for a write into a file that
        was replaced meanwhile."""
        replaced = f"The file of {self.what} was replaced while it was written, and may not hold that; repeat the call."
        with self._lock:
            try:
                with self._connected(begin, partial(StoreFailed, replaced)) as connection:
                    yield connection
            except (sqlite3.Error, OSError) as error:
                super().close()
                if getattr(error, "sqlite_errorcode", 0) & 0xFF in USELESS:
                    self._delete()
                raise refused(error, self._unusable, retryable=True) from error

    def _connect(self) -> Connection:
        """Open the file, and create its tables, in place of those of another version."""
        try:
            connection = connect(self._path, self.busy_s)
        except StoreFailed as failure:  # whose words are about the corpus
            raise StoreFailed(self._unusable) from failure
        with ExitStack() as failed:
            failed.callback(connection.close)
            version = "PRAGMA user_version"
            connection.execute(f"PRAGMA journal_mode = {self.journal}")
            connection.execute(f"PRAGMA synchronous = {'FULL' if self.durable else 'OFF'}")
            connection.execute(f"PRAGMA journal_size_limit = {LOG_BYTES}")
            if connection.execute(version).fetchone() != (self.version,):
                connection.execute(WRITE)
                if connection.execute(version).fetchone() != (self.version,):
                    tables = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall()
                    dropped = [f"DROP TABLE {table}" for (table,) in tables]
                    made = filter(str.strip, self.schema.split(";\n"))
                    for statement in [*dropped, *made, f"PRAGMA user_version = {self.version}"]:
                        connection.execute(statement)
                connection.execute("COMMIT")
            failed.pop_all()
        return connection

    def _delete(self) -> None:
        try:
            for suffix in ("", "-wal", "-shm", "-journal"):
                Path(f"{self._path}{suffix}").unlink(missing_ok=True)
        except OSError as error:
            raise StoreFailed(
                f"The file of {self.what} is damaged and cannot be removed: delete {self._path.name}."
            ) from error


def _shrink(connection: sqlite3.Connection, limit: int, oldest: str) -> None:
    """Delete the `oldest` rows, some at a time, until the file has at most `limit` bytes in use."""
    deleted = 1
    while deleted > 0:
        pages, free, size = (
            connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "freelist_count", "page_size")
        )
        if (pages - free) * size <= limit:
            return
        deleted = connection.execute(f"DELETE FROM {oldest}").rowcount  # noqa: S608  ours


COLUMNS = "kind, key, owner, expires, content"
LIVE = "expires > ? AND expires <= ?"
MOST_AUTHORIZATIONS = 10_000  # above them those that have expired are deleted


class SqliteAuthorizations(SideFile):
    """The port `Authorizations` in `directory`. `clock` returns seconds since 1970.

    Threads may share an instance, and processes the file; a commit survives a power cut. What has expired is not found,
    and deleted where there are many: a clock that is ahead for a while ends none for good.
    """

    file, what = "authorizations.sqlite3", "authorizations"
    durable = True
    schema = """
        CREATE TABLE authorizations (
            kind TEXT NOT NULL, key TEXT NOT NULL, owner TEXT NOT NULL, expires REAL NOT NULL, content TEXT NOT NULL,
            PRIMARY KEY (kind, key)
        ) WITHOUT ROWID;
        CREATE INDEX authorizations_by_owner ON authorizations (owner, kind);
        CREATE INDEX authorizations_by_expiry ON authorizations (expires);
    """

    def put(self, authorization: Authorization, *, new: bool = False) -> bool:
        each, content = authorization, json.dumps(dict(authorization.content), ensure_ascii=False)
        row = (each.kind, each.key, each.owner, each.expires.timestamp(), content)
        with self.transaction(WRITE) as connection:
            if connection.execute("SELECT count(*) > ? FROM authorizations", (MOST_AUTHORIZATIONS,)).fetchone()[0]:
                connection.execute("DELETE FROM authorizations WHERE expires <= ?", (self._clock(),))
            if new:
                there = f"SELECT 1 FROM authorizations WHERE kind = ? AND key = ? AND {LIVE}"  # noqa: S608
                if connection.execute(there, (each.kind, each.key, *self._bounds())).fetchone():
                    return False
            statement = f"INSERT OR REPLACE INTO authorizations ({COLUMNS}) VALUES (?, ?, ?, ?, ?)"  # noqa: S608
            return connection.execute(statement, row).rowcount > 0

    def get(self, kind: str, key: str) -> Authorization | None:
        found = self._live(READ, f"SELECT {COLUMNS} FROM authorizations WHERE kind = ? AND key = ?", kind, key)  # noqa: S608
        return found[0] if found else None

    def take(self, kind: str, key: str) -> Authorization | None:
        sql = "DELETE FROM authorizations WHERE kind = ? AND key = ?"
        found = self._live(WRITE, sql, kind, key, f"RETURNING {COLUMNS}")
        return found[0] if found else None

    def of(self, kind: str, owner: str) -> list[Authorization]:
        sql = f"SELECT {COLUMNS} FROM authorizations WHERE kind = ? AND owner = ?"  # noqa: S608  constants
        return self._live(READ, sql, kind, owner, "ORDER BY key")

    def _live(self, begin: str, sql: str, kind: str, value: str, end: str = "") -> list[Authorization]:
        """Those that have not expired of the rows that a statement with two values gives."""
        with self.transaction(begin) as connection:
            rows = connection.execute(f"{sql} AND {LIVE} {end}", (kind, value, *self._bounds())).fetchall()
        return [
            Authorization(kind, key, owner, datetime.fromtimestamp(expires, UTC), json.loads(content))
            for kind, key, owner, expires, content in rows
        ]

    def revoke(self, owner: str) -> int:
        with self.transaction(WRITE) as connection:
            live = f"SELECT count(*) FROM authorizations WHERE owner = ? AND {LIVE}"  # noqa: S608
            count = int(connection.execute(live, (owner, *self._bounds())).fetchone()[0])
            connection.execute("DELETE FROM authorizations WHERE owner = ?", (owner,))
            return count

    def _bounds(self) -> tuple[float, float]:
        """Between which what is valid expires: what lasts longer than any was made while the clock was ahead."""
        now = self._clock()
        return now, now + LONGEST_AUTHORIZATION_S


class SqliteBudgets(SideFile):
    """The port `Budgets` in `directory`. `clock` returns seconds since 1970.

    Threads may share an instance, and processes the file; the last charges may be lost in a power cut.
    """

    file, what = "budgets.sqlite3", "budgets"
    schema = """
        CREATE TABLE spent (
            account TEXT NOT NULL, unit TEXT NOT NULL, seconds INTEGER NOT NULL, ends REAL NOT NULL,
            amount INTEGER NOT NULL, PRIMARY KEY (account, unit, seconds)
        ) WITHOUT ROWID;
        CREATE INDEX spent_by_end ON spent (ends);
    """

    def spend(self, charges: Sequence[Charge]) -> list[Allowance]:
        now = self._clock()
        ends = [(now // each.seconds + 1) * each.seconds for each in charges]  # periods are counted from 1970
        with self.transaction(WRITE) as connection:
            other = "DELETE FROM spent WHERE ends <= ?1 OR ends > ?1 + seconds"  # also of a clock that was ahead
            connection.execute(other, (now,))
            after = before = [_spent(connection, each) for each in charges]
            granted = all(
                each.amount <= 0 or spent + each.amount <= each.most
                for each, spent in zip(charges, before, strict=True)
            )
            if granted:
                connection.executemany(
                    "INSERT INTO spent VALUES (?1, ?2, ?3, ?4, max(0, ?5)) "
                    "ON CONFLICT DO UPDATE SET amount = max(0, amount + ?5)",
                    [
                        (each.account, each.unit, each.seconds, end, each.amount)
                        for each, end in zip(charges, ends, strict=True)
                    ],
                )
                after = [_spent(connection, each) for each in charges]
        return [
            Allowance(each, granted, max(0, each.most - spent), end - now)
            for each, spent, end in zip(charges, after, ends, strict=True)
        ]


def _spent(connection: sqlite3.Connection, charge: Charge) -> int:
    sql = "SELECT amount FROM spent WHERE account = ? AND unit = ? AND seconds = ?"
    row = connection.execute(sql, (charge.account, charge.unit, charge.seconds)).fetchone()
    return row[0] if row else 0


class SqliteCache(SideFile):
    """The port `Cache` in `directory`. `clock` returns seconds since 1970; the file has some `megabytes`.

    Threads may share an instance, and processes the file. The least recently written values are evicted first; the last
    writes may be lost in a power cut.
    """

    file, what = "cache.sqlite3", "the cache"
    version = 2
    schema = """
        CREATE TABLE answers (key TEXT PRIMARY KEY, value BLOB NOT NULL, stored REAL NOT NULL, expires REAL NOT NULL);
        CREATE INDEX answers_by_age ON answers (stored);
        CREATE INDEX answers_by_expiry ON answers (expires);
    """

    def __init__(self, directory: Path, megabytes: int, clock: Callable[[], float] = time.time) -> None:
        super().__init__(directory, clock)
        self._limit = megabytes << 20

    def get(self, keys: Sequence[str]) -> dict[str, CacheEntry]:
        now, query = self._clock(), "SELECT * FROM answers WHERE key IN (SELECT value FROM json_each(?))"
        with self.transaction(READ) as connection:
            rows = connection.execute(query, (json.dumps(list(keys)),)).fetchall()
        return {
            key: CacheEntry(value, age)
            for key, value, stored, expires in rows
            if (age := age_s(stored, expires, now)) is not None
        }

    def put(self, values: Mapping[str, bytes], lifetime_s: float) -> None:
        now = self._clock()
        fitting = [(key, value) for key, value in values.items() if len(value) <= self._limit // LARGEST_SHARE]
        with self.transaction(WRITE) as connection:
            connection.execute("DELETE FROM answers WHERE expires <= ?", (now,))
            rows = [(key, value, now, now + lifetime_s) for key, value in fitting]
            connection.executemany("INSERT OR REPLACE INTO answers VALUES (?, ?, ?, ?)", rows)
            _shrink(connection, self._limit, "answers WHERE key IN (SELECT key FROM answers ORDER BY stored LIMIT 64)")


NAMES = tuple(each.name for each in fields(CallRecord) if each.name != "read")


class SqliteCalls(SideFile):
    """The port `Calls` in `directory`, for `days`. `clock` returns seconds since 1970.

    One that has expired is deleted when the last `WITNESSES` were all made later, and is not found before. The oldest
    are deleted early where the file would have more than `megabytes`. They are numbered by the rows of the table.
    """

    file, what = "calls.sqlite3", "the log of calls"
    schema = """
        CREATE TABLE calls (
            correlation_id TEXT PRIMARY KEY, at TEXT NOT NULL, expires REAL NOT NULL, call BLOB NOT NULL,
            read BLOB NOT NULL
        );
        CREATE INDEX calls_by_expiry ON calls (expires);
    """

    def __init__(self, directory: Path, days: int, megabytes: int, clock: Callable[[], float] = time.time) -> None:
        super().__init__(directory, clock)
        self._days, self._limit = days, megabytes << 20

    def record(self, call: CallRecord) -> None:
        columns = {name: getattr(call, name) for name in NAMES} | {"at": sortable(call.at), "inputs": dict(call.inputs)}
        row, now = zlib.compress(json.dumps(columns).encode(), 1), self._clock()
        if len(row) + len(call.read) > self._limit // LARGEST_SHARE:
            return
        values = (call.correlation_id, sortable(call.at), now + self._days * 86_400, row, call.read)
        with self.transaction(WRITE) as connection:
            connection.execute("INSERT OR IGNORE INTO calls VALUES (?, ?, ?, ?, ?)", values)
            last = "SELECT min(expires) - ? FROM (SELECT expires FROM calls ORDER BY rowid DESC LIMIT ?)"
            connection.execute(f"DELETE FROM calls WHERE expires <= ({last})", (self._days * 86_400, WITNESSES))  # noqa: S608
            oldest = "calls WHERE rowid IN (SELECT rowid FROM calls ORDER BY rowid LIMIT 32)"
            _shrink(connection, self._limit, oldest)

    def get(self, correlation_id: str) -> CallRecord:
        if found := self._calls("call, read", "correlation_id = ?", correlation_id):
            return found[0]
        raise NotFound(f"There is no call {correlation_id!r} in the log, which has the calls of {self._days} days")

    def latest(self, limit: int) -> list[CallRecord]:
        return self._calls("call, x''", "TRUE ORDER BY number DESC LIMIT ?", limit)

    def _calls(self, columns: str, wanted: str, value: str | int) -> list[CallRecord]:
        live = f"(SELECT rowid AS number, * FROM calls WHERE expires > {self._clock()!r})"  # noqa: S608  a number
        with self.transaction(READ) as connection:
            sql = f"SELECT {columns} FROM {live} WHERE {wanted}"  # noqa: S608  our own words
            rows = connection.execute(sql, (value,)).fetchall()
        unpacked = ((json.loads(zlib.decompress(packed)), read) for packed, read in rows)
        return [CallRecord(**{**call, "at": datetime.fromisoformat(call["at"])}, read=read) for call, read in unpacked]

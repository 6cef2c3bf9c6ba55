"""Papers of query keys and their news, in the corpus file."""

import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta

from bio_mcp.adapters.embedded.database import Database
from bio_mcp.adapters.news import entry_at
from bio_mcp.adapters.pmids import key
from bio_mcp.literature.changes import ChangeKind, CorpusChange
from bio_mcp.ports.news import Found, NewsEntry

PAGE = 1_000  # PMIDs listed in one transaction


class SqliteNews:
    """The port `News` over the corpus file. `clock` returns seconds since 1970.

    Entries are stamped within the transaction that writes them, later than any other: one that is read never comes
    before one that was. An entry of the same kind, PMID and version is not entered twice.
    """

    def __init__(self, database: Database, clock: Callable[[], float] = time.time) -> None:
        self._database, self._clock = database, clock

    def find(self, query_key: str, papers: Sequence[Found]) -> None:
        with self._database.writing() as connection:
            now = self._stamp(connection, query_key)
            for each in papers:
                if connection.execute(
                    "INSERT OR IGNORE INTO found_papers VALUES (?, ?)", (query_key, key(each.pmid))
                ).rowcount:
                    _enter(connection, query_key, NewsEntry(each.at or now, ChangeKind.NEW, each.pmid, each.version))

    def record(self, changes: Sequence[CorpusChange]) -> None:
        entered = [each for each in changes if each.kind is not ChangeKind.NEW]
        if not entered:
            return
        with self._database.writing() as connection:
            for each in entered:
                for query_key in _keys_of(connection, each.pmid):
                    now = self._stamp(connection, query_key)
                    _enter(connection, query_key, NewsEntry(now, each.kind, each.pmid, each.version))
                if each.kind is ChangeKind.DELETED:
                    connection.execute("DELETE FROM found_papers WHERE pmid = ?", (key(each.pmid),))

    def since(self, query_key: str, after: str, limit: int) -> list[NewsEntry]:
        return self._entries("position > ? ORDER BY position LIMIT ?", query_key, after, limit)

    def latest(self, query_key: str, limit: int) -> list[NewsEntry]:
        return self._entries("TRUE ORDER BY position DESC LIMIT ?", query_key, limit)

    def pmids(self, query_key: str) -> Iterator[str]:
        last = -1
        while True:
            with self._database.reading() as connection:
                page = connection.execute(
                    "SELECT pmid FROM found_papers WHERE query_key = ? AND pmid > ? ORDER BY pmid LIMIT ?",
                    (query_key, last, PAGE),
                ).fetchall()
            if not page:
                return
            yield from (str(pmid) for (pmid,) in page)
            last = page[-1][0]

    def is_whole(self, query_key: str) -> bool:
        with self._database.reading() as connection:
            rows = connection.execute("SELECT 1 FROM whole_queries WHERE query_key = ?", (query_key,))
            return rows.fetchone() is not None

    def set_whole(self, query_key: str) -> None:
        with self._database.writing() as connection:
            connection.execute("INSERT OR IGNORE INTO whole_queries VALUES (?)", (query_key,))

    def forget(self, query_key: str) -> None:
        with self._database.writing() as connection:
            for table in ("whole_queries", "found_papers", "news"):
                connection.execute(f"DELETE FROM {table} WHERE query_key = ?", (query_key,))  # noqa: S608  our own names

    def _entries(self, condition: str, *values: str | int) -> list[NewsEntry]:
        with self._database.reading() as connection:
            rows = connection.execute(
                f"SELECT position FROM news WHERE query_key = ? AND {condition}",  # noqa: S608  our own words
                values,
            ).fetchall()
        return [entry_at(position) for (position,) in rows]

    def _stamp(self, connection: sqlite3.Connection, query_key: str) -> datetime:
        """The time it is, or the next microsecond after the newest entry."""
        now = datetime.fromtimestamp(self._clock(), UTC)
        row = connection.execute(
            "SELECT position FROM news WHERE query_key = ? ORDER BY position DESC LIMIT 1", (query_key,)
        ).fetchone()
        return max(now, entry_at(row[0]).at + timedelta(microseconds=1)) if row else now


def _keys_of(connection: sqlite3.Connection, pmid: str) -> list[str]:
    rows = connection.execute("SELECT query_key FROM found_papers WHERE pmid = ? ORDER BY query_key", (key(pmid),))
    return [query_key for (query_key,) in rows.fetchall()]


def _enter(connection: sqlite3.Connection, query_key: str, entry: NewsEntry) -> None:
    connection.execute(
        "INSERT OR IGNORE INTO news VALUES (?, ?, ?, ?, ?)",
        (query_key, entry.position, entry.kind.value, key(entry.pmid), entry.version),
    )

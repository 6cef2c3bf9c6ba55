"""Articles, in the corpus file."""

import json
import sqlite3
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date, timedelta
from functools import lru_cache
from typing import Any

from bio_mcp.adapters.embedded.database import Database
from bio_mcp.adapters.embedded.paper_identifiers import delete_identifiers, pmids_of, write_identifiers
from bio_mcp.adapters.papers import OLD_VERSIONS, Codec, unknown_paper, unknown_version, utc_day
from bio_mcp.adapters.pmids import key, number, numbers
from bio_mcp.literature.records import Article, Document, Head
from bio_mcp.ports.stores import StoredDay

PAGE = 1_000  # PMIDs listed in one transaction


class SqliteDocuments:
    """The port `Documents` over the corpus file. `codec` turns articles into bytes and back. `clock` returns seconds
    since 1970."""

    def __init__(self, database: Database, codec: Codec, clock: Callable[[], float] = time.time) -> None:
        self._database = database
        self._clock = clock
        self._codec = codec
        self._read = lru_cache(maxsize=1024)(codec.loads)  # keyed by the bytes, so never a stale version (some 10 MB)

    def get(self, pmid: str) -> Document:
        documents = self.get_many([pmid])
        if pmid not in documents:
            raise unknown_paper(pmid)
        return documents[pmid]

    def get_many(self, pmids: Sequence[str]) -> dict[str, Document]:
        with self._database.reading() as connection:
            rows = list(
                _selected(
                    connection,
                    "SELECT pmid, article, content_hash, version, indexed_version "
                    "FROM heads JOIN articles USING (pmid) WHERE pmid IN (SELECT value FROM json_each(?))",
                    pmids,
                )
            )
        return {str(row[0]): Document(self._read(row[1]), *row[2:]) for row in rows}

    def heads(self, pmids: Sequence[str]) -> dict[str, Head]:
        with self._database.reading() as connection:
            rows = _selected(
                connection,
                "SELECT pmid, content_hash, version, indexed_version, pmid_version, date_revised "
                "FROM heads WHERE pmid IN (SELECT value FROM json_each(?))",
                pmids,
            )
            return {str(row[0]): Head(row[1], row[2], row[3], row[4], _day(row[5])) for row in rows}

    def resolve(self, identifiers: Sequence[str]) -> dict[str, str]:
        with self._database.reading() as connection:
            return pmids_of(connection, identifiers)

    def put(self, documents: Sequence[Document]) -> None:
        rows = [(key(document.article.pmid), self._codec.dumps(document.article), document) for document in documents]
        with self._database.writing() as connection:
            counts, written = Counter[bool](), dict[int, Article]()
            for pmid, article, document in rows:
                replaces = document.version > 1 and _store_replaced(connection, pmid, document.version)
                if _put_head(connection, pmid, document):
                    connection.execute("INSERT OR REPLACE INTO articles VALUES (?, ?)", (pmid, article))
                    written[pmid] = document.article
                    counts[replaces] += 1
            if written:
                write_identifiers(connection, written)
                _count_stored(connection, utc_day(self._clock()), counts[False], counts[True])

    def at_version(self, pmid: str, version: int) -> Document:
        with self._database.reading() as connection:
            [pmid_number] = numbers([pmid]) or [-1]
            row = connection.execute(
                "SELECT article, content_hash FROM heads JOIN articles USING (pmid) WHERE pmid = ?1 AND version = ?2 "
                "UNION ALL SELECT article, content_hash FROM old_articles WHERE pmid = ?1 AND version = ?2",
                (pmid_number, version),
            ).fetchone()
        if row is None:
            raise unknown_version(pmid, version)
        return Document(self._read(row[0]), row[1], version)

    def mark_indexed(self, versions: Mapping[str, int]) -> None:
        with self._database.writing() as connection:
            connection.executemany(
                "UPDATE heads SET indexed_version = ?2 WHERE pmid = ?1 AND indexed_version < ?2",
                [(number(pmid), version) for pmid, version in versions.items()],
            )

    def delete(self, pmids: Sequence[str]) -> int:
        wanted = [(n,) for n in numbers(pmids)]
        with self._database.writing() as connection:
            connection.executemany("DELETE FROM articles WHERE pmid = ?", wanted)
            connection.executemany("DELETE FROM old_articles WHERE pmid = ?", wanted)
            delete_identifiers(connection, numbers(pmids))
            return connection.executemany("DELETE FROM heads WHERE pmid = ?", wanted).rowcount if wanted else 0

    def count(self) -> int:
        with self._database.reading() as connection:
            total: int = connection.execute("SELECT count(*) FROM heads").fetchone()[0]
            return total

    def stored_by_day(self, days: int) -> list[StoredDay]:
        first = utc_day(self._clock()) - timedelta(days=days - 1)
        with self._database.reading() as connection:
            rows = connection.execute(
                "SELECT day, added, revised FROM paper_days WHERE day >= ? ORDER BY day", (first.isoformat(),)
            ).fetchall()
        return [StoredDay(date.fromisoformat(day), added, revised) for day, added, revised in rows]

    def pmids(self) -> Iterator[str]:
        last = -1
        while True:
            with self._database.reading() as connection:
                page = connection.execute(
                    "SELECT pmid FROM heads WHERE pmid > ? ORDER BY pmid LIMIT ?", (last, PAGE)
                ).fetchall()
            if not page:
                return
            yield from (str(pmid) for (pmid,) in page)
            last = page[-1][0]


def _selected(connection: sqlite3.Connection, sql: str, pmids: Sequence[str]) -> Iterator[tuple[Any, ...]]:
    return connection.execute(sql, (json.dumps(numbers(pmids)),))


def _count_stored(connection: sqlite3.Connection, day: date, added: int, revised: int) -> None:
    connection.execute(
        "INSERT INTO paper_days VALUES (?, ?, ?) ON CONFLICT (day) DO UPDATE SET "
        "added = added + excluded.added, revised = revised + excluded.revised",
        (day.isoformat(), added, revised),
    )


def _store_replaced(connection: sqlite3.Connection, pmid: int, version: int) -> bool:
    """Store the record that `version` will replace, if it does, among the old ones; returns whether it does."""
    stored = connection.execute(
        "INSERT OR IGNORE INTO old_articles SELECT pmid, version, content_hash, article "
        "FROM heads JOIN articles USING (pmid) WHERE pmid = ? AND version < ?",
        (pmid, version),
    )
    if stored.rowcount:
        connection.execute(
            "DELETE FROM old_articles WHERE pmid = ?1 AND version <= "
            "(SELECT version FROM old_articles WHERE pmid = ?1 ORDER BY version DESC LIMIT 1 OFFSET ?2)",
            (pmid, OLD_VERSIONS),
        )
    return stored.rowcount > 0


def _put_head(connection: sqlite3.Connection, pmid: int, document: Document) -> bool:
    """Write the head if its version is above the stored one; returns whether it was written."""
    revised = document.article.date_revised
    return (
        connection.execute(
            "INSERT INTO heads VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (pmid) DO UPDATE SET "
            "content_hash = excluded.content_hash, version = excluded.version, "
            "indexed_version = max(indexed_version, excluded.indexed_version), "
            "pmid_version = excluded.pmid_version, date_revised = excluded.date_revised "
            "WHERE excluded.version > version",
            (
                pmid,
                document.content_hash,
                document.version,
                document.indexed_version,
                document.article.pmid_version,
                revised.isoformat() if revised else None,
            ),
        ).rowcount
        > 0
    )


def _day(text: str | None) -> date | None:
    return date.fromisoformat(text) if text else None

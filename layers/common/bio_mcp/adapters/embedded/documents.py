"""Articles and their identifiers, in the corpus file."""

import json
import sqlite3
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, timedelta
from functools import lru_cache
from typing import Any

from bio_mcp.adapters.embedded.database import Store
from bio_mcp.adapters.stored import OLD_VERSIONS, key, number, numbers, unknown_paper, unknown_version, utc_day
from bio_mcp.literature import serial
from bio_mcp.literature.identifiers import paper_identifiers
from bio_mcp.literature.records import Article, Document, Head, Tombstone
from bio_mcp.ports.stores import StoredDay

_read = lru_cache(maxsize=1024)(serial.loads)  # keyed by the bytes, so never a stale version (some 10 MB)


class SqliteDocuments(Store):
    """The port `Documents` over the corpus file."""

    def get(self, pmid: str) -> Document:
        documents = self.get_many([pmid])
        if pmid not in documents:
            raise unknown_paper(pmid)
        return documents[pmid]

    def get_many(self, pmids: Sequence[str]) -> dict[str, Document]:
        columns = "pmid, article, content_hash, version, indexed_version"
        rows = self._selected(columns, "heads JOIN articles USING (pmid)", pmids)
        return {str(pmid): Document(_read(article), *others) for pmid, article, *others in rows}

    def heads(self, pmids: Sequence[str]) -> dict[str, Head]:
        return _heads(self._selected(HEAD, "heads", pmids))

    def standing(self, pmids: Sequence[str]) -> tuple[dict[str, Head], dict[str, Tombstone]]:
        wanted = (json.dumps(numbers(pmids)),)
        with self._database.reading() as connection:
            heads = _heads(connection.execute(AMONG.format(HEAD, "heads"), wanted).fetchall())
            gone = connection.execute(AMONG.format("*", "gone"), wanted).fetchall()
        found = {str(pmid): Tombstone(at, known, _day(revised), *rest) for pmid, at, known, revised, *rest in gone}
        return heads, {pmid: each for pmid, each in found.items() if pmid not in heads}

    def deletions(self) -> int:
        return int(self._database.row("SELECT coalesce(max(number), 0) FROM gone")[0])

    def tombstones(self) -> Iterator[tuple[str, int]]:
        sql = "SELECT pmid, version FROM gone WHERE pmid > ? AND pmid NOT IN (SELECT pmid FROM heads) "
        for page in self._database.pages(f"{sql} ORDER BY pmid LIMIT ?"):
            yield from ((str(pmid), version) for pmid, version in page)

    def resolve(self, identifiers: Sequence[str]) -> dict[str, str]:
        rows = self._database.rows(
            "SELECT identifier, min(pmid) FROM paper_identifiers WHERE identifier IN (SELECT value FROM json_each(?)) "
            "GROUP BY identifier",
            (json.dumps(list(identifiers)),),
        )
        return {identifier: str(pmid) for identifier, pmid in rows}

    def put(self, documents: Sequence[Document]) -> set[str]:
        refused = set[str]()
        rows = [(key(document.article.pmid), serial.dumps(document.article), document) for document in documents]
        with self._database.writing() as connection:
            counts, written = Counter[bool](), dict[int, Article]()
            for pmid, article, document in rows:
                replaces = document.version > 1 and _store_replaced(connection, pmid, document.version)
                if _put_head(connection, pmid, document):
                    connection.execute("INSERT OR REPLACE INTO articles VALUES (?, ?)", (pmid, article))
                    written[pmid] = document.article
                    counts[replaces] += 1
                elif not _stands(connection, pmid, document):
                    refused.add(document.article.pmid)
            if written:
                connection.delete_among("paper_identifiers", "pmid", written)
                named = sorted((each, pmid) for pmid, article in written.items() for each in paper_identifiers(article))
                connection.executemany("INSERT INTO paper_identifiers VALUES (?, ?)", named)
                connection.execute(
                    "INSERT INTO paper_days VALUES (?, ?, ?) ON CONFLICT (day) DO UPDATE SET "
                    "added = added + excluded.added, revised = revised + excluded.revised",
                    (utc_day(self._clock()).isoformat(), counts[False], counts[True]),
                )
        return refused

    def at_version(self, pmid: str, version: int) -> Document:
        row = self._database.row(
            "SELECT article, content_hash FROM heads JOIN articles USING (pmid) WHERE pmid = ?1 AND version = ?2 "
            "UNION ALL SELECT article, content_hash FROM old_articles WHERE pmid = ?1 AND version = ?2",
            (number(pmid), version),
        )
        if row is None:
            raise unknown_version(pmid, version)
        return Document(_read(row[0]), row[1], version)

    def mark_indexed(self, versions: Mapping[str, int]) -> None:
        with self._database.writing() as connection:
            connection.executemany(
                "UPDATE heads SET indexed_version = ?2 WHERE pmid = ?1 AND indexed_version < ?2",
                [(number(pmid), version) for pmid, version in versions.items()],
            )

    def mark_given(self, pmids: Sequence[str], place: int) -> None:
        with self._database.writing() as connection:
            sql = "UPDATE heads SET given = ?2 WHERE pmid = ?1 AND given < ?2"
            connection.executemany(sql, [(each, place) for each in numbers(pmids)])

    def delete(self, tombstones: Mapping[str, Tombstone]) -> set[str]:
        rows = {number: tombstones[str(number)] for number in numbers(list(tombstones))}
        with self._database.writing() as connection:
            last = connection.execute("SELECT coalesce(max(number), 0) + 1 FROM gone").fetchone()[0]
            newer = "SELECT 1 FROM heads WHERE pmid = ? AND version > ?"
            stay = {pmid for pmid, each in rows.items() if connection.execute(newer, (pmid, each.version)).fetchone()}
            gone = rows.keys() - stay
            for table in ("articles", "old_articles", "paper_identifiers", "heads"):
                connection.delete_among(table, "pmid", gone)
            connection.executemany(
                "INSERT INTO gone VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (pmid) DO UPDATE SET "
                "(version, pmid_version, date_revised, place, number) = (excluded.version, excluded.pmid_version, "
                "excluded.date_revised, excluded.place, excluded.number) WHERE excluded.version >= version",
                [(each, *_tombstone_row(rows[each]), last) for each in sorted(gone)],
            )
        return set(map(str, stay))

    def count(self) -> int:
        return int(self._database.row("SELECT count(*) FROM heads")[0])

    def stored_by_day(self, days: int) -> list[StoredDay]:
        first = utc_day(self._clock()) - timedelta(days=days - 1)
        rows = self._database.rows(
            "SELECT day, added, revised FROM paper_days WHERE day BETWEEN ? AND ? ORDER BY day",
            (first.isoformat(), (first + timedelta(days=days - 1)).isoformat()),
        )
        return [StoredDay(date.fromisoformat(day), added, revised) for day, added, revised in rows]

    def pmids(self) -> Iterator[str]:
        for page in self._database.pages("SELECT pmid FROM heads WHERE pmid > ? ORDER BY pmid LIMIT ?"):
            yield from (str(pmid) for (pmid,) in page)

    def _selected(self, columns: str, tables: str, pmids: Sequence[str]) -> list[Any]:
        return self._database.rows(AMONG.format(columns, tables), (json.dumps(numbers(pmids)),))


HEAD = (
    "pmid, content_hash, version, indexed_version, pmid_version, date_revised, "
    "coalesce((SELECT place FROM gone WHERE gone.pmid = heads.pmid), 0), given"
)
AMONG = "SELECT {} FROM {} WHERE pmid IN (SELECT value FROM json_each(?))"


def _heads(rows: Sequence[Any]) -> dict[str, Head]:
    return {
        str(pmid): Head(content, version, indexed, pmid_version, _day(revised), *places)
        for pmid, content, version, indexed, pmid_version, revised, *places in rows
    }


def _day(text: str | None) -> date | None:
    return date.fromisoformat(text) if text else None


def _tombstone_row(each: Tombstone) -> tuple[int, int, str | None, int]:
    day = each.date_revised.isoformat() if each.date_revised else None
    return each.version, each.pmid_version, day, each.place


def _stands(connection: sqlite3.Connection, pmid: int, document: Document) -> bool:
    """Whether the stored document is this one."""
    row = connection.execute("SELECT version, content_hash FROM heads WHERE pmid = ?", (pmid,)).fetchone()
    return bool(row == (document.version, document.content_hash))


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
    """Write the head if its version is above the stored one, and above the tombstone's; returns whether it was
    written."""
    revised = document.article.date_revised
    day = revised.isoformat() if revised else None
    indexed, pmid_version = document.indexed_version, document.article.pmid_version
    written = connection.execute(
        "INSERT INTO heads SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7 "
        "WHERE NOT EXISTS (SELECT 1 FROM gone WHERE pmid = ?1 AND version >= ?3) ON CONFLICT (pmid) DO UPDATE SET "
        "content_hash = excluded.content_hash, version = excluded.version, "
        "indexed_version = max(indexed_version, excluded.indexed_version), "
        "pmid_version = excluded.pmid_version, date_revised = excluded.date_revised, given = excluded.given "
        "WHERE excluded.version > version",
        (pmid, document.content_hash, document.version, indexed, pmid_version, day, document.given),
    )
    return written.rowcount > 0

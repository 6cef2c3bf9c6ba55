"""The indexes of the papers: that of the corpus file, and others in corpus files below `indexes`, searched in memory.

The table `indexes` of the corpus file says which is which: one transaction there switches every process. A directory
is never used twice, so that a slow writer cannot reach another index.
"""

import json
import shutil
import sqlite3
from collections.abc import Collection, Iterator, Mapping, Sequence
from copy import copy
from functools import partial
from secrets import token_hex
from threading import Lock
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from bio_mcp.adapters.embedded.boolean import number_of, papers_of, words_like
from bio_mcp.adapters.embedded.database import DAMAGED, Database
from bio_mcp.adapters.embedded.field_rows import NOT_LOOKED_UP, clear_fields, delete_fields
from bio_mcp.adapters.embedded.live_index import NAME as INDEX_FILE
from bio_mcp.adapters.embedded.live_index import Conditions, LiveIndex, Papers, Snapshot, search
from bio_mcp.adapters.embedded.paper_rows import (
    STORED_VERSIONS,
    PaperRows,
    Row,
    read_vectors,
    stored_chunks,
    stored_rows,
    vectors_by_text,
    write_entries,
)
from bio_mcp.adapters.embedded.vector_search import Sizes
from bio_mcp.adapters.indexes import back_from, check_begun, check_entries, other_index_model, unknown_role
from bio_mcp.adapters.stored import numbers
from bio_mcp.errors import IndexUnavailable
from bio_mcp.ports.models import PaperIndex, Role
from bio_mcp.retrieval.passages import (
    Candidate,
    Entry,
    Filters,
    Matching,
    OtherName,
    PassageQuery,
    StoredChunk,
    YearCount,
)
from bio_mcp.retrieval.ranking import mean_vector

if TYPE_CHECKING:
    import sqlite3

    from numpy.typing import NDArray

    from bio_mcp.adapters.embedded.database import Connection
    from bio_mcp.retrieval.passages import Vectors


TABLES = ("entries", "chunks", "vectors", "checksums")  # of the index
NO_LIMIT: Mapping[str, int] = MappingProxyType({})
ANY_ENTRY = "SELECT 1 FROM entries LIMIT 1"
KNOWN_TERMS = "SELECT term, id FROM terms WHERE term IN (SELECT value FROM json_each(?))"
OTHER_NAMES = """
    WITH asked AS (SELECT value FROM json_each(?)), pairs AS (
        SELECT short AS name, long AS other, pmid FROM abbreviations WHERE short IN asked
        UNION ALL SELECT long, short, pmid FROM abbreviations WHERE long IN asked
    )
    SELECT name, other, count(DISTINCT pmid) AS papers FROM pairs GROUP BY name, other ORDER BY papers DESC, name, other
"""
SIZES = Sizes()


class SqlitePassages:
    """The port `Passages` over the corpus file. `sizes` says when vectors are scored from bytes.

    `name` is empty for the index that the corpus file has from its beginning.
    """

    def __init__(self, database: Database, sizes: Sizes = SIZES, *, name: str = "") -> None:
        self._database, self._name = database, name or "corpus"
        self.write_at_once, self.refresh_after = database.papers_a_write, 1
        self._only: tuple[str, int] | None = None
        self._index = LiveIndex(sizes, database.directory / INDEX_FILE)

    def only_of(self, model: tuple[str, int]) -> "SqlitePassages":
        """Return these passages for a caller who has that model: once they are of another one, they are refused."""
        made = copy(self)
        made._only = model
        return made

    def ensure_schema(self, fingerprint: str, dim: int) -> None:
        if self.model() == (fingerprint, dim):
            return
        with self._database.writing(IndexUnavailable) as connection:
            _check_model(connection, fingerprint, dim)
            _put_change(connection, model=fingerprint, dim=dim)
        self._only = self._only and (fingerprint, dim)

    def check_model(self, fingerprint: str, dim: int) -> None:
        with self._database.reading(IndexUnavailable) as connection:
            _check_model(connection, fingerprint, dim)

    def renew(self, fingerprint: str, dim: int) -> None:
        with self._database.writing(IndexUnavailable) as connection:
            rows = PaperRows(connection)
            if rows.model == (fingerprint, dim):
                return
            connection.execute("INSERT OR REPLACE INTO removed SELECT pmid, ?, 0 FROM entries", (rows.change + 1,))
            _clear(connection)
            _put_change(connection, model=fingerprint, dim=dim)

    def name(self) -> str:
        return self._name

    def model(self) -> tuple[str, int] | None:
        """The fingerprint and dimension of the model of the vectors; None if there is no index."""
        with self._database.reading(IndexUnavailable) as connection:
            return PaperRows(connection).model

    def versions(self) -> Iterator[tuple[str, int]]:
        self._database.catch_up()
        sql = "SELECT pmid, version FROM entries WHERE pmid > ? ORDER BY pmid LIMIT ?"
        for page in self._database.pages(sql, failure=IndexUnavailable):
            yield from ((str(pmid), version) for pmid, version in page)

    def chunk_texts(self, pmids: Sequence[str]) -> dict[str, dict[str, str]]:
        _, rows = self._rows(pmids, pass_damaged=True)
        return {str(pmid): {chunk[0]: chunk[-1] for chunk in json.loads(chunks)} for pmid, chunks, _ in rows}

    def chunk_vectors(self, pmids: Sequence[str]) -> dict[str, dict[str, "NDArray[np.float32]"]]:
        _, rows = self._rows(pmids, pass_damaged=True)
        return {str(pmid): vectors_by_text(chunks, vectors) for pmid, chunks, vectors in rows}

    def upsert_chunks(self, entries: Sequence[Entry], *, refresh: bool = True) -> None:  # noqa: ARG002  seen at once
        with self._database.writing(IndexUnavailable) as connection:
            index = self._checked(connection)
            if not index.dim:
                raise IndexUnavailable("There is no index yet: create its schema first.", retryable=False)
            check_entries(entries, index.dim)
            if write_entries(connection, entries, index.change + 1):
                _put_change(connection)

    def refresh(self, fingerprint: str, dim: int) -> None:
        self.check_model(fingerprint, dim)

    def delete(self, pmids: Sequence[str], upto: Mapping[str, int] = NO_LIMIT) -> None:
        wanted = {number: upto.get(str(number)) for number in numbers(pmids)}
        with self._database.writing(IndexUnavailable) as connection:
            there = dict(connection.execute(STORED_VERSIONS, (json.dumps(list(wanted)),)).fetchall())
            gone = [pmid for pmid, last in wanted.items() if pmid in there and (last is None or there[pmid] <= last)]
            change = PaperRows(connection).change + 1
            removed = [(pmid, change if pmid in gone else 0, wanted[pmid] or 0) for pmid in wanted]
            connection.executemany(
                "INSERT INTO removed VALUES (?, ?, ?) ON CONFLICT (pmid) DO UPDATE SET "
                "change = max(change, excluded.change), version = max(version, excluded.version) "
                "WHERE excluded.version > version OR excluded.change > change",
                [row for row in removed if row[0] in gone or (row[2] and row[0] not in there)],
            )
            if gone:
                for table in TABLES:
                    connection.delete_among(table, "pmid", gone)
                delete_fields(connection, gone)
                _put_change(connection)

    def hybrid_search(self, query: PassageQuery) -> list[Candidate]:
        def answer(connection: "Connection") -> list[Candidate] | None:
            if (snapshot := self._snapshot(connection)) is None:
                return None
            if not snapshot.documents:
                return []
            found = snapshot.best(
                query,
                partial(connection.execute, KNOWN_TERMS),
                _conditions(connection, query.filters, query.within),
                partial(read_vectors, connection, snapshot.windows.matrix.shape[1]),
            )
            return snapshot.candidates(found)

        return search(self._database, answer)

    def matching(self, filters: Filters, most: int) -> Matching:
        def answer(connection: "Connection") -> Matching | None:
            if (snapshot := self._snapshot(connection)) is None:
                return None
            if most:
                _check_fields(connection)
            elif filters.tree is not None and filters == Filters(tree=filters.tree):
                _check_fields(connection)
                if (papers := number_of(connection, filters.tree)) is not None:
                    return Matching(papers, ())
            total, pmids = snapshot.newest(_conditions(connection, filters), most)
            return Matching(total, tuple(map(str, pmids)))

        return search(self._database, answer)

    def words_like(self, word: str) -> list[tuple[str, int]]:
        with self._database.reading(IndexUnavailable) as connection:
            self._checked(connection)
            _check_fields(connection)
            return words_like(connection, word)

    def other_names(self, names: Collection[str]) -> list[OtherName]:
        with self._database.reading(IndexUnavailable) as connection:
            self._checked(connection)
            _check_fields(connection)
            found = connection.execute(OTHER_NAMES, (json.dumps(sorted(names)),)).fetchall()
        return [OtherName(*row) for row in found]

    def document_vectors(self, pmids: Sequence[str]) -> "dict[str, NDArray[np.float32]]":
        dim, rows = self._rows(pmids)
        return {str(pmid): mean_vector(np.frombuffer(blob, "<f4").reshape(-1, dim)) for pmid, _, blob in rows if blob}

    def chunks(self, pmids: Sequence[str], vector: "Vectors | None" = None) -> dict[str, list[StoredChunk]]:
        _, rows = self._rows(pmids)
        return {str(pmid): stored_chunks(str(pmid), chunks, vectors, vector) for pmid, chunks, vectors in rows}

    def count(self) -> tuple[int, int]:
        with self._database.reading(IndexUnavailable) as connection:
            return PaperRows(connection).size()

    def by_year(self) -> list[YearCount]:
        with self._database.reading(IndexUnavailable) as connection:
            rows = connection.execute("SELECT year, design, count(*) FROM entries GROUP BY year, design").fetchall()
        return [YearCount(*row) for row in rows]

    def _rows(self, pmids: Sequence[str], *, pass_damaged: bool = False) -> tuple[int, list[Row]]:
        """The length of the vectors, and the rows of these papers, as `stored_rows` reads them."""
        with self._database.reading(IndexUnavailable) as connection:
            index = self._checked(connection)
            return index.dim, stored_rows(connection, pmids, pass_damaged=pass_damaged)

    def _snapshot(self, connection: "Connection") -> Snapshot | None:
        """The index as this transaction sees it; None if it is newer: vectors are read as of the transaction."""
        index = self._checked(connection)
        snapshot = self._index.current(connection.file, index)
        if snapshot.change > index.change:
            return None
        if not snapshot.documents:
            if connection.execute(ANY_ENTRY).fetchone():  # the settings with the number of batches are lost
                raise IndexUnavailable(DAMAGED, retryable=False)
            if index.change and not index.dim:
                raise IndexUnavailable("The index was replaced by another and removed; ask again.")
        return snapshot

    def _checked(self, connection: sqlite3.Connection) -> PaperRows:
        """The index, unless it was changed to another model than the caller has."""
        index = PaperRows(connection)
        if self._only not in (None, index.model):
            raise IndexUnavailable("The index was changed to another model at this moment; ask again.")
        return index


def _check_model(connection: sqlite3.Connection, fingerprint: str, dim: int) -> None:
    stored = PaperRows(connection).model
    if stored == (fingerprint, dim) or not connection.execute(ANY_ENTRY).fetchone():
        return
    if stored is None:
        raise IndexUnavailable(DAMAGED, retryable=False)
    raise other_index_model(stored, fingerprint, dim)


def _check_fields(connection: sqlite3.Connection) -> None:
    """Raise `IndexUnavailable` where papers would be missed, which an earlier version wrote without their fields."""
    if connection.execute("SELECT 1 FROM without_fields LIMIT 1").fetchone():
        raise IndexUnavailable(
            f"An earlier version of bio-mcp wrote papers of this index: {NOT_LOOKED_UP} until `bio-mcp admin reindex` "
            "has run. Questions are answered.",
            retryable=False,
        )


def _put_change(connection: sqlite3.Connection, **settings: str | int) -> None:
    """Count a change of the index, which other processes find by it, and of these settings."""
    change = PaperRows(connection).change + 1
    put = "INSERT OR REPLACE INTO settings VALUES (?, ?)"
    connection.executemany(put, (settings | {"change": change}).items())
    connection.execute("INSERT INTO changes VALUES (?, ?)", (change, token_hex(8)))


def _clear(connection: "Connection") -> None:
    """Remove every paper from the index."""
    for table in TABLES:
        connection.execute(f"DELETE FROM {table}")  # noqa: S608  our own names
    clear_fields(connection)


def _conditions(connection: sqlite3.Connection, filters: Filters, within: frozenset[str] | None = None) -> Conditions:
    papers = [] if within is None else [Papers(np.array(numbers(within), np.int64))]
    if filters.tree is not None or filters.participants_min is not None:
        _check_fields(connection)
    if filters.tree is not None:
        papers.append(papers_of(connection, filters.tree))

    def facets(kind: str, values: frozenset[str]) -> tuple[int, ...]:
        rows = connection.execute(
            "SELECT id FROM facets WHERE kind = ? AND value IN (SELECT value FROM json_each(?))",
            (kind, json.dumps(sorted(values))),
        )
        return tuple(number for (number,) in rows)

    sets = [("journal", filters.journals), ("publication_type", filters.publication_types)]
    sets += [("tag", frozenset({tag})) for tag in sorted(filters.tags)]
    sets += [("project", frozenset({filters.project}))] if filters.project is not None else []
    any_of = [facets(kind, values) for kind, values in sets if values]
    bounds = filters.year_from, filters.year_to, tuple(any_of), filters.participants_min
    return Conditions(*bounds, tuple(papers), exact=within is not None)


MAIN = ""  # the name of the index in the corpus file itself
Names = Mapping[Role, str]


class SqliteIndexes:
    """The port `Indexes` over `database`."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._folder = database.directory / "indexes"
        self._open: dict[tuple[Role, str], tuple[Database, SqlitePassages]] = {}
        self._lock = Lock()

    def searched(self) -> tuple[SqlitePassages, tuple[str, int] | None]:
        with self._database.reading(IndexUnavailable) as connection:
            names = _names(connection)
            model = PaperRows(connection).model
        passages = self._passages(names)[Role.SEARCHED]
        return passages, model if names[Role.SEARCHED] == MAIN else passages.model()

    def searched_database(self) -> Database:
        """The corpus file with the index that is searched."""
        names = self._names()
        self._passages(names)
        return self._open[Role.SEARCHED, names[Role.SEARCHED]][0]

    def all(self) -> list[PaperIndex]:
        found = self._passages(self._names())
        models = {role: passages.model() for role, passages in found.items()}
        return [PaperIndex(role, *model, found[role]) for role in Role if (model := models.get(role)) is not None]

    def begin(self, fingerprint: str, dim: int, *, force: bool = False) -> PaperIndex:
        check_begun(self.all(), fingerprint, force=force)
        with self._database.writing(IndexUnavailable) as connection:
            names = _names(connection)
            if Role.NEXT not in names and Role.PREVIOUS not in names:
                connection.execute("INSERT INTO indexes VALUES (?, ?)", (Role.NEXT, token_hex(8)))
        self._sweep()
        passages = self._passages(self._names()).get(Role.NEXT)
        if passages is None:
            raise unknown_role(Role.NEXT)
        passages.ensure_schema(fingerprint, dim)
        return PaperIndex(Role.NEXT, fingerprint, dim, passages)

    def switch(self, to: Role) -> None:
        with self._database.writing(IndexUnavailable) as connection:
            names = _names(connection)
            back = back_from(to, names.keys())
            connection.execute("DELETE FROM indexes")
            rows = [(Role.SEARCHED, names[to]), (back, names[Role.SEARCHED])]
            connection.executemany("INSERT INTO indexes VALUES (?, ?)", rows)

    def remove(self) -> bool:
        with self._database.writing(IndexUnavailable) as connection:
            names = _names(connection)
            others = [role for role in names if role is not Role.SEARCHED]
            connection.executemany("DELETE FROM indexes WHERE role = ?", [(role,) for role in others])
            if MAIN in (names[role] for role in others):
                _clear(connection)
                connection.execute("DELETE FROM removed")
                connection.execute("DELETE FROM settings WHERE name IN ('model', 'dim')")
                _put_change(connection)
        self._passages(self._names())
        self._sweep()
        return bool(others)

    def close(self) -> None:
        self._passages({})

    def _names(self) -> Names:
        with self._database.reading(IndexUnavailable) as connection:
            return _names(connection)

    def _passages(self, names: Names) -> dict[Role, SqlitePassages]:
        """The passages by role; those of other roles and names are closed."""
        with self._lock:
            for key in [key for key in self._open if names.get(key[0]) != key[1]]:
                database, _ = self._open.pop(key)
                if database is not self._database:
                    database.close()
            for key in names.items():
                if key not in self._open:
                    database = self._database if key[1] == MAIN else Database(self._folder / key[1])
                    self._open[key] = database, SqlitePassages(database, name=key[1])
            return {role: self._open[role, name][1] for role, name in names.items()}

    def _sweep(self) -> None:
        """Delete the directories that no row names. One is named before it is made."""
        there = list(self._folder.glob("*"))
        named = set(self._names().values())
        for each in there:
            if each.name not in named:
                shutil.rmtree(each, ignore_errors=True)


def _names(connection: "sqlite3.Connection") -> dict[Role, str]:
    rows = connection.execute("SELECT role, name FROM indexes").fetchall()
    return {Role.SEARCHED: MAIN} | {Role(role): name for role, name in rows}

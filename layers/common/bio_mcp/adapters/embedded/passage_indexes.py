"""The indexes of the papers on one machine: that of the corpus file, and others in corpus files below `indexes`.

The table `indexes` of the corpus file says which is which: one transaction there switches every process. A directory
is never used twice, so that a slow writer cannot reach another index.
"""

import shutil
from collections.abc import Callable, Mapping
from secrets import token_hex
from threading import Lock
from typing import TYPE_CHECKING

from bio_mcp.adapters.embedded.database import Database
from bio_mcp.adapters.embedded.passages import SqlitePassages
from bio_mcp.adapters.index_roles import back_from, check_begun, unknown_role
from bio_mcp.errors import IndexUnavailable
from bio_mcp.ports.indexes import PaperIndex, Role

if TYPE_CHECKING:
    import sqlite3

MAIN = ""  # the name of the index in the corpus file itself
Names = Mapping[Role, str]


class SqliteIndexes:
    """The port `Indexes` over `database`; `over` makes the passages of a corpus file, by the index's name."""

    def __init__(self, database: Database, over: Callable[[Database, str], SqlitePassages]) -> None:
        self._database, self._over = database, over
        self._folder = database.directory / "indexes"
        self._open: dict[tuple[Role, str], tuple[Database, SqlitePassages]] = {}
        self._lock = Lock()

    def searched(self) -> tuple[SqlitePassages, tuple[str, int] | None]:
        passages = self._passages(self._names())[Role.SEARCHED]
        return passages, passages.model()

    def searched_database(self) -> Database:
        """The corpus file with the index that is searched."""
        names = self._names()
        self._passages(names)
        return self._open[Role.SEARCHED, names[Role.SEARCHED]][0]

    def all(self) -> list[PaperIndex]:
        found = self._passages(self._names())
        models = {role: passages.model() for role, passages in found.items()}
        return [
            PaperIndex(role, *model, found[role], found[role].versions)
            for role in Role
            if (model := models.get(role)) is not None
        ]

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
        return PaperIndex(Role.NEXT, fingerprint, dim, passages, passages.versions)

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
                SqlitePassages.clear(connection)
        self._passages(self._names())
        self._sweep()
        return bool(others)

    def close(self) -> None:
        """Close the files beside the corpus file."""
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
                    self._open[key] = self._opened(key[1])
            return {role: self._open[role, name][1] for role, name in names.items()}

    def _opened(self, name: str) -> tuple[Database, SqlitePassages]:
        database = self._database if name == MAIN else Database(self._folder / name)
        return database, self._over(database, name)

    def _sweep(self) -> None:
        """Delete the directories that no row names. One is named before it is made."""
        there = list(self._folder.iterdir()) if self._folder.exists() else []
        named = set(self._names().values())
        for each in there:
            if each.name not in named:
                shutil.rmtree(each, ignore_errors=True)


def _names(connection: "sqlite3.Connection") -> dict[Role, str]:
    rows = connection.execute("SELECT role, name FROM indexes").fetchall()
    return {Role.SEARCHED: MAIN} | {Role(role): name for role, name in rows}

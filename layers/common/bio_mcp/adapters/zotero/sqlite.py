"""A library in the data directory of a Zotero, read from a copy of its database."""

import sqlite3
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bio_mcp.adapters.retry import Backoff
from bio_mcp.adapters.zotero import rows
from bio_mcp.adapters.zotero.copying import PATIENCE, Marks, copied, marks_of
from bio_mcp.adapters.zotero.files import Files
from bio_mcp.adapters.zotero.snapshots import Snapshot, changes_since, snapshot
from bio_mcp.errors import Misconfigured, UpstreamFailed
from bio_mcp.ports.zotero import ZoteroAttachment, ZoteroChanges, ZoteroCollection, ZoteroItem

DATABASE, BETTER_BIBTEX = "zotero.sqlite", "better-bibtex.sqlite"


@dataclass(frozen=True, slots=True)
class _Copy:
    """What was read from a copy. `deleted` are the keys that Zotero has noted as such, by kind."""

    library: str
    marks: dict[str, Marks]
    now: Snapshot
    deleted: Mapping[str, frozenset[str]]

    def gone(self, kind: str, missing: frozenset[str], before: Mapping[str, Any]) -> frozenset[str]:
        """Which keys are shown to be gone: those noted, or all that are missing once the library's version moved on."""
        return missing if self.now.mark["version"] > before.get("version", []) else missing & self.deleted[kind]


class SqliteLibrary:
    """A `ZoteroLibrary`. What is missing counts as deleted when Zotero has noted that it was, or the version of the
    library has moved on since; not in an older copy, nor in a database that is damaged.

    `library` is a name of the API, `users/475425`; None for the library of the user.
    """

    def __init__(self, data_dir: Path, files: Files, library: str | None = None, patience: Backoff = PATIENCE) -> None:
        self._paths = {name: data_dir / name for name in (DATABASE, BETTER_BIBTEX)}
        self._files = files
        self._named = library
        self._patience = patience
        self._last: _Copy | None = None

    @property
    def library_id(self) -> str:
        return self._named or self._copy().library

    def collections(self) -> list[ZoteroCollection]:
        return self._copy().now.live_collections

    def changes(self, cursor: Mapping[str, Any]) -> ZoteroChanges:
        if cursor.get("sqlite") == self.library_id and cursor.get("files") == self._marks():
            return ZoteroChanges(cursor)
        read = self._copy()
        before = cursor if cursor.get("sqlite") == read.library else {}
        return changes_since(
            before,
            read.now,
            lambda missing: read.gone("item", missing, before),
            lambda missing: read.gone("collection", missing, before),
        )

    def members(self, collections: Collection[str]) -> frozenset[str]:
        wanted = frozenset(collections)
        return frozenset(each.key for each in self._copy().now.items if each.collections & wanted and not each.trashed)

    def items(self, keys: Sequence[str]) -> list[ZoteroItem]:
        wanted = frozenset(keys)
        return [each for each in self._copy().now.items if each.key in wanted]

    def content(self, attachment: ZoteroAttachment) -> bytes:
        return self._files.content(attachment)

    def _marks(self) -> dict[str, Marks]:
        return {name: marks_of(path) for name, path in self._paths.items()}

    def _copy(self) -> _Copy:
        """What is in the database now; it is copied again only when its files have changed."""
        last = self._last
        if last is None or last.marks != self._marks():
            try:
                last = self._last = self._read()
            except sqlite3.Error:
                raise UpstreamFailed(
                    "Zotero's database has a form that is not known here; start Zotero 6 or later once, or use its API",
                    retryable=False,
                ) from None
        return last

    def _read(self) -> _Copy:
        with copied(self._paths[DATABASE], self._patience) as (database, marks):
            library, number = self._library(database)
            citekeys, citekey_marks = self._better_bibtex(number)
            every = {DATABASE: marks, BETTER_BIBTEX: citekey_marks}
            mark = {"sqlite": library, "files": every, "version": rows.version(database, number)}
            items, collections = rows.items(database, number, citekeys), rows.collections(database, number)
            noted = {kind: rows.deleted(database, number, kind) for kind in ("item", "collection")}
            return _Copy(library, every, snapshot(items, collections, mark), noted)

    def _library(self, database: sqlite3.Connection) -> tuple[str, int]:
        found = rows.libraries(database)
        name = self._named or next(each for each in found if each.startswith("users/"))
        if name not in found:
            listed = ", ".join(sorted(found))
            raise Misconfigured(f"ZOTERO_LIBRARY_ID names {name}; the data directory of Zotero has {listed}")
        return name, found[name]

    def _better_bibtex(self, library: int) -> tuple[dict[str, str], Marks]:
        path = self._paths[BETTER_BIBTEX]
        if not path.exists():
            return {}, {}
        with copied(path, self._patience) as (database, marks):
            return rows.better_bibtex(database, library), marks

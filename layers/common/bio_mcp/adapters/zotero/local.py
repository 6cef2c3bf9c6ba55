"""The library of a Zotero that runs on this machine, by its local API."""

from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import url2pathname

from bio_mcp.adapters.zotero.files import Files
from bio_mcp.adapters.zotero.objects import collections_of
from bio_mcp.adapters.zotero.reading import TRASHED, Reader, same_version
from bio_mcp.adapters.zotero.snapshots import Snapshot, changes_since, snapshot
from bio_mcp.errors import NotFound
from bio_mcp.ports.zotero import ZoteroAttachment, ZoteroChanges, ZoteroCollection, ZoteroItem

PAGE = 1_000  # objects; each page is a search of the whole library to Zotero


class LocalLibrary:
    """A `ZoteroLibrary`. This API lists no deletions, and up to Zotero 9 no version that counts unsynced edits.

    So everything is read and compared. What is missing counts as deleted when Zotero, asked for that key, says that
    there is none while it lists others. From Zotero 10 on, an unchanged library is known by its version.
    """

    def __init__(self, reader: Reader, files: Files) -> None:
        self._reader = reader
        self._last: list[ZoteroItem] | None = None  # of the last look at changes, which has read them all
        self._files = files

    @property
    def library_id(self) -> str:
        return self._reader.library

    def collections(self) -> list[ZoteroCollection]:
        return collections_of(self._reader.whole("collections")[0])

    def changes(self, cursor: Mapping[str, Any]) -> ZoteroChanges:
        mark, self._last = self._mark(), None
        if mark["server"] and all(cursor.get(name) == value for name, value in mark.items()):
            return ZoteroChanges(cursor)
        now = self._reader.steady(lambda: self._snapshot(mark))
        self._last = now.items
        ours = all(cursor.get(name) == mark[name] for name in ("local", "server"))
        return changes_since(cursor if ours else {}, now, self._gone("items", now), self._gone("collections", now))

    def members(self, collections: Collection[str]) -> frozenset[str]:
        return frozenset().union(*(self._reader.members(each) for each in sorted(collections)))

    def items(self, keys: Sequence[str]) -> list[ZoteroItem]:
        wanted, last = frozenset(keys), self._last
        return self._reader.items(keys) if last is None else [each for each in last if each.key in wanted]

    def content(self, attachment: ZoteroAttachment) -> bytes:
        try:
            answer = self._reader.ask(f"items/{attachment.key}/file")
        except NotFound:
            raise NotFound("Zotero has no file for it on this machine") from None
        target = urlsplit(answer.headers.get("location", ""))
        if target.scheme != "file":
            raise NotFound("Zotero has no file for it on this machine")
        return self._files.read(Path(url2pathname(target.path)))

    def _mark(self) -> dict[str, Any]:
        """The library, which Zotero it is of, and its version; only Zotero 10 and later name themselves."""
        answer = self._reader.ask("items/top", {"format": "keys", "limit": "1"})
        return {
            "local": self.library_id,
            "server": answer.headers.get("zotero-server-id"),
            "version": answer.version,
        }

    def _snapshot(self, mark: Mapping[str, Any]) -> Snapshot:
        items, version = self._reader.whole("items", TRASHED)
        collections, at = self._reader.whole("collections", TRASHED)
        same_version(version, at)
        return snapshot(items, collections, {**mark, "version": version})

    def _gone(self, kind: str, now: Snapshot) -> Callable[[frozenset[str]], frozenset[str]]:
        def gone(missing: frozenset[str]) -> frozenset[str]:
            return frozenset(each for each in missing if now.items and self._is_gone(f"{kind}/{each}"))

        return gone

    def _is_gone(self, path: str) -> bool:
        try:
            return bool(self._reader.ask(path).json(dict).get("data", {}).get("deleted"))
        except NotFound:
            return True

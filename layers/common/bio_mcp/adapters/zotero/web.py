"""A library at zotero.org, or at another server of Zotero's, by its web API."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from bio_mcp.adapters.zotero.objects import collections_of
from bio_mcp.adapters.zotero.reading import TRASHED, Reader, same_version
from bio_mcp.adapters.zotero.transport import Answer, not_zotero
from bio_mcp.errors import NotFound
from bio_mcp.ports.zotero import ZoteroAttachment, ZoteroChanges, ZoteroCollection, ZoteroItem

PAGE = 100  # objects, the most that a page of the web API has


class WebLibrary:
    """A `ZoteroLibrary`. It knows every deletion, as the server lists them by version."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    @property
    def library_id(self) -> str:
        return self._reader.library

    def collections(self) -> list[ZoteroCollection]:
        return collections_of(self._reader.whole("collections")[0])

    def changes(self, cursor: Mapping[str, Any]) -> ZoteroChanges:
        since = cursor.get("version") if cursor.get("web") == self.library_id else None
        return self._reader.steady(lambda: self._since(since) if isinstance(since, int) else self._everything())

    def members(self, collections: Collection[str]) -> frozenset[str]:
        return frozenset().union(*(self._reader.members(each) for each in sorted(collections)))

    def items(self, keys: Sequence[str]) -> list[ZoteroItem]:
        return self._reader.items(keys)

    def content(self, attachment: ZoteroAttachment) -> bytes:
        if not attachment.link_mode.startswith("imported"):
            raise NotFound("it is linked, not stored with the library")
        try:
            return self._reader.file(attachment.key).body
        except NotFound:
            raise NotFound("its file is not stored at Zotero") from None

    def _everything(self) -> ZoteroChanges:
        answer = self._reader.ask("items/top", {"format": "versions", **TRASHED})
        return ZoteroChanges(self._cursor(answer.version), frozenset(answer.json(dict)))

    def _since(self, since: int) -> ZoteroChanges:
        asked = {"format": "versions", "since": str(since), **TRASHED}
        answer = self._reader.ask("items", asked)
        if answer.version == since:
            return ZoteroChanges(self._cursor(since))
        if answer.version < since:  # another library stands there now
            return self._everything()
        trashed, at = self._reader.whole("collections", {"since": str(since)})
        same_version(answer.version, at)
        deleted = self._reader.ask("deleted", {"since": str(since)})
        same_version(answer.version, deleted.version)
        touched = frozenset(answer.json(dict))
        return ZoteroChanges(
            self._cursor(answer.version),
            self._tops(sorted(touched)),
            _keys(deleted, "items") - touched,
            _keys(deleted, "collections") | {each["key"] for each in trashed if each.get("deleted")},
        )

    def _cursor(self, version: int) -> dict[str, Any]:
        return {"web": self.library_id, "version": version}

    def _tops(self, keys: Sequence[str]) -> frozenset[str]:
        """The top-level items that those objects are, or hang on."""
        tops: set[str] = set()
        seen: set[str] = set()
        while keys:
            found = self._reader.named(keys)
            seen.update(keys)
            tops.update(each["key"] for each in found if not each.get("parentItem"))
            keys = sorted({each["parentItem"] for each in found if each.get("parentItem")} - seen)
        return frozenset(tops)


def _keys(deleted: Answer, kind: str) -> frozenset[str]:
    keys = deleted.json(dict).get(kind)
    if not isinstance(keys, list):
        raise not_zotero()
    return frozenset(keys)

"""A library of Zotero in memory. Every write raises its version, as at zotero.org."""

from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

Data = dict[str, Any]


class Library:
    """Objects by key, as the API's `data`; `deleted` has the version at which each key went, by kind."""

    def __init__(self, name: str = "users/475425") -> None:
        self.name = name
        self.version = 0
        self.items: dict[str, Data] = {}
        self.collections: dict[str, Data] = {}
        self.files: dict[str, bytes] = {}
        self.deleted: dict[str, dict[str, int]] = {"items": {}, "collections": {}}
        self._numbers = iter(range(1, 1_000_000))

    def add(self, item_type: str, parent: str | None = None, **fields: Any) -> str:
        """A new item, attachment, note or annotation; returns its key."""
        key = self._key()
        added = f"2026-01-01T00:{len(self.items) // 60:02}:{len(self.items) % 60:02}Z"
        data = {"key": key, "itemType": item_type, "dateAdded": added, "tags": [], **fields}
        if parent:
            data["parentItem"] = parent
        else:
            data.setdefault("collections", [])
        if item_type not in ("attachment", "note", "annotation"):
            data.setdefault("creators", [])
        self._write(self.items, data)
        return key

    def attach(self, parent: str | None, name: str, content: bytes | None, **fields: Any) -> str:
        """A stored file of an item."""
        kind = {"pdf": "application/pdf", "html": "text/html", "txt": "text/plain"}[name.rpartition(".")[2]]
        stored = {"linkMode": "imported_file", "contentType": kind, "filename": name, "title": name, **fields}
        key = self.add("attachment", parent, **stored)
        if content is not None:
            self.files[key] = content
        return key

    def edit(self, key: str, **fields: Any) -> None:
        """Change fields of an item."""
        self._write(self.items, {**self.items[key], **fields})

    def tag(self, key: str, *tags: str) -> None:
        """Give an item these tags and no others."""
        self.edit(key, tags=[{"tag": tag} for tag in tags])

    def move(self, key: str, *collections: str) -> None:
        """Put an item into these collections and no others."""
        self.edit(key, collections=list(collections))

    def trash(self, key: str) -> None:
        """Move an item or collection to the trash."""
        kind = self.items if key in self.items else self.collections
        self._write(kind, {**kind[key], "deleted": 1})

    def restore(self, key: str) -> None:
        """Take an item or collection out of the trash."""
        kind = self.items if key in self.items else self.collections
        self._write(kind, {name: value for name, value in kind[key].items() if name != "deleted"})

    def delete(self, key: str) -> None:
        """Delete an item for good, with all that hangs on it."""
        self.version += 1
        for each in [*self.below(key), key]:
            del self.items[each]
            self.deleted["items"][each] = self.version

    def add_collection(self, name: str, parent: str | None = None) -> str:
        """A new collection; returns its key."""
        key = self._key()
        self._write(self.collections, {"key": key, "name": name, "parentCollection": parent or False})
        return key

    def edit_collection(self, key: str, **fields: Any) -> None:
        """Rename or move a collection."""
        self._write(self.collections, {**self.collections[key], **fields})

    def delete_collection(self, key: str) -> None:
        """Delete a collection; its items stay, and their versions too."""
        self.version += 1
        del self.collections[key]
        self.deleted["collections"][key] = self.version
        for item in self.items.values():
            if key in item.get("collections", []):
                item["collections"] = [each for each in item["collections"] if each != key]

    def below(self, key: str) -> Iterator[str]:
        """The keys of everything that hangs on an item."""
        for each in [data["key"] for data in self.items.values() if data.get("parentItem") == key]:
            yield from self.below(each)
            yield each

    def copy(self) -> "Library":
        """The library as it is now, to go back to."""
        return deepcopy(self)

    def _key(self) -> str:
        number, letters = next(self._numbers), "23456789ABCDEFGHIJKLMNPQRSTUVWXYZ"
        return "".join(letters[number * 7919 // 33**place % 33] for place in range(8))

    def _write(self, kind: dict[str, Data], data: Data) -> None:
        self.version += 1
        kind[data["key"]] = {**data, "version": self.version}


def write_files(library: Library, folder: Path) -> None:
    """Make `storage` in Zotero's data directory hold the files of the library."""
    for key, content in library.files.items():
        if key in library.items:
            (folder / "storage" / key).mkdir(parents=True, exist_ok=True)
            (folder / "storage" / key / library.items[key]["filename"]).write_bytes(content)

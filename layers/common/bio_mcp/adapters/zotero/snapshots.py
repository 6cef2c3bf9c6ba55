"""What changed in a library that does not say so: its items now, compared with those of the last time."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from bio_mcp.adapters.zotero.objects import Data, collections_of, items_of
from bio_mcp.ports.zotero import ZoteroChanges, ZoteroCollection, ZoteroItem

Gone = Callable[[frozenset[str]], frozenset[str]]
"""Which of the keys that are missing the library shows to be gone."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Everything in a library at one time. `mark` tells it from its other versions and from other libraries.

    `tree` has the parent and name of every collection, trashed ones as well.
    """

    items: list[ZoteroItem]
    live_collections: list[ZoteroCollection]
    tree: Mapping[str, str]
    mark: Mapping[str, Any]

    @property
    def cursor(self) -> dict[str, Any]:
        """What to compare with the next time."""
        states = {each.key: each.state for each in self.items}
        return {**self.mark, "items": states, "collections": dict(self.tree)}


def snapshot(items: Iterable[Data], collections: Iterable[Data], mark: Mapping[str, Any]) -> Snapshot:
    """The library of these objects of the API."""
    known = list(collections)
    tree = {each["key"]: f"{each.get('parentCollection') or ''}/{each['name']}" for each in known}
    return Snapshot(items_of(items), collections_of(known), tree, mark)


def changes_since(cursor: Mapping[str, Any], now: Snapshot, gone_items: Gone, gone_collections: Gone) -> ZoteroChanges:
    """What changed since the cursor of another snapshot of the same library."""
    before: Mapping[str, str] = cursor.get("items", {})
    trashed = frozenset(now.tree) - {each.key for each in now.live_collections}
    return ZoteroChanges(
        now.cursor,
        frozenset(each.key for each in now.items if before.get(each.key) != each.state),
        gone_items(frozenset(before) - {each.key for each in now.items}),
        trashed | gone_collections(frozenset(cursor.get("collections", ())) - frozenset(now.tree)),
    )

"""Which collections of a library a source follows, as they are renamed, moved, deleted and restored."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bio_mcp.errors import Conflict
from bio_mcp.ingesting.zotero_source import (
    ZoteroSource,
    collection_named,
    path_of,
    unknown_collection,
    with_children,
)
from bio_mcp.ports.zotero import ZoteroCollection, ZoteroItem


@dataclass(frozen=True, slots=True)
class Scope:
    """What a source follows now. `named` are the keys of the collections that it names.

    `within` are these and all that stand in them, and those that are missing without a trace; None: the whole library.
    `gone` are collections that the library has shown to be so, ever.
    """

    source: ZoteroSource
    named: Mapping[str, str]
    within: frozenset[str] | None
    gone: frozenset[str]
    warnings: tuple[str, ...] = ()

    def has(self, item: ZoteroItem) -> bool:
        """Whether the item is followed."""
        return not item.trashed and self.source.has_tags(item) and self.reaches(item.collections)

    def reaches(self, collections: frozenset[str]) -> bool:
        """Whether something that stands in these collections is followed, as far as they say."""
        return self.within is None or bool(self.within & collections)

    def to_json(self) -> dict[str, Any]:
        """What is stored of it for the next time."""
        return {"named": dict(self.named), "within": sorted(self.within or ()), "gone": sorted(self.gone)}


def scope_of(
    source: ZoteroSource, live: Sequence[ZoteroCollection], gone: frozenset[str], before: Mapping[str, Any]
) -> Scope:
    """The scope now. `before` is what was stored of it, and `gone` what has been shown to be gone since.

    Raises `InvalidInput` for a name that never was, and `Conflict` for a collection that is missing without a trace.
    """
    paths = {each.key: path_of(each) for each in live}
    gone = (gone | frozenset(before.get("gone", ()))) - frozenset(paths)
    if not source.collections:
        return Scope(source, {}, None, gone)
    known: Mapping[str, str] = before.get("named", {})
    named, warnings = {}, []
    for name in source.collections:
        found = collection_named(name, live)
        named[name] = key = found.key if found else _known(name, known, live)
        if not found:
            warnings.append(_changed(name, paths.get(key), key in gone))
    missing = frozenset(before.get("within", ())) - frozenset(paths) - gone
    return Scope(source, named, with_children(named.values(), live) | missing, gone, tuple(warnings))


def _known(name: str, known: Mapping[str, str], live: Sequence[ZoteroCollection]) -> str:
    if name not in known:
        raise unknown_collection(name, live)
    return known[name]


def _changed(name: str, path: str | None, gone: bool) -> str:
    if path:
        return f"the collection {name!r} is called {path!r} in Zotero now, and is still followed"
    if gone:
        return f"the collection {name!r} was deleted in Zotero"
    raise Conflict(
        f"Zotero does not list the collection {name!r} any more, and does not say either that it was deleted; nothing "
        "was changed. Try again, or name another collection"
    )

"""What a source such as `zotero?collection=Heart failure&tag=review` means."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import unquote

from bio_mcp.errors import InvalidInput
from bio_mcp.ports.zotero import ZoteroCollection, ZoteroItem

ZOTERO = "zotero"
CONFIRM = "confirm_deletions"
FORM = f"zotero, zotero?collection=NAME&tag=NAME, both as often as needed, and {CONFIRM}=yes"
LISTED = 20  # choices at most


@dataclass(frozen=True, slots=True)
class ZoteroSource:
    """What is followed: items in any of the collections or what stands in them (of the whole library without one),
    that have all of the tags. `confirmed`: documents may be dropped however many they are."""

    collections: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    confirmed: bool = False

    def location(self, library: str) -> str:
        """A name of what is followed, the same for the same."""
        return f"{ZOTERO}:{library}?{'&'.join(self._query(sorted(self.collections)))}"

    @property
    def confirming(self) -> str:
        """The same source as one types it, confirmed."""
        return f"{ZOTERO}?{'&'.join([*self._query(self.collections), f'{CONFIRM}=yes'])}"

    def _query(self, collections: Sequence[str]) -> list[str]:
        named = [*(("collection", each) for each in collections), *(("tag", each) for each in self.tags)]
        return [f"{name}={value.replace('%', '%25').replace('&', '%26')}" for name, value in named]

    def has_tags(self, item: ZoteroItem) -> bool:
        """Whether the item has all of the tags, whatever their case."""
        return {each.casefold() for each in self.tags} <= {each.casefold() for each in item.tags}


def is_zotero(source: str) -> bool:
    """Whether a source is the library of Zotero, and not a path."""
    return source.strip().partition("?")[0] == ZOTERO


def parsed(source: str) -> ZoteroSource:
    """Read a source. A name may be percent-encoded, as it must where it has `&` or `%`. Raises `InvalidInput`."""
    found: dict[str, list[str]] = {"collection": [], "tag": [], CONFIRM: []}
    for part in filter(None, source.strip().partition("?")[2].split("&")):
        name, _, value = part.partition("=")
        if name not in found or not value.strip():
            raise InvalidInput(f"source: {part[:100]!r} is not understood; it is {FORM}")
        found[name].append(unquote(value).strip())
    if any(each != "yes" for each in found[CONFIRM]):
        raise InvalidInput(f"source: {CONFIRM} is yes or is left out")
    collections, tags = tuple(dict.fromkeys(found["collection"])), tuple(sorted(set(found["tag"])))
    return ZoteroSource(collections, tags, bool(found[CONFIRM]))


def collection_named(name: str, collections: Sequence[ZoteroCollection]) -> ZoteroCollection | None:
    """The collection of that key, path (`Heart failure/Trials`) or name, whatever its case; None if there is none.

    Raises `InvalidInput`, which lists them, when there are several.
    """
    sought = name.casefold()
    for matches in (
        [each for each in collections if each.key == name],
        [each for each in collections if path_of(each) == name],
        [each for each in collections if path_of(each).casefold() == sought],
        [each for each in collections if each.path[-1].casefold() == sought],
    ):
        if len(matches) > 1:
            choices = ", ".join(f"{path_of(each)} ({each.key})" for each in matches[:LISTED])
            raise InvalidInput(f"source: several collections are called {name!r}; name one by path or key: {choices}")
        if matches:
            return matches[0]
    return None


def unknown_collection(name: str, collections: Iterable[ZoteroCollection]) -> InvalidInput:
    """The failure for a collection that is not there."""
    return InvalidInput(f"source: there is no collection {name!r}; there are: {_listed(map(path_of, collections))}")


def unknown_tag(name: str, items: Iterable[ZoteroItem]) -> InvalidInput:
    """The failure for a tag that none of the items has."""
    tags = sorted({tag for each in items for tag in each.tags})
    return InvalidInput(f"source: no item here has the tag {name!r}; there are: {_listed(tags)}")


def path_of(collection: ZoteroCollection) -> str:
    """The collection's path as it is named in a source."""
    return "/".join(collection.path)


def with_children(keys: Iterable[str], collections: Sequence[ZoteroCollection]) -> frozenset[str]:
    """The collections of those keys, and all that stand in them."""
    parents: Mapping[str, str | None] = {each.key: each.parent for each in collections}
    within = set(keys) & set(parents)
    while more := {key for key, parent in parents.items() if parent in within} - within:
        within |= more
    return frozenset(within)


def _listed(choices: Iterable[str]) -> str:
    every = list(choices)
    more = f" and {len(every) - LISTED} more" if len(every) > LISTED else ""
    return (", ".join(every[:LISTED]) or "none") + more

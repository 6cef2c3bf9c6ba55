"""News of a query: papers that are new, changed, retracted or withdrawn, each with what a reader wants to know."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from bio_mcp.errors import NotFound
from bio_mcp.literature.differences import Difference, differences
from bio_mcp.literature.records import Article, ChangeKind
from bio_mcp.ports import Backends
from bio_mcp.ports.state import NewsEntry, going_on

MINOR = frozenset({"status", "revised"})  # fields that are no news by themselves
INCOMPLETE = (
    "an earlier version of bio-mcp synced {!r}, and did not note the papers that it found: remove the query and sync "
    "it once more to have them all"
)


@dataclass(frozen=True, slots=True)
class NewsItem:
    """An entry with its paper: as it is now, or as it became by the change; None for one that is gone.

    `position` is where what comes behind it begins. `changed` are the fields that differ from the version before; None
    where that version is no longer stored.
    """

    entry: NewsEntry
    position: str
    article: Article | None
    changed: list[Difference] | None = None


@dataclass(frozen=True, slots=True)
class NewsPage:
    """Some news. `position` is behind the last entry that was read, where the next page begins.

    `more`: there may be others. `warnings` are sentences for the user.
    """

    items: list[NewsItem]
    position: str
    more: bool = False
    warnings: list[str] = field(default_factory=list)


def read_news(query_key: str, limit: int, backends: Backends, after: str | None = None) -> NewsPage:
    """Return the news behind a position or time, of `limit` entries, the oldest first; or else the newest, the newest
    first.

    Changes of `MINOR` fields alone are left out. Raises `NotFound` for a query that nothing followed.
    """
    warnings = check_followed(query_key, backends)
    entries = backends.news.since(query_key, after or "", limit, newest_first=after is None)
    after = after or ""
    position = going_on(after, entries[-1]) if entries else after
    return NewsPage(_items(entries, after, backends), position, len(entries) == limit, warnings)


def check_followed(query_key: str, backends: Backends) -> list[str]:
    """Raise `NotFound` for a query that nothing followed; return a warning where its papers are not all known."""
    if backends.news.is_whole(query_key):
        return []
    checkpoints = backends.checkpoints.all(query_key)
    if not checkpoints:
        known = ", ".join(dict.fromkeys(each.query_key for each in backends.checkpoints.all())) or "none"
        raise NotFound(f"no query {query_key!r} is followed. Followed queries: {known}", query_key=query_key)
    if not any(each.windows for each in checkpoints):
        return [f"the first sync of {query_key!r} is not complete yet"]
    return [INCOMPLETE.format(query_key)]


def _items(entries: Sequence[NewsEntry], behind: str, backends: Backends) -> list[NewsItem]:
    stored = backends.documents.get_many(sorted({each.pmid for each in entries}))
    items = []
    for entry in entries:
        article, changed = stored[entry.pmid].article if entry.pmid in stored else None, None
        if entry.kind is ChangeKind.CHANGED:
            after, before = (_version(entry.pmid, version, backends) for version in (entry.version, entry.version - 1))
            article, changed = after or article, differences(before, after) if before and after else None
        if changed is None or not {each.field for each in changed} <= MINOR:
            items.append(NewsItem(entry, going_on(behind, entry), article, changed))
    return items


def _version(pmid: str, version: int, backends: Backends) -> Article | None:
    try:
        return backends.documents.at_version(pmid, version).article
    except NotFound:
        return None

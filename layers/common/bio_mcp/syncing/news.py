"""News of a query: papers that are new, changed, retracted or withdrawn, each with what a reader wants to know."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from bio_mcp.errors import NotFound
from bio_mcp.literature.differences import Difference, differences
from bio_mcp.literature.records import Article, ChangeKind
from bio_mcp.ports import Backends
from bio_mcp.ports.state import Job, NewsEntry, going_on
from bio_mcp.syncing.cursor import SyncCursor
from bio_mcp.syncing.delta import jobs_of
from bio_mcp.syncing.queries import OF_THE_INSTALLATION

MINOR = frozenset({"status", "revised"})  # fields that are no news by themselves
MOST_NAMED = 20  # queries in an error
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
    if query_key in OF_THE_INSTALLATION:
        what = OF_THE_INSTALLATION[query_key]
        return [f"{query_key!r} {what}; what it finds is news of the queries that found the papers"]
    checkpoints = [each for each in backends.checkpoints.all(query_key) if each.term is not None]
    if not checkpoints:
        raise unfollowed(query_key, backends)
    if not any(each.windows for each in checkpoints):
        return [f"the first sync of {query_key!r} is not complete yet"]
    return [INCOMPLETE.format(query_key)]


def unfollowed(query_key: str, backends: Backends) -> NotFound:
    """The failure for a query key that nothing follows; it names those that are followed."""
    terms = (each for each in backends.checkpoints.all() if each.term is not None)
    followed = [each for each in dict.fromkeys(each.query_key for each in terms) if each not in OF_THE_INSTALLATION]
    return NotFound(
        f"No query {query_key!r} is followed. Followed queries: {', '.join(followed[:MOST_NAMED]) or 'none yet'}. "
        "pubmed_sync_delta begins one.",
        query_key=query_key,
    )


def first_sync(query_key: str, backends: Backends) -> Job | None:
    """The newest sync of a key, if it is the first."""
    newest = next(iter(jobs_of(query_key, backends)), None)
    return newest if newest and SyncCursor.from_json(newest.cursor).first else None


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

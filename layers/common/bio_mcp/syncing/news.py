"""News of a query: papers that are new, changed, retracted or withdrawn, each with what a reader wants to know, and
which of them a reader has not read."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from bio_mcp.errors import Conflict, InvalidInput, NotFound
from bio_mcp.literature.differences import Difference, differences
from bio_mcp.literature.records import Article, ChangeKind, RetractionStatus
from bio_mcp.ports import Backends
from bio_mcp.ports.state import Job, NewsEntry, divided, going_on
from bio_mcp.syncing.cursor import SyncCursor
from bio_mcp.syncing.delta import is_settled, jobs_of
from bio_mcp.syncing.queries import OF_THE_INSTALLATION

MINOR = frozenset({"status", "revised"})  # fields that are no news by themselves
MOST_NAMED = 20  # queries in an error
MOST_UNREAD = 200  # entries that are given as unread, besides retractions among
LOOKED_THROUGH = 1_000  # of the newest
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

    @property
    def is_retracted(self) -> bool:
        """Whether the news is that the paper was retracted, or is of one that had been."""
        was = self.article.retraction if self.article else RetractionStatus.UNKNOWN
        return self.entry.kind is ChangeKind.RETRACTED or was is RetractionStatus.RETRACTED


@dataclass(frozen=True, slots=True)
class NewsPage:
    """Some news. `position` is behind the last entry that was read, where the next page begins.

    `more`: there may be others. `warnings` are sentences for the user.
    """

    items: list[NewsItem]
    position: str
    more: bool = False
    warnings: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Unread:
    """What a reader has not read of a query: one item a paper, the retracted ones first, then the newest.

    `position` is that of the newest entry, up to which the reader may mark the news as read; "" before the first sync
    is complete, as nothing can be marked until then. `more`: there are older ones besides. `warnings` are sentences for
    the user.
    """

    items: list[NewsItem]
    position: str
    more: bool
    warnings: list[str]


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
    if not is_settled(query_key, backends):
        return [f"the first sync of {query_key!r} is not complete yet"]
    return [INCOMPLETE.format(query_key)]


def unread(query_key: str, reader: str | None, backends: Backends) -> Unread:
    """Return what a reader has not read; without a reader, the newest. Raises `NotFound` for a query that nothing
    followed."""
    warnings = check_followed(query_key, backends)
    entries, more = _unread_entries(query_key, reader, backends)

    def rank(item: NewsItem) -> int:
        """The entry of a paper that tells most: its retraction or withdrawal, else that it is new."""
        return (ChangeKind.RETRACTED, ChangeKind.DELETED, ChangeKind.NEW, ChangeKind.CHANGED).index(item.entry.kind)

    by_paper: dict[str, NewsItem] = {}
    for each in _items(entries, "", backends):
        known = by_paper.setdefault(each.entry.pmid, each)
        if rank(each) < rank(known):
            by_paper[each.entry.pmid] = each
    newest = sorted(by_paper.values(), key=lambda each: (each.entry.at, each.entry.position), reverse=True)
    position = entries[0].position if entries and is_settled(query_key, backends) else ""
    return Unread(sorted(newest, key=lambda each: not each.is_retracted), position, more, warnings)


def count_unread(query_key: str, reader: str | None, backends: Backends) -> tuple[int, bool]:
    """Return how many papers `unread` has, and whether there are more."""
    entries, more = _unread_entries(query_key, reader, backends)
    known = {each.pmid for each in entries if each.kind is not ChangeKind.CHANGED}
    changed = [each for each in entries if each.pmid not in known]
    return len(known | {each.entry.pmid for each in _items(changed, "", backends)}), more


def mark_read(query_key: str, reader: str, position: str, backends: Backends) -> None:
    """Note that a reader has read the news of a query up to `position`, and nothing that comes later.

    Raises `NotFound` for a query that nothing followed, `InvalidInput` for a position behind the newest entry, and
    `Conflict` before the first sync is complete.
    """
    check_followed(query_key, backends)
    if not is_settled(query_key, backends):
        raise Conflict("the first sync is not complete yet; mark its papers as read when it is")
    place, _ = divided(position)
    newest = backends.news.since(query_key, "", 1, newest_first=True)
    if not newest or place > newest[0].position:
        raise InvalidInput("there is no such place in the news", field="position")
    backends.news.mark_read(query_key, reader, place)


def _unread_entries(query_key: str, reader: str | None, backends: Backends) -> tuple[list[NewsEntry], bool]:
    """The entries behind what a reader has read, the newest first, then older retractions; and whether there are
    others."""
    after = "" if reader is None else backends.news.read_to(query_key, reader)
    entries = backends.news.since(query_key, after, LOOKED_THROUGH, newest_first=True)
    given = entries[:MOST_UNREAD] + [each for each in entries[MOST_UNREAD:] if each.kind is ChangeKind.RETRACTED]
    return given, len(given) < len(entries)


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

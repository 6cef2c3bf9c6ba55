"""What is new about a followed query, and what of it a person has read."""

import re
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, Literal

from pydantic import Field

from bio_mcp.arguments import Day
from bio_mcp.callers import Caller, is_anonymous
from bio_mcp.errors import Forbidden, InvalidInput
from bio_mcp.literature.clock import instant, moment, sortable
from bio_mcp.literature.differences import Difference
from bio_mcp.literature.quality import year
from bio_mcp.literature.records import Article, ChangeKind, RetractionStatus
from bio_mcp.ports import Backends
from bio_mcp.syncing.news import NewsItem, first_sync, read_news
from bio_mcp.syncing.news import mark_read as mark
from bio_mcp.syncing.queries import list_queries, report_on
from bio_mcp.tool import ABSENT, Context, Request, Response, said, stated, tool
from bio_mcp.tools import answer_size, next_steps
from bio_mcp.tools.fields import REVIEW, TOPICS, AnsweredPmid, QueryKey, reading_tool

DAYS = 30  # before today, where nothing says since when
MOST_ENTRIES = 200
MOST_TEXT = 500  # characters of what a field lost or gained
FIRST_AUTHORS = 3
MOST_QUERIES = 100
FIRST = "the first sync of {!r} read {:,} papers, which are listed by the day on which each came to PubMed"
NONE_FOLLOWED = "No query is followed yet: pubmed_sync_delta begins one."
_POSITION = re.compile(r"(n\d{12} )?(\S+)( \d{10} \d{6,12} [a-z]+)(?: (\S+))?")
_KINDS = ("removed", "added")


class WhatsNew(Request):
    query_key: QueryKey = Field(default=ABSENT, description="without one: what is followed")
    since: Annotated[str, Day("-", whole=True)] = Field(
        default=ABSENT,
        max_length=100,
        description=f"date, time, or `next` of an answer; default {DAYS} days ago, after a first sync everything",
    )
    limit: int = Field(default=50, ge=1, le=MOST_ENTRIES, description="entries to look through")
    max_characters: answer_size.MaxCharacters = answer_size.DEFAULT


class MarkRead(Request):
    query_key: QueryKey
    position: str = Field(min_length=1, max_length=200, description="`next` of whatsNew")


class ReadTo(Response):
    """How far the caller has read the news of a query."""

    query_key: str
    position: str


class ChangedField(Response):
    """A field that differs: what is no longer there, and what was not there before; long texts are cut."""

    field: str
    removed: str = ""
    added: str = ""


class News(Response):
    """Something that became of a paper. `version` is the corpus's; `changed` is null where the one before is gone."""

    kind: Literal["new", "changed", "retracted", "deleted"]
    pmid: AnsweredPmid
    at: str
    version: int
    title: str | None = None
    authors: list[str] = Field(default_factory=list)
    journal: str | None = None
    year: int | None = None
    doi: str | None = None
    retraction: RetractionStatus = RetractionStatus.UNKNOWN
    notices: list[str] = Field(default_factory=list)
    changed: list[ChangedField] | None = None


class FollowedQuery(Response):
    """A followed query, the day up to which it is synced, and the state of its last sync."""

    query_key: str
    term: str
    settled_to: str | None = None
    last_sync: str | None = None
    about: str = said(default="", description="what the installation does by it")


class WhatIsNew(Response):
    """News of a query, the oldest first; without a query, those that are followed."""

    query_key: str | None
    news: list[News]
    next: str = Field(description="pass it as since for what comes after")
    more: bool = Field(description="whether there is more already")
    queries: list[FollowedQuery] = Field(default_factory=list)
    left_out: int = Field(default=0, description="did not fit; `next` is where they begin")
    warnings: list[str] = Field(default_factory=list)


@reading_tool(
    "whatsNew",
    family=REVIEW,
    command="news",
    timeout=15,
    in_default_list=True,
    beyond="what became of a topic since somebody last looked",
    also_uses=("checkpoints.all", "documents.at_version", "jobs.latest"),
    next_step=next_steps.after_news,
)
def whats_new(request: WhatsNew, backends: Backends) -> WhatIsNew:
    """List what is new, changed (what differs), retracted or withdrawn on a followed query; or the followed queries.

    It reads the corpus: sync the query first. Pass `next` as `since` to go on.
    """
    key = request.query_key
    if key is None:
        return _followed(backends)
    first = None if request.since else first_sync(key, backends)
    page = read_news(key, request.limit, backends, after="" if first else _position(request.since, backends))
    brought = report_on(first, backends.now()) if first else None
    answer = WhatIsNew.of(
        page,
        query_key=key,
        news=[news_of(each) for each in page.items],
        next=page.position,
        warnings=[*page.warnings, *([FIRST.format(key, brought.processed)] if brought else [])],
    )
    positions = [each.position for each in page.items]
    return answer_size.within(
        answer,
        "news",
        request.max_characters,
        more=lambda rest: {"next": positions[len(positions) - len(rest) - 1], "more": True},
    )


@tool(
    "markRead",
    family=TOPICS,
    scope="read",
    timeout=5,
    read_only=False,
    beyond="what of a topic is unread, on its page",
)
def mark_read(request: MarkRead, backends: Backends, context: Context) -> ReadTo:
    """Mark the news of a query as read by the caller, for the page Topics; what comes after the position is unread."""
    if (reader := reader_id(context.caller)) is None:
        raise Forbidden("Nobody is signed in whose reading could be noted.")
    mark(request.query_key, reader, request.position, backends)
    return ReadTo(query_key=request.query_key, position=backends.news.read_to(request.query_key, reader))


def reader_id(caller: Caller | None) -> str | None:
    """By what name it is noted within the tenant what a person has read: "" is the user of this machine. None: of who
    comes without a token nothing is noted."""
    if caller is None:
        return ""
    return None if is_anonymous(caller) else caller.subject


def _followed(backends: Backends) -> WhatIsNew:
    """The followed queries, each by the term that was synced last."""
    queries, left_out = list_queries(None, MOST_QUERIES, backends)
    now = backends.now()
    listed = [
        FollowedQuery.of(
            each,
            each.checkpoint,
            last_sync=report_on(each.job, now).state if each.job else None,
        )
        for each in queries
    ]
    none = [] if listed else [NONE_FOLLOWED]
    none_new: dict[str, Any] = {"query_key": None, "news": [], "next": "", "more": False}
    answer = WhatIsNew.of(queries=listed, left_out=left_out, warnings=none, **none_new)
    return answer_size.within(answer, "queries")


def _position(since: str | None, backends: Backends) -> str:
    """The position behind which the news begins. Raises `InvalidInput` for what is none of the three forms."""
    if not since:
        today = backends.today()
        return sortable(datetime(today.year, today.month, today.day, tzinfo=UTC) - timedelta(days=DAYS))
    given = _POSITION.fullmatch(since)
    number, begin, rest, time = given.groups(default="") if given else ("", since, "", "")
    try:
        return f"{number}{sortable(moment(begin))}{rest}" + (f" {sortable(moment(time))}" if time else "")
    except InvalidInput:
        raise InvalidInput(
            "give a date as 2026-01-31, an ISO 8601 time, or `next` of an answer", field="since"
        ) from None


def news_of(item: NewsItem) -> News:
    entry, about = item.entry, item.article
    known = _described(about) if about else {}
    if entry.kind is ChangeKind.CHANGED:
        known["changed"] = None if item.changed is None else [_changed(each) for each in item.changed]
    return News.of(entry, about, kind=entry.kind.value, at=instant(entry.at), **known)


def _described(article: Article) -> dict[str, Any]:
    journal, authors = article.journal, [each.short_name for each in article.authors]
    more = ["et al."] if len(authors) > FIRST_AUTHORS else []
    notices = [f"{each.relation}: {each.citation or each.pmid or ''}".strip() for each in article.corrections]
    return {
        "title": article.title or article.vernacular_title,
        "authors": [*authors[:FIRST_AUTHORS], *more],
        "journal": journal.title if journal else None,
        "year": year(article),
        "notices": notices if article.retraction not in (RetractionStatus.CLEAR, RetractionStatus.UNKNOWN) else [],
    }


def _changed(difference: Difference) -> ChangedField:
    texts = {kind: " … ".join(each.text.strip() for each in difference.pieces if each.kind == kind) for kind in _KINDS}
    shown = {kind: text if len(text) <= MOST_TEXT else f"{text[:MOST_TEXT]}…" for kind, text in texts.items()}
    return ChangedField(field=difference.field, **stated(**shown))

"""Read and move the watermark of a named query, list the queries that the corpus follows, and stop following one."""

from contextlib import suppress
from datetime import datetime
from typing import Annotated

from pydantic import Field

from bio_mcp.arguments import Day
from bio_mcp.errors import Conflict, Failure, InvalidInput
from bio_mcp.jobs.runner import leased
from bio_mcp.literature.clock import eastern_day, instant, moment
from bio_mcp.ports import Backends
from bio_mcp.ports.state import Job
from bio_mcp.syncing.cursor import LEASE_S
from bio_mcp.syncing.delta import abandon, jobs_of, lease_name
from bio_mcp.syncing.news import unfollowed
from bio_mcp.syncing.queries import OF_THE_INSTALLATION, remove, report_on, stop
from bio_mcp.syncing.queries import list_queries as list_followed
from bio_mcp.syncing.windows import FIELDS, future_warning
from bio_mcp.tool import ABSENT, Context, Request, Response, said, tool
from bio_mcp.tools import answer_size, next_steps
from bio_mcp.tools.fields import BIO_MCP, TOPICS, QueryKey, reading_tool

MOST_QUERIES = 100


class CheckpointGet(Request):
    query_key: QueryKey


class CheckpointState(Response):
    """The watermark of the term synced last; `last_edat` is null before the first sync, and for an unknown key."""

    query_key: str
    last_edat: str | None = Field(description="ISO8601 UTC or null")
    term: str | None = Field(default=None, description="the term synced last")
    warnings: list[str] = Field(default_factory=list)


class CheckpointSet(Request):
    query_key: QueryKey
    last_edat: Annotated[str, Day("-", whole=True)] = Field(description="ISO8601 UTC")


class Done(Response):
    ok: bool
    warnings: list[str] = said(default_factory=list)


class Queries(Request):
    query_key: QueryKey = Field(default=ABSENT, description="only this one")
    starts_with: str = Field(default="", max_length=200, description="only keys that begin so, in either case")
    cursor: answer_size.Cursor = ABSENT


class StopFollowing(Request):
    query_key: QueryKey


class Stopped(Response):
    """`terms` are those that the key had, none where nothing followed it."""

    query_key: str
    terms: list[str]


class LastSync(Response):
    """The newest job of a query; counts are records."""

    job_id: str
    state: str = Field(description="complete, incomplete, running, waiting, stalled, interrupted or cancelled")
    started_at: str
    updated_at: str
    inserted: int
    updated: int
    skipped: int
    failed: int
    processed: int
    expected: int
    warnings: list[str]
    error: str | None


class Query(Response):
    """A followed query: a key with one of its terms."""

    query_key: str
    term: str
    last_edat: str | None
    settled_to: str | None = Field(description="day up to which all that matches is in the corpus")
    last_sync: LastSync | None
    about: str = said(default="", description="what the installation does by it")


class QueryList(Response):
    """The followed queries, sorted by key; `left_out` counts those beyond the length of an answer, with which
    `next_cursor` goes on."""

    queries: list[Query]
    left_out: int
    next_cursor: str | None = None
    papers: int | None = Field(description="in the corpus; null: unknown")


@tool(
    "corpus.checkpoint.get", family=BIO_MCP, scope="read", command="admin checkpoint get", timeout=5, output_listed=True
)
def get_checkpoint(request: CheckpointGet, backends: Backends) -> CheckpointState:
    """Read how far a query has been synced, by the term synced last: the newest entry date in the corpus."""
    checkpoint = backends.checkpoints.get(request.query_key)
    of_key = backends.checkpoints.all(request.query_key)
    warnings = [warning for each in of_key if (warning := future_warning(each, backends.today()))]
    if not of_key:
        warnings = [str(unfollowed(request.query_key, backends))]
    return CheckpointState.of(checkpoint, warnings=list(dict.fromkeys(warnings)))


@tool(
    "corpus.checkpoint.set",
    family=BIO_MCP,
    scope="admin",
    command="admin checkpoint set",
    output_listed=True,
    timeout=5,
    read_only=False,
    destructive=True,
    also_uses=("jobs.put",),
)
def set_checkpoint(request: CheckpointSet, backends: Backends, context: Context) -> Done:
    """Move the watermark of a named query, also backwards: the next sync reads everything since then again."""
    last_edat, day = instant(moment(request.last_edat)), eastern_day(request.last_edat)
    if day > backends.today():
        raise InvalidInput(f"{request.last_edat} is in the future; records until then would be lost", field="last_edat")
    with leased(lease_name(request.query_key), LEASE_S, backends) as free:
        if not free:
            raise Conflict(f"a sync of {request.query_key!r} is running; set the checkpoint when it is done")
        for job in jobs_of(request.query_key, backends):
            abandon(job, backends)
        before = backends.checkpoints.set(request.query_key, last_edat, dict.fromkeys(FIELDS, str(day)))
        change = (request.query_key, before.last_edat, last_edat)
        backends.audit.record("corpus.checkpoint.set", *change, caller=context.subject)
    early = f"No query {request.query_key!r} is followed yet: the watermark is for its first sync, if there is one."
    return Done.of(ok=True, warnings=[] if before.term else [early])


@reading_tool(
    "corpus.queries",
    family=BIO_MCP,
    command="admin queries list",
    timeout=5,
    beyond="what is followed, how far it is synced, and what became of a sync that continued by itself",
    does_without=("documents.count",),
    next_step=next_steps.after_queries,
)
def list_queries(request: Queries, backends: Backends) -> QueryList:
    """List the followed queries as whatsNew does, with the counts and warnings of the last sync of each."""
    first = int(request.cursor or 0)
    followed, left_out = list_followed(request.query_key, MOST_QUERIES, backends, request.starts_with, first)
    now = backends.now()
    queries = [
        Query.of(each.checkpoint, each, last_sync=_last_sync(each.job, now) if each.job else None) for each in followed
    ]
    papers, last = None, first + len(queries)
    following = {"next_cursor": str(last)} if left_out else {}
    with suppress(Failure):  # where this process may not read it
        papers = backends.documents.count()
    answer = QueryList(queries=queries, papers=papers, left_out=left_out, **following)
    return answer_size.within(answer, "queries", more=lambda rest: {"next_cursor": str(last - len(rest))})


@tool(
    "stopFollowing",
    family=TOPICS,
    scope="admin",
    timeout=10,
    read_only=False,
    destructive=True,
    beyond="to stop following a topic on its page",
    also_uses=("jobs.put", "jobs.remove", "audit.record"),
)
def stop_following(request: StopFollowing, backends: Backends) -> Stopped:
    """Stop following a query, for everybody: its syncs, watermarks and news go, its papers stay."""
    if request.query_key in OF_THE_INSTALLATION:
        raise InvalidInput(f"the installation {OF_THE_INSTALLATION[request.query_key]}", field="query_key")
    try:
        stop(request.query_key, backends)
        removed = remove(request.query_key, backends)
    except Conflict:
        raise Conflict("its sync is still ending; try again in a minute", retry_after_s=60) from None
    return Stopped(query_key=request.query_key, terms=[each.term for each in removed if each.term])


def _last_sync(job: Job, now: datetime) -> LastSync:
    """The job as the answer shows it; counts include the batch in work."""
    report = report_on(job, now)
    return LastSync.of(
        report,
        job_id=job.job_id,
        started_at=instant(job.created),
        updated_at=instant(job.updated),
        warnings=answer_size.some(report.warnings, answer_size.LEAST),
        error=job.progress.get("error"),
    )

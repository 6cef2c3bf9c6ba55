"""The pages of syncs: how each one goes or went, and all that one has to tell."""

from datetime import datetime

from bio_mcp.doors.console.pages import CONSOLE, Page
from bio_mcp.errors import NotFound
from bio_mcp.literature.clock import instant
from bio_mcp.ports import Backends
from bio_mcp.ports.state import Job
from bio_mcp.syncing.cursor import Cursor
from bio_mcp.syncing.planning import KIND
from bio_mcp.syncing.queries import report_on
from bio_mcp.syncing.reports import SyncReport
from bio_mcp.tool import Response, resource

MOST_SYNCS = 50
MOST_NAMED = 200  # records that could not be fetched
MOVING = {"running", "waiting"}  # states of which a page shows the progress


class SyncShown(Response):
    """A sync; counts are records. `warnings` is how many it has."""

    job_id: str
    query_key: str
    term: str
    state: str
    moving: bool
    started_at: str
    updated_at: str
    processed: int
    expected: int
    inserted: int
    updated: int
    skipped: int
    failed: int
    warnings: int
    error: str | None


class SyncsPage(Response):
    """The newest syncs, the newest first. `moving`: one of them runs or waits."""

    syncs: list[SyncShown]
    moving: bool


class SyncPage(Response):
    """A sync with its warnings. `failed` are PMIDs not fetched, `missing` those that PubMed lists and withholds."""

    sync: SyncShown
    warnings: list[str]
    failed: list[str]
    missing: list[str]
    unnamed: int


@resource("console://syncs", name="syncs page", family=CONSOLE, scope="read", timeout=8)
def syncs_page(backends: Backends) -> SyncsPage:
    """The newest syncs and how far they are."""
    now = backends.now()
    syncs = [_shown(job, report_on(job, now)) for job in backends.jobs.newest(KIND, MOST_SYNCS)]
    return SyncsPage(syncs=syncs, moving=any(each.moving for each in syncs))


@resource("console://syncs/{job_id}", name="sync page", family=CONSOLE, scope="read", timeout=5)
def sync_page(backends: Backends, job_id: str) -> SyncPage:
    """One sync, with what went wrong."""
    job = backends.jobs.get(job_id)
    if job.kind != KIND:
        raise NotFound(f"There is no sync {job_id!r}")
    return _page(job, backends.now())


def _page(job: Job, now: datetime) -> SyncPage:
    cursor, report = Cursor.from_json(job.cursor), report_on(job, now)
    failed, missing = sorted(cursor.failed, key=int), sorted(cursor.missing, key=int)
    named = failed[:MOST_NAMED], missing[:MOST_NAMED]
    return SyncPage(
        sync=_shown(job, report),
        warnings=list(report.warnings),
        failed=named[0],
        missing=named[1],
        unnamed=len(failed) + len(missing) - sum(map(len, named)),
    )


def _shown(job: Job, report: SyncReport) -> SyncShown:
    return SyncShown(
        job_id=job.job_id,
        query_key=job.request["query_key"],
        term=job.request["term"],
        state=report.state,
        moving=report.state in MOVING,
        started_at=instant(job.created),
        updated_at=instant(job.updated),
        processed=report.processed,
        expected=report.expected,
        inserted=report.inserted,
        updated=report.updated,
        skipped=report.skipped,
        failed=report.failed,
        warnings=len(report.warnings),
        error=job.progress.get("error"),
    )


PAGE = Page("/syncs", "syncs.html", syncs_page, "Syncs")
ONE = Page("/syncs/{job_id}", "sync.html", sync_page)

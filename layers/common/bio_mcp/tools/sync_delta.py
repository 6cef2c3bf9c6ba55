"""Bring the corpus up to date with PubMed."""

import logging
from typing import Any

from pydantic import Field

from bio_mcp.errors import Forbidden
from bio_mcp.ingesting import notice_checks
from bio_mcp.ports import Backends
from bio_mcp.syncing import retractions, withdrawals
from bio_mcp.syncing.delta import TOOL
from bio_mcp.syncing.delta import sync_delta as sync
from bio_mcp.syncing.jobs import Share
from bio_mcp.syncing.reports import SyncReport
from bio_mcp.tool import Context, Request, Response, tool
from bio_mcp.tools import budget
from bio_mcp.tools.families import BIO_MCP, QueryKey

log = logging.getLogger(__name__)

_ABSENT: Any = None  # an optional input is absent, never null, so its type is the plain one


class SyncDelta(Request):
    """The query to sync, or the job to continue."""

    query_key: QueryKey = Field(description="your name for this query, the same each time")
    term: str = Field(min_length=1, description="PubMed search syntax")
    overlap_days: int = Field(default=5, ge=0, description="days before the last sync to read again")
    known_only: bool = Field(default=False, description="update what the corpus has, add only what projects have")
    max_records: int = Field(
        default=_ABSENT,
        ge=1,
        description="confirms that a new sync may read so many records",
    )
    job_id: str = Field(
        default=_ABSENT, min_length=1, description="continue this job, or report its result; start no other"
    )


class SyncResult(Response):
    """Result or progress of a sync; counts are records."""

    job_id: str
    inserted: int = Field(ge=0)
    updated: int = Field(ge=0)
    skipped: int = Field(ge=0)
    pmids_processed: int = Field(ge=0)
    max_edat_seen: str | None = None
    warnings: list[str] = Field(default_factory=list)
    failed: int = Field(default=0, ge=0)
    expected: int = Field(default=0, ge=0)
    state: str = Field(default="complete", description="complete, incomplete, continues, running or cancelled")
    ended: str | None = Field(default=None, description="when the reported job ended; this call did nothing")


@tool(
    TOOL,
    family=BIO_MCP,
    scope="sync",
    command="sync",
    timeout=25,
    read_only=False,
    open_world=True,
    in_default_list=True,
    also_uses=(
        *("checkpoints.set", "continuations.send", "documents.delete", "jobs.get", "passages.delete"),
        *("notices.of", "project_documents.find", "project_documents.put"),
    ),
)
def sync_delta(request: SyncDelta, backends: Backends, context: Context) -> SyncResult:
    """Bring the corpus up to date with everything in PubMed that matches a term.

    Stores and indexes records that are new, late or revised since the last sync of this query_key. Safe to repeat. A
    very large sync is refused with its size, to confirm or to narrow. A large one continues by itself: the same call
    again reports its progress or its result.
    """
    report = _run(request, backends, context)
    _log(request.query_key, report)
    result = SyncResult(
        job_id=report.job_id,
        inserted=report.inserted,
        updated=report.updated,
        skipped=report.skipped,
        pmids_processed=report.processed,
        max_edat_seen=report.max_edat,
        warnings=budget.some(report.warnings),
        failed=report.failed,
        expected=report.expected,
        state=report.state,
    )
    return result.model_copy(update={"ended": report.ended}) if report.ended else result


def _run(request: SyncDelta, backends: Backends, context: Context) -> SyncReport:
    """Sync, or check for withdrawals or for notices; the nightly sync of retractions queues the first when it is
    complete."""
    if request.query_key == notice_checks.QUERY_KEY:
        if context.caller:
            raise Forbidden("the installation does this each night; checkNotices does it for a project")
        share = Share(backends, context.deadline, context.progress, context.unattended)
        return notice_checks.check_all_notices(share, request.job_id)
    if request.query_key == withdrawals.QUERY_KEY:
        whole = not context.unattended
        return withdrawals.check_withdrawals(backends, context.deadline, context.progress, whole=whole)
    report = sync(
        request.query_key,
        request.term,
        request.overlap_days,
        backends,
        context.deadline,
        context.progress,
        known_only=request.known_only,
        max_records=_most(request, backends, context),
        job_id=request.job_id,
        unattended=context.unattended,
    )
    if context.unattended and request.query_key == retractions.QUERY_KEY and report.state == "complete":
        withdrawals.queue(backends)
    return report


def _most(request: SyncDelta, backends: Backends, context: Context) -> int:
    """Records that a new sync may have; 0: any number, where nobody could confirm it and where none is fetched anew."""
    if request.known_only or context.unattended:
        return 0
    return request.max_records or backends.sync_max_records


def _log(query_key: str, report: SyncReport) -> None:
    """Log the progress of the job, and its warnings once it has ended."""
    named = {"query_key": query_key, "state": report.state, "job_id": report.job_id}
    log.info("synced", extra=named)
    if report.state in ("complete", "incomplete") and not report.ended:
        for warning in report.warnings:
            log.warning("sync: %s", warning, extra=named)

"""Bring the corpus up to date with PubMed."""

import logging

from pydantic import Field

from bio_mcp.errors import Forbidden
from bio_mcp.ingesting import notices
from bio_mcp.jobs.runner import RunContext
from bio_mcp.ports import Backends
from bio_mcp.syncing import queries, withdrawals
from bio_mcp.syncing.cursor import TOOL, SyncReport
from bio_mcp.syncing.delta import sync_delta as sync
from bio_mcp.tool import ABSENT, Context, Request, Response, said, tool
from bio_mcp.tools import answer_size, next_steps
from bio_mcp.tools.fields import BIO_MCP, QueryKey, log_report

log = logging.getLogger(__name__)


class SyncDelta(Request):
    query_key: QueryKey = Field(description="its name, the same each time")
    term: str = Field(min_length=1, description="PubMed search syntax")
    overlap_days: int = Field(default=5, ge=0, description="days to read again")
    known_only: bool = Field(default=False, description="update what the corpus has, add only what projects have")
    max_records: int = Field(default=ABSENT, ge=1, description="confirms so many")
    confirm: bool = Field(default=False, description="the term is meant as it stands")
    job_id: str = Field(default=ABSENT, min_length=1, description="continue this job, or report it; start no other")


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
    ended: str | None = said(default=None, description="when the reported job ended; this call did nothing")


@tool(
    TOOL,
    family=BIO_MCP,
    scope="sync",
    command="sync",
    output_listed=True,
    timeout=25,
    read_only=False,
    open_world=True,
    in_default_list=True,
    next_step=next_steps.after_sync,
    also_uses=(
        *("checkpoints.set", "continuations.send", "documents.delete", "jobs.get", "passages.delete"),
        *("notices.of", "project_documents.find", "project_documents.put", "leases.take"),
    ),
)
def sync_delta(request: SyncDelta, backends: Backends, context: Context) -> SyncResult:
    """Follow a PubMed term: bring in every record that is new or revised since the last sync of this query_key.

    Refused until confirmed: a very large sync, another term for a key, a word that PubMed does not know. A long one
    continues by itself: the same call again reports progress or result. whatsNew lists what came.
    """
    report = _run(request, backends, context)
    log_report(log, "sync", report, query_key=request.query_key)
    return SyncResult.of(
        report,
        pmids_processed=report.processed,
        max_edat_seen=report.max_edat,
        warnings=answer_size.some(report.warnings),
    )


def _run(request: SyncDelta, backends: Backends, context: Context) -> SyncReport:
    """Sync, or check for withdrawals or for notices; the nightly sync of queries queues the first when it is
    complete."""
    if request.query_key == notices.QUERY_KEY:
        if context.caller:
            raise Forbidden("the installation does this each night; checkNotices does it for a project")
        share = RunContext(backends, context.deadline, context.progress, context.unattended)
        return notices.check_all_notices(share, request.job_id)
    if request.query_key == withdrawals.QUERY_KEY:
        whole = not context.unattended
        return withdrawals.check_withdrawals(backends, context.deadline, context.progress, whole=whole)
    unasked = request.known_only or context.unattended  # nobody could confirm its size, or nothing is fetched anew
    report = sync(
        request.query_key,
        request.term,
        request.overlap_days,
        backends,
        context.deadline,
        context.progress,
        known_only=request.known_only,
        max_records=0 if unasked else request.max_records or backends.sync_max_records,
        asks=not request.confirm and request.query_key not in queries.OF_THE_INSTALLATION,
        job_id=request.job_id,
        unattended=context.unattended,
    )
    if context.unattended and request.query_key == queries.RETRACTIONS_KEY and report.state == "complete":
        backends.continuations.send(withdrawals.CALL)
    return report

"""Long pieces of work: how far one is, and its end before its time."""

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from pydantic import Field

from bio_mcp.jobs.runner import cancel
from bio_mcp.literature.clock import instant
from bio_mcp.ports import Backends
from bio_mcp.ports.state import Job
from bio_mcp.tool import Context, Request, Response, resource, tool
from bio_mcp.tools.fields import BIO_MCP


@cache
def _calls() -> Mapping[str, Callable[[Job], dict[str, Any]]]:
    """What makes the call that continues a job, by its kind; a start imports none of these."""
    from bio_mcp.evaluating import run as evaluating
    from bio_mcp.exporting import run as exporting
    from bio_mcp.ingesting import run as ingesting
    from bio_mcp.querying.references import run as references
    from bio_mcp.syncing.delta import KIND as SYNC
    from bio_mcp.syncing.delta import SyncRun

    return {
        SYNC: SyncRun.continuation,
        ingesting.KIND: ingesting.IngestRun.continuation,
        ingesting.BATCH_KIND: ingesting.IngestRun.continuation,
        evaluating.KIND: evaluating.EvaluationRun.continuation,
        exporting.KIND: exporting.ExportRun.continuation,
        references.KIND: references.ReferencesRun.continuation,
    }


class JobStatus(Response):
    """How far a job is.

    `tool` called with `arguments` continues it or, once it has ended, gives its result; both are null where that is for
    the user of this machine only.
    """

    job_id: str
    state: str = Field(description="running, waiting, stalled, succeeded, failed or cancelled")
    processed: int
    expected: int
    problem: str | None = Field(description="why its last run ended early")
    created_at: str
    updated_at: str
    tool: str | None
    arguments: dict[str, Any] | None


class JobCancel(Request):
    job_id: str


class Cancelled(Response):
    job_id: str
    state: str


@resource("job://{job_id}", name="job", family=BIO_MCP, scope="read", timeout=5)
def job(backends: Backends, job_id: str, context: Context) -> JobStatus:
    """How far a sync, ingest or evaluation is, by its job_id."""
    found = backends.jobs.get(job_id)
    known = _calls().get(found.kind) if context.local or not found.request.get("local") else None
    call = known(found) if known else {}
    return JobStatus.of(
        found,
        processed=found.progress.get("processed", 0),
        expected=found.progress.get("expected", 0),
        problem=found.progress.get("error"),
        created_at=instant(found.created),
        updated_at=instant(found.updated),
        tool=call.get("tool"),
        arguments=call.get("arguments"),
    )


@tool(
    "jobs.cancel",
    family=BIO_MCP,
    scope="admin",
    timeout=5,
    read_only=False,
    beyond="a sync or ingest that was begun by mistake runs for hours",
)
def jobs_cancel(request: JobCancel, backends: Backends, context: Context) -> Cancelled:
    """End a job. What it has done stays."""
    found = backends.jobs.get(request.job_id)
    if found.unfinished:
        cancel(found, "jobs.cancel", backends, context.subject)
    return Cancelled.of(found)

"""Ingest documents into a project."""

import logging
from typing import Annotated, Any

from pydantic import Field

from bio_mcp.ingesting.reports import IngestReport
from bio_mcp.ingesting.run import TOOL
from bio_mcp.ingesting.sources import Ingesting, Options
from bio_mcp.ports import Backends
from bio_mcp.schemas import unpublished
from bio_mcp.tool import Context, Request, Response, tool
from bio_mcp.tools.families import CITELOOM, SPARSE_MODEL, ProjectId

log = logging.getLogger(__name__)

_ABSENT: Any = None  # an optional input is absent, never null, so its type is the plain one
Source = Annotated[str, Field(min_length=1, max_length=4096, json_schema_extra=unpublished)]


class IngestOptions(Request):
    """How documents are read."""

    ocr_languages: list[str] = Field(default=_ABSENT, description="of scans, as eng or de, the likeliest first")
    references_path: str = Field(default=_ABSENT, description="CSL-JSON that describes the works")
    force_rebuild: bool = Field(default=False, description="read everything again; embed by the configured model")


class Ingest(Request):
    """The source to read, and the project to read it into."""

    project: ProjectId
    source: Source = Field(description="file, folder, s3://bucket/key, https://... or zotero")
    options: IngestOptions = _ABSENT
    job_id: str = Field(default=_ABSENT, min_length=1, description="continue this job, or report its result")


class IngestResult(Response):
    """Result or progress of an ingest."""

    chunks_written: int = Field(ge=0)
    documents_processed: int = Field(ge=0)
    project: str
    dense_model: str
    sparse_model: str | None
    duration_seconds: float
    warnings: list[str]
    job_id: str | None = None
    state: str = Field(default="complete", description="complete, incomplete, continues, running or cancelled")
    documents_expected: int = Field(default=0, ge=0)
    documents_unchanged: int = Field(default=0, ge=0)
    failed: int = Field(default=0, ge=0)
    ended: str | None = Field(default=None, description="when the reported job ended; this call did nothing")


@tool(
    TOOL,
    family=CITELOOM,
    command="ingest",
    timeout=15,
    read_only=False,
    open_world=True,
    also_uses=(
        *("collections.document", "collections.rebuild", "collections.upsert", "projects.put"),
        *("documents.get_many", "documents.resolve", "project_documents.delete"),
        *("zotero.changes", "project_documents.all", "project_documents.cursor", "project_documents.put_cursor"),
        *("continuations.send", "jobs.get"),
    ),
)
def ingest_from_source(request: Ingest, backends: Backends, context: Context) -> IngestResult:
    """Read documents (PDF, DOCX, HTML, Markdown, JATS, text) or a library of Zotero into a project.

    Safe to repeat: what has not changed is skipped. A long ingest continues by itself: `state` is then "continues", and
    the same call again reports its progress or its result.
    """
    options = request.options or IngestOptions()
    ingesting = Ingesting(
        backends, context.deadline, context.progress, local=context.local, unattended=context.unattended
    )
    report = ingesting.ingest(
        request.model_dump(mode="json", exclude_unset=True, exclude={"job_id"}),
        Options(options.ocr_languages or (), options.references_path, options.force_rebuild),
        request.job_id,
    )
    _log(request.project, report)
    return _result(request.project, report, backends)


def _log(project: str, report: IngestReport) -> None:
    """Log the progress of the job, and its warnings once it has ended."""
    named = {"project": project, "state": report.state, "job_id": report.job_id, "failed": report.cursor.failed}
    log.info("ingested", extra=named)
    if report.state in ("complete", "incomplete") and not report.ended:
        for warning in report.warnings:
            log.warning("ingest: %s", warning, extra=named)


def _result(project_id: str, report: IngestReport, backends: Backends) -> IngestResult:
    cursor, project = report.cursor, backends.projects.get(project_id)
    result = IngestResult(
        chunks_written=cursor.chunks,
        documents_processed=cursor.processed,
        project=project_id,
        dense_model=project.embed_model,
        sparse_model=SPARSE_MODEL if project.hybrid_enabled else None,
        duration_seconds=round(cursor.seconds, 3),
        warnings=list(report.warnings),
        job_id=report.job_id,
        state=report.state,
        documents_expected=cursor.expected,
        documents_unchanged=cursor.unchanged,
        failed=cursor.failed,
    )
    return result.model_copy(update={"ended": report.ended}) if report.ended else result

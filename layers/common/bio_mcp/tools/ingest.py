"""Ingest documents into a project, and what they state into the graph."""

import logging
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from bio_mcp.arguments import OneOf
from bio_mcp.deadline import Deadline
from bio_mcp.errors import Forbidden, InvalidInput, NotFound
from bio_mcp.extracting import run as extracting
from bio_mcp.extracting.run import Provider
from bio_mcp.ingesting.added import upload_in
from bio_mcp.ingesting.correcting import EDITED, correct, in_normal_form, missing
from bio_mcp.ingesting.documents import document_of
from bio_mcp.ingesting.projects import Created, create_project, delete_document
from bio_mcp.ingesting.projects import Options as New
from bio_mcp.ingesting.run import BATCH_TOOL, TOOL, IngestReport
from bio_mcp.ingesting.scanned_quotes import boxed_words
from bio_mcp.ingesting.sources import Options, ingest
from bio_mcp.jobs.runner import RunContext
from bio_mcp.ports import Backends
from bio_mcp.querying.looking_up import lookup_of
from bio_mcp.tenants import NO_EDGES
from bio_mcp.tool import ABSENT, Context, Request, Response, said, tool, unpublished
from bio_mcp.tools import answer_size, next_steps
from bio_mcp.tools.fields import CITELOOM, PAGES, SPARSE_MODEL, TTM, ProjectId, log_report, reading_tool

log = logging.getLogger(__name__)

FIRST_EDGES = 20
MOST_MADE = 100  # projects that callers over the network make in a tenant
Source = Annotated[str, Field(min_length=1, max_length=4096, json_schema_extra=unpublished)]


class IngestOptions(Request):
    ocr_languages: list[str] = Field(default=ABSENT, description="of scans, as eng or de, the likeliest first")
    references_path: str = Field(default=ABSENT, description="CSL-JSON that describes the works")
    force_rebuild: bool = Field(default=False, description="read everything again; embed by the configured model")


class Ingest(Request):
    project: ProjectId
    source: Source = Field(description="file, folder, s3://bucket/key, https://... or zotero")
    options: IngestOptions = ABSENT
    create: bool = Field(default=False, description="make the project if there is none")
    job_id: str = Field(default=ABSENT, min_length=1, description="continue this job, or report its result")


class IngestResult(Response):
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
    ended: str | None = said(default=None, description="when the reported job ended; this call did nothing")


@tool(
    TOOL,
    family=CITELOOM,
    scope="ingest",
    command="ingest",
    next_step=next_steps.after_ingest,
    timeout=15,
    read_only=False,
    open_world=True,
    in_default_list=True,
    also_uses=(
        *("collections.create", "collections.count", "collections.document", "collections.rebuild"),
        *("collections.upsert", "projects.put"),
        *("documents.get_many", "documents.resolve", "project_documents.delete"),
        *("zotero.changes", "project_documents.all", "project_documents.put_cursor"),
        *("continuations.send", "jobs.get"),
        *("blobs.get uploads", "blobs.get files", "blobs.put files", "blobs.delete files"),
    ),
)
def ingest_from_source(request: Ingest, backends: Backends, context: Context) -> IngestResult:
    """Read documents (PDF, DOCX, HTML, Markdown, JATS, text) or a library of Zotero into a project, made if asked.

    What has not changed is skipped. A long one continues by itself: `state` is then "continues", and the same call
    again reports progress or result.
    """
    if request.create:
        _make(request.project, backends, context)
    options = request.options or IngestOptions()
    waits = upload_in(request.source) is None or context.unattended
    deadline = context.deadline if waits else Deadline(0)  # the queue reads what was sent, however long it takes
    report = ingest(
        request.model_dump(mode="json", exclude_unset=True, exclude={"job_id"}),
        Options(
            options.ocr_languages or (),
            options.references_path,
            options.force_rebuild,
            lookup_of(request.project, backends, context.deadline),
        ),
        RunContext(backends, deadline, context.progress, context.unattended),
        local=context.local,
        job_id=request.job_id,
    )
    log_report(log, "ingest", report, project=request.project, failed=report.cursor.failed)
    cursor, project = report.cursor, backends.projects.get(request.project)
    return IngestResult.of(
        report,
        cursor,
        chunks_written=cursor.chunks,
        documents_processed=cursor.processed,
        project=request.project,
        dense_model=project.embed_model,
        sparse_model=SPARSE_MODEL if project.hybrid_enabled else None,
        duration_seconds=round(cursor.seconds, 3),
        warnings=answer_size.some(report.warnings),
        documents_expected=cursor.expected,
        documents_unchanged=cursor.unchanged,
    )


class NewProject(Request):
    project: ProjectId


class MadeProject(Response):
    """`new`: there was none of this id."""

    project: str
    new: bool


@tool("create_project", family=PAGES, scope="ingest", timeout=15, read_only=False)
def create_project_tool(request: NewProject, backends: Backends, context: Context) -> MadeProject:
    """Make an empty project for the user's own documents; one that exists stays as it is."""
    created = _make(request.project, backends, context)
    return MadeProject(project=created.project.project_id, new=created.new)


class NamedDocument(Request):
    project: ProjectId
    document: str = Field(min_length=1, description="its citekey, DOI, PMID or id")


class DocumentCorrection(NamedDocument):
    title: str = ABSENT
    authors: list[str] = Field(default_factory=list, description="each as Doe J")
    year: int = Field(default=ABSENT, ge=1500, le=2100)
    journal: str = ABSENT
    doi: str = ABSENT
    pmid: str = ABSENT
    citekey: str = ABSENT
    empty: list[Annotated[str, OneOf(EDITED)]] = Field(default_factory=list, description="fields that have no value")


class CorrectedDocument(Response):
    """The document, and what a citation of it still lacks."""

    doc_id: str
    citekey: str | None = None
    missing: list[str]


@tool("edit_document", family=PAGES, scope="ingest", timeout=10, read_only=False)
def edit_document(request: DocumentCorrection, backends: Backends) -> CorrectedDocument:
    """Correct what is known of a document of a project, which holds over whatever a later ingest finds."""
    said = in_normal_form(request.model_dump(exclude_unset=True, include={*EDITED}), request.empty)
    corrected = correct(backends.projects.get(request.project), request.document, said, backends)
    return CorrectedDocument(doc_id=corrected.doc_id, citekey=corrected.work.citekey, missing=list(missing(corrected)))


class DeletedDocument(Response):
    doc_id: str


@tool("delete_document", family=PAGES, scope="ingest", timeout=10, read_only=False)
def delete_document_tool(request: NamedDocument, backends: Backends) -> DeletedDocument:
    """Delete a document of a project, its passages, and the PDF that is kept of it."""
    deleted = delete_document(backends.projects.get(request.project), request.document, backends)
    return DeletedDocument(doc_id=deleted.doc_id)


LONGEST_QUOTE = 2_000  # characters


class QuoteOnPage(Request):
    project: ProjectId
    doc_id: str = Field(min_length=1)
    page: int = Field(ge=1)
    quote: str = Field(min_length=8, max_length=LONGEST_QUOTE)


class BoxedWord(Response):
    """`box`: left, top, right and bottom edge, as shares of the page's width and height."""

    text: str
    box: list[float]


class BoxedQuote(Response):
    words: list[BoxedWord] = Field(description="none: it does not stand there, or the file is not kept")


@reading_tool("box_quote", family=PAGES, timeout=25)
def box_quote(request: QuoteOnPage, backends: Backends) -> BoxedQuote:
    """Find where the words of a quotation stand on a scanned page of a document whose file is kept."""
    backends.projects.get(request.project)
    document = document_of(request.project, request.doc_id, backends.project_documents)
    if document is None:
        raise NotFound(f"Project {request.project!r} has no document {request.doc_id!r}.")
    words = boxed_words(document, request.page, request.quote, backends)
    shown = [BoxedWord(text=each.text, box=[round(edge, 4) for edge in each.box]) for each in words]
    return answer_size.within(BoxedQuote(words=shown), "words")


def _make(project_id: str, backends: Backends, context: Context) -> Created:
    """Make the project, unless it exists. Raises `InvalidInput` for a caller over the network with `MOST_MADE`."""
    known = [each.project_id for each in backends.projects.all()] if context.caller and not context.local else []
    if len(known) >= MOST_MADE and project_id not in known:
        raise InvalidInput(f"there are {MOST_MADE} projects, each with an index; have one deleted", field="project")
    return create_project(project_id, New(), backends)


class Item(Request):
    uri: str = Field(description="file, folder, s3://bucket/key, https://...")
    lang: Literal["th", "en", "auto"] = Field(default="auto", description="of scans")
    doc_type: Literal["pdf"] = Field(
        default="pdf", json_schema_extra=lambda given: given.update(enum=[given.pop("const")])
    )


class NoParams(Request):
    """Nothing can be set."""


class OcrParams(Request):
    languages: list[str] = Field(default=ABSENT, description="as eng or tha, the likeliest first")


class Ocr(Request):
    provider: Annotated[str, OneOf(("tesseract",))] = Field(default=ABSENT, description="tesseract")
    params: OcrParams = ABSENT


class Ner(Request):
    provider: Annotated[str, OneOf(("gazetteer",))] = Field(default=ABSENT, description="gazetteer")
    params: NoParams = ABSENT


class Run(Request):
    most_items: ClassVar[int] = 100

    dry_run: bool = True
    batch: list[Item] = Field(min_length=1)
    ocr: Ocr = ABSENT
    ner: Ner = ABSENT
    project: ProjectId = Field(default=ABSENT, description=f"for passages; default {extracting.DEFAULT_PROJECT}")
    job_id: str = Field(default=ABSENT, min_length=1, description="continue this job, or report its result")


class RunResult(Response):
    """How far the job is, and what it wrote; of a dry run, what it would write."""

    job_id: str
    status: Literal["queued", "running", "done", "error"]
    log_uri: str = Field(description="JSON lines: what was found, and each write")
    dry_run: bool
    project: str
    documents: int = Field(default=0, ge=0)
    failed: int = Field(default=0, ge=0)
    passages: int = Field(default=0, ge=0)
    mentions: int = Field(default=0, ge=0)
    edges: int = Field(default=0, ge=0)
    first_edges: list[str] = Field(default_factory=list, description="the log has the others")
    held_back: int = Field(default=0, ge=0, description="statements that are denied, open or ambiguous")
    warnings: list[str] = Field(default_factory=list, description="tell the user")
    ended: str | None = said(default=None, description="when the reported job ended; this call did nothing")


@tool(
    BATCH_TOOL,
    family=TTM,
    next_step=next_steps.after_dry_run,
    scope="ingest",
    timeout=15,
    read_only=False,
    open_world=True,
    also_uses=(
        *("collections.create", "collections.document", "collections.replace", "collections.upsert", "graph.put"),
        *("graph.neighbours", "documents.get_many", "documents.resolve", "project_documents.put"),
        *("project_documents.delete", "projects.put", "leases.take", "continuations.send", "jobs.get"),
    ),
)
def ingest_run(request: Run, backends: Backends, context: Context) -> RunResult:
    """Read documents, find what the graph names in them, and add their passages and clearly stated relations.

    Writes only with `dry_run: false`; a dry run lists what it would write. Without relations: ingest_from_source.
    """
    if context.caller and context.caller.tenant and not request.dry_run:
        raise Forbidden(NO_EDGES)
    ran = extracting.run(
        extracting.Batch(
            items=[(each.uri, each.lang) for each in request.batch],
            arguments=request.model_dump(mode="json", exclude_unset=True, exclude={"job_id"}),
            dry_run=request.dry_run,
            project=request.project,
            ocr=_provider(request.ocr, "tesseract"),
            ner=_provider(request.ner, "gazetteer"),
        ),
        RunContext(backends, context.deadline, context.progress, context.unattended),
        local=context.local,
        job_id=request.job_id,
    )
    log_report(log, "ingest", ran.report, project=ran.project, failed=ran.report.cursor.failed)
    report, edges = ran.report, [each for each in ran.lines if each.get("write") == "edge"]
    return RunResult.of(
        report,
        report.cursor,
        ran,
        status=_status(report),
        log_uri=backends.blobs.uri(ran.log) if context.local else f"blob:{ran.log}",
        dry_run=request.dry_run,
        documents=report.cursor.processed,
        passages=report.cursor.chunks,
        mentions=sum("mention" in each for each in ran.lines),
        edges=len(edges),
        first_edges=[f"{each['from']} {each['edge']} {each['to']}" for each in edges[:FIRST_EDGES]],
        held_back=sum("statement" in each and each["problem"] is not None for each in ran.lines),
        warnings=answer_size.some(report.warnings),
    )


def _provider(asked: Ocr | Ner | None, default: str) -> Provider:
    given = asked.model_dump(exclude_unset=True) if asked else {}
    return Provider(given.get("provider", default), given.get("params", {}))


def _status(report: IngestReport) -> Literal["queued", "running", "done", "error"]:
    """The contract's word. A job of whose documents none could be read is an error."""
    if report.state == "complete":
        return "error" if report.cursor.failed and not report.cursor.processed else "done"
    return "queued" if report.state == "continues" else "running" if report.state == "running" else "error"

"""Export papers to a file for a reference manager, a screening tool or a spreadsheet."""

from datetime import timedelta

from pydantic import Field

from bio_mcp.answering.search import LEAST_RELEVANCE
from bio_mcp.callers import is_anonymous
from bio_mcp.errors import InvalidInput, NotFound
from bio_mcp.exporting.formats import FORMATS, Name
from bio_mcp.exporting.run import FOLDER, MOST_PAPERS, TOOL, ExportCursor, ExportRun, finished
from bio_mcp.exporting.selecting import Selection
from bio_mcp.jobs.runner import RunContext
from bio_mcp.literature.clock import instant
from bio_mcp.ports import Backends
from bio_mcp.ports.state import Job
from bio_mcp.ports.stores import EXPIRING_DAYS
from bio_mcp.tool import ABSENT, Context, FileText, LinkedFile, Request, Response, resource, said, tool
from bio_mcp.tools.fields import BY_OTHER_IDS, REVIEW, AnsweredPmid, Pmid, ProjectId, QueryKey, ReviewName

SELECTIONS = ("pmids", "query", "query_key", "project", "review")
MOST_FOR_ANYBODY = 1_000  # papers of an export, where everybody may read
DIGITS = 9  # of the number of a part
LINK_S = 3_600  # for which an address of the file works


class ExportPapers(Request):
    """Which papers to export, by exactly one of pmids, query, query_key, project and review, and to what."""

    format: Name = Field(description="csv: for spreadsheets and screening tools")
    pmids: list[Pmid] = Field(default=ABSENT, min_length=1)
    query: str = Field(default=ABSENT, min_length=1, description="as of rag_search")
    query_key: QueryKey = Field(default=ABSENT, description="all it found, and its review")
    project: ProjectId = Field(default=ABSENT, description="with its review")
    review: ReviewName = ABSENT
    limit: int = Field(default=ABSENT, ge=1, description="of query")
    least_relevance: float = Field(default=LEAST_RELEVANCE, ge=0, le=1, description="to a question")
    job_id: str = Field(default=ABSENT, min_length=1, description="continue it, or report its result")


class ExportedFile(LinkedFile):
    """The file. `url` downloads it for an hour, where there is such an address; `uri/1` is the first part."""

    parts: int
    url: str | None = said(default=None)
    expires_at: str


class Exported(Response):
    """How far an export is, and its file once it is complete."""

    job_id: str
    state: str = Field(description="complete, incomplete, continues, running or cancelled")
    papers: int = Field(description="in the file")
    expected: int
    file: ExportedFile | None = said(default=None)
    left_out: int = Field(default=0, description="papers found that are less relevant than least_relevance")
    reviewed: int = Field(default=0, description="papers that only the review has")
    absent: int = Field(default=0, description="papers that are in no source")
    missing: list[AnsweredPmid] = Field(default_factory=list, description="the first of them")
    warnings: list[str] = Field(default_factory=list)
    ended: str | None = said(default=None)


@tool(
    TOOL,
    family=REVIEW,
    scope="read",
    command="export",
    timeout=25,
    read_only=False,
    open_world=True,
    in_default_list=True,
    beyond="results go into Zotero, EndNote, ASReview or a spreadsheet",
    also_uses=(
        *("continuations.send", "jobs.get", "projects.get", "project_documents.all", "collections.document"),
        *(*BY_OTHER_IDS, "pubmed.esummary"),
        *("pubmed.efetch", "news.pmids", "news.is_whole", "checkpoints.all", "screenings.labels", "screenings.records"),
        *("screenings.plan", "screenings.merges", "screenings.searches", "screenings.reviews"),
    ),
)
def export_papers(request: ExportPapers, backends: Backends, context: Context) -> Exported:
    """Export papers (pmids, what matches a query, all of a followed query_key or a project) to a file with abstracts.

    The answer links the file. A large export continues by itself: the same call again reports its progress or result.
    """
    share = RunContext(backends, context.deadline, context.progress, context.unattended)
    arguments = request.model_dump(mode="json", exclude={"job_id"}, exclude_unset=True)
    most = MOST_FOR_ANYBODY if is_anonymous(context.caller) else MOST_PAPERS
    given = {name: getattr(request, name) for name in SELECTIONS if name in request.model_fields_set}
    if len(given) != 1:
        raise InvalidInput("give exactly one of pmids, query, query_key, project and review")
    selection = Selection(
        backends, context.deadline, **given, limit=request.limit, least_relevance=request.least_relevance
    )
    report = ExportRun(share, selection, request.format, arguments, most).run(request.job_id)
    cursor = report.cursor
    file = _file(report.job, cursor, backends, context) if cursor.file else None
    return Exported.of(report, cursor, papers=cursor.written, file=file)


def _file(job: Job, cursor: ExportCursor, backends: Backends, context: Context) -> ExportedFile:
    """The file; its address is of this machine's disk for the user of this machine alone."""
    form = FORMATS[job.request["arguments"]["format"]]
    name = f"papers-{job.created:%Y%m%d}{form.suffix}"
    here = backends.blobs.uri(cursor.file) if context.local else None
    return ExportedFile.of(
        form,
        uri=f"export://{job.job_id}",
        name=name,
        bytes=cursor.length,
        parts=len(cursor.parts),
        expires_at=instant(job.updated + timedelta(days=EXPIRING_DAYS[FOLDER])),
        url=backends.blobs.link(cursor.file, name, LINK_S) or here,
    )


@resource("export://{id}", name="export", family=REVIEW, scope="read", timeout=10, mime_type="text/plain")
def exported_file(backends: Backends, id: str) -> FileText:
    """The file of an export, if it has one part; see exportPapers."""
    job, cursor = finished(id, backends)
    if len(cursor.parts) > 1:
        raise InvalidInput(f"this file has {len(cursor.parts)} parts: read export://{id}/1 and the others, or its url")
    return _part(job, cursor, 1, backends)


@resource("export://{id}/details", name="export details", family=REVIEW, scope="read", timeout=5)
def export_details(backends: Backends, id: str, context: Context) -> ExportedFile:
    """Name, size and parts of an exported file, and an address that downloads it for an hour, if there is one."""
    return _file(*finished(id, backends), backends, context)


@resource("export://{id}/{part}", name="export part", family=REVIEW, scope="read", timeout=10, mime_type="text/plain")
def exported_part(backends: Backends, id: str, part: str) -> FileText:
    """A part of the file of an export, counted from 1; one after another they are the file."""
    return _part(*finished(id, backends), int(part) if part.isdecimal() and len(part) <= DIGITS else 0, backends)


def _part(job: Job, cursor: ExportCursor, number: int, backends: Backends) -> FileText:
    if not 1 <= number <= len(cursor.parts):
        raise NotFound(f"this file has parts 1 to {len(cursor.parts)}")
    try:
        content = backends.blobs.get(cursor.parts[number - 1])
    except NotFound:
        raise NotFound("this file has expired; export again") from None
    return FileText(text=content.decode(), mime_type=FORMATS[job.request["arguments"]["format"]].mime_type)

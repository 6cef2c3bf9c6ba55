"""The pages of projects: all of them, and one with its documents and how they came in."""

from collections.abc import Iterable

from bio_mcp.answering.retractions import Known, known
from bio_mcp.doors.console.pages import CONSOLE, Page
from bio_mcp.doors.console.syncs import MOVING
from bio_mcp.extracting.run import KIND as BATCH
from bio_mcp.ingesting.cursor import Cursor
from bio_mcp.ingesting.run import KIND as INGEST
from bio_mcp.literature.clock import instant
from bio_mcp.literature.notices import status_of
from bio_mcp.ports import Backends
from bio_mcp.ports.projects import Project, ProjectDocument
from bio_mcp.ports.state import Job
from bio_mcp.syncing.queries import state_of
from bio_mcp.tool import Context, Response, resource

MOST_PROJECTS = 100
MOST_DOCUMENTS = 200
MOST_JOBS = 10  # of a project
LOOKED_AT = 200  # jobs of a kind, for those of a project


class ProjectShown(Response):
    """A project. `words`: it is searched by words too, not by meaning alone."""

    project_id: str
    passages: int
    model: str
    words: bool


class ProjectsPage(Response):
    """The projects, by id; `left_out` counts those beyond `MOST_PROJECTS`."""

    projects: list[ProjectShown]
    left_out: int


class DocumentShown(Response):
    """A document of a project; `retraction` as PubMed has it where the corpus has the paper, else as notices
    about its DOI say."""

    doc_id: str
    title: str | None
    citekey: str | None
    authors: list[str]
    year: int | None
    doi: str | None
    pmid: str | None
    in_corpus: bool
    retraction: str | None
    passages: int
    pages: int | None
    ocr: bool


class IngestShown(Response):
    """An ingest of documents into a project."""

    job_id: str
    state: str
    moving: bool
    updated_at: str
    done: int
    expected: int
    written: int
    unchanged: int
    failed: int
    warnings: list[str]
    error: str | None


class ProjectPage(Response):
    """A project with its documents, by title, and its newest ingests; `left_out` counts documents not listed."""

    project: ProjectShown
    documents: list[DocumentShown]
    left_out: int
    ingests: list[IngestShown]


@resource("console://projects", name="projects page", family=CONSOLE, scope="read", timeout=8)
def projects_page(backends: Backends, context: Context) -> ProjectsPage:
    """The projects and how large they are."""
    projects = backends.projects.all()
    shown = []
    for each in projects[:MOST_PROJECTS]:
        context.deadline.check("counting passages")
        shown.append(_project(each, backends))
    return ProjectsPage(projects=shown, left_out=len(projects) - len(shown))


@resource("console://projects/{project_id}", name="project page", family=CONSOLE, scope="read", timeout=8)
def project_page(backends: Backends, project_id: str) -> ProjectPage:
    """One project with its documents."""
    project = backends.projects.get(project_id)
    documents = sorted(backends.project_documents.all(project_id), key=_title)
    listed = documents[:MOST_DOCUMENTS]
    papers = known([each.work for each in listed], backends)
    return ProjectPage(
        project=_project(project, backends),
        documents=[_document(each, paper) for each, paper in zip(listed, papers, strict=True)],
        left_out=len(documents) - len(listed),
        ingests=[_ingest(each, backends) for each in _jobs_of(project_id, backends)],
    )


def _project(project: Project, backends: Backends) -> ProjectShown:
    return ProjectShown(
        project_id=project.project_id,
        passages=backends.collections.count(project.collection),
        model=project.embed_model,
        words=project.hybrid_enabled,
    )


def _title(document: ProjectDocument) -> tuple[str, str]:
    return (document.work.title or document.doc_id).casefold(), document.doc_id


def _document(document: ProjectDocument, paper: Known) -> DocumentShown:
    work = document.work
    return DocumentShown(
        doc_id=document.doc_id,
        title=work.title,
        citekey=work.citekey,
        authors=list(work.authors),
        year=work.year,
        doi=work.doi,
        pmid=paper.pmid,
        in_corpus=paper.retraction is not None,
        retraction=paper.retraction or (status_of(document.notices) if document.notices else None),
        passages=document.chunks,
        pages=document.pages,
        ocr=document.ocr,
    )


def _jobs_of(project_id: str, backends: Backends) -> list[Job]:
    """The newest ingests into the project, the newest first."""
    jobs = [job for kind in (INGEST, BATCH) for job in backends.jobs.newest(kind, LOOKED_AT)]
    own: Iterable[Job] = (each for each in jobs if each.request["query_key"].rpartition(" ")[0] == project_id)
    return sorted(own, key=lambda each: each.created, reverse=True)[:MOST_JOBS]


def _ingest(job: Job, backends: Backends) -> IngestShown:
    cursor, state = Cursor.from_json(job.cursor), state_of(job, backends.now())
    return IngestShown(
        job_id=job.job_id,
        state=state,
        moving=state in MOVING,
        updated_at=instant(job.updated),
        done=cursor.done,
        expected=cursor.expected,
        written=cursor.written,
        unchanged=cursor.unchanged,
        failed=cursor.failed,
        warnings=list(cursor.warnings),
        error=job.progress.get("error"),
    )


PAGE = Page("/projects", "projects.html", projects_page, "Projects")
ONE = Page("/projects/{project_id:path}", "project.html", project_page)

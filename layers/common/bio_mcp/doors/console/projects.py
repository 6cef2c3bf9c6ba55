"""The pages of projects: all of them, and one with its documents and how they came in."""

from typing import Any

from bio_mcp.answering.project_search import Known, known
from bio_mcp.doors.console.console import CONSOLE, Page, Shown, facts_of
from bio_mcp.extracting.run import KIND as BATCH
from bio_mcp.ingesting.run import KIND as INGEST
from bio_mcp.ingesting.run import IngestCursor
from bio_mcp.literature.notices import status_of
from bio_mcp.ports import Backends
from bio_mcp.ports.projects import Project, ProjectDocument
from bio_mcp.ports.state import Job
from bio_mcp.tool import Context, resource

MOST_PROJECTS = 100
MOST_DOCUMENTS = 200
MOST_JOBS = 10  # of a project
LOOKED_AT = 200  # jobs of a kind, for those of a project


@resource("console://projects", name="projects page", family=CONSOLE, scope="read", timeout=8)
def projects_page(backends: Backends, context: Context) -> Shown:
    """The projects, by id, and how large they are; `left_out` counts those that are not listed."""
    projects = backends.projects.all()
    shown = []
    for each in projects[:MOST_PROJECTS]:
        context.deadline.check("counting passages")
        shown.append(_project(each, backends))
    return Shown(projects=shown, left_out=len(projects) - len(shown))


@resource("console://projects/{project_id}", name="project page", family=CONSOLE, scope="read", timeout=8)
def project_page(backends: Backends, project_id: str) -> Shown:
    """One project with its documents, by title, and its newest ingests."""
    project = backends.projects.get(project_id)
    documents = sorted(
        backends.project_documents.all(project_id),
        key=lambda each: ((each.work.title or each.doc_id).casefold(), each.doc_id),
    )
    listed = documents[:MOST_DOCUMENTS]
    papers = known([each.work for each in listed], backends)
    jobs = [job for kind in (INGEST, BATCH) for job in backends.jobs.newest(kind, LOOKED_AT)]
    own = [each for each in jobs if each.request["query_key"].rpartition(" ")[0] == project_id]
    newest = sorted(own, key=lambda each: each.number or 0, reverse=True)[:MOST_JOBS]
    return Shown(
        project=_project(project, backends),
        documents=[_document(each, paper) for each, paper in zip(listed, papers, strict=True)],
        left_out=len(documents) - len(listed),
        ingests=[_ingest(each, backends) for each in newest],
    )


def _project(project: Project, backends: Backends) -> dict[str, Any]:
    return {
        "project_id": project.project_id,
        "passages": backends.collections.count(project.collection),
        "model": project.embed_model,
        "words": project.hybrid_enabled,
    }


def _document(document: ProjectDocument, paper: Known) -> dict[str, Any]:
    """A document; `retraction` as PubMed has it where the corpus has the paper, else as notices about its DOI say."""
    work = document.work
    return {
        **{name: getattr(work, name) for name in ("title", "citekey", "authors", "year", "doi")},
        "doc_id": document.doc_id,
        "pmid": paper.pmid,
        "in_corpus": paper.retraction is not None,
        "retraction": paper.retraction or (status_of(document.notices) if document.notices else None),
        "passages": document.chunks,
        "pages": document.pages,
        "ocr": document.ocr,
    }


def _ingest(job: Job, backends: Backends) -> dict[str, Any]:
    cursor = IngestCursor.from_json(job.cursor)
    counted = ("done", "expected", "written", "unchanged", "failed", "warnings")
    return facts_of(job, backends.now()) | {name: getattr(cursor, name) for name in counted}


PAGE = Page("/projects", "projects.html", projects_page, "Projects")
ONE = Page("/projects/{project_id:path}", "project.html", project_page)

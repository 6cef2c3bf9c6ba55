"""Ingest what a client names: its files, the references that describe them, and the model that the project is of."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from bio_mcp.deadline import Deadline
from bio_mcp.errors import InvalidInput, ModelMismatch, NotFound
from bio_mcp.ingesting.documents import FileFeed
from bio_mcp.ingesting.projects import model_for
from bio_mcp.ingesting.run import KIND, IngestCursor, IngestReport, IngestRun, Write, request_of
from bio_mcp.ingesting.writing import DocumentWriter
from bio_mcp.ingesting.zotero import ZOTERO, ZoteroFeed, parsed
from bio_mcp.jobs.runner import REMOVED, RunContext, find_job, removed
from bio_mcp.literature.descriptions import References, parse_csl_json
from bio_mcp.ports import Backends
from bio_mcp.ports.projects import Project
from bio_mcp.ports.state import Job

if TYPE_CHECKING:
    from bio_mcp.retrieval.passages import Vectors


@dataclass(frozen=True, slots=True)
class Options:
    """`languages` of scans, the likeliest first; a file of `references`; `rebuild` moves the project to this model."""

    languages: Sequence[str] = ()
    references: str | None = None
    rebuild: bool = False


def ingest(
    arguments: dict[str, Any], options: Options, context: RunContext, *, local: bool, job_id: str | None = None
) -> IngestReport:
    """Ingest `arguments["source"]` into `arguments["project"]`; `arguments` are what a continuation repeats.

    `local`: for the user of this machine. A queued call goes on for whoever made the first, so what that may read, it
    may. Raises `NotFound` for an unknown project, `ModelMismatch` for one of another model unless it is to be rebuilt,
    and what `Sources` raises.
    """
    backends, deadline = context.backends, context.deadline
    project = backends.projects.get(arguments["project"])
    if project.embed_model != model_for(project, backends).fingerprint and not options.rebuild:
        raise other_model(project, backends)
    job = find_job(job_id, KIND, backends, unattended=context.unattended) if job_id else None
    if job_id and job is None:
        return IngestReport(removed(job_id, KIND, backends), "cancelled", IngestCursor(), (REMOVED,))
    if job and context.unattended:
        local = bool(job.request.get("local"))
    source = arguments["source"]
    feed: ZoteroFeed | FileFeed
    if source.strip().partition("?")[0] == ZOTERO:
        feed = ZoteroFeed(parsed(source), project, backends, deadline, again=options.rebuild)
    else:
        feed = FileFeed(backends.sources, backends.sources.locate(source, local=local), local)
    request = request_of(project.project_id, feed.location, local, arguments)
    if job and job.request["query_key"] != request["query_key"]:
        raise InvalidInput(f"{job_id!r} is the job of another project or source", field="job_id")

    def writer(job: Job, _cursor: IngestCursor) -> Write:
        bound = _bound(project, backends, deadline, again=options.rebuild)
        references = _references(options.references or project.references, backends, local)
        again = job.job_id if options.rebuild else None
        return DocumentWriter(
            bound, backends, deadline, references=references, languages=options.languages, again=again
        ).write_document

    return IngestRun(context, KIND, request, feed, writer).run(job_id)


def _bound(project: Project, backends: Backends, deadline: Deadline, *, again: bool) -> Project:
    """The project, its index rebuilt for the model of the papers if that is wanted `again` and another one.

    Raises `NotFound` where there is none.
    """
    model, collections = backends.embeddings, backends.collections
    if collections.model(project.collection) is None:
        name = project.project_id
        raise NotFound(f"Project {name!r} has lost its index; `bio-mcp projects create {name}` makes it anew")
    if project.embed_model == model.fingerprint or not again:
        return project

    def embed(texts: Sequence[str]) -> "Vectors":
        deadline.check("the project was embedded again")
        return model.embed(texts)

    collections.rebuild(project.collection, model.fingerprint, model.dim, embed)
    rebound = replace(project, embed_model=model.fingerprint)
    backends.projects.put(rebound)
    return rebound


def _references(source: str | None, backends: Backends, local: bool) -> References:
    if not source:
        return References()
    sources = backends.sources
    return parse_csl_json(sources.read(sources.locate(source, local=local), local=local))


def other_model(project: Project, backends: Backends) -> ModelMismatch:
    """The failure for a project of another model than the configured one."""
    return ModelMismatch(
        f"Project {project.project_id!r} holds vectors of another embedding model than the one configured; set "
        "force_rebuild to embed it again by this one, or configure the model that it was made with",
        project_model=project.embed_model,
        configured_model=backends.embeddings.fingerprint,
    )

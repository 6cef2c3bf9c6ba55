"""Ingest what a client names: its files, the references that describe them, and the model that the project is of."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bio_mcp.deadline import Deadline
from bio_mcp.errors import ModelMismatch
from bio_mcp.ingesting.added import PaperFeed, UploadFeed, papers_in, upload_in
from bio_mcp.ingesting.documents import Feed, FileFeed, Lookup
from bio_mcp.ingesting.projects import lost_index, model_for, rebound
from bio_mcp.ingesting.run import KIND, IngestCursor, IngestReport, IngestRun, Write
from bio_mcp.ingesting.writing import DocumentWriter
from bio_mcp.ingesting.zotero import ZOTERO, ZoteroFeed, parsed
from bio_mcp.jobs.runner import RunContext
from bio_mcp.literature.descriptions import References, parse_csl_json
from bio_mcp.ports import Backends
from bio_mcp.ports.projects import Project
from bio_mcp.ports.state import Job

if TYPE_CHECKING:
    from bio_mcp.retrieval.passages import Vectors


@dataclass(frozen=True, slots=True)
class Options:
    """`languages` of scans, the likeliest first; a file of `references`; `rebuild` moves the project to this model;
    `lookup` is asked about documents that are unknown here."""

    languages: Sequence[str] = ()
    references: str | None = None
    rebuild: bool = False
    lookup: Lookup | None = None


def ingest(
    arguments: dict[str, Any], options: Options, context: RunContext, *, local: bool, job_id: str | None = None
) -> IngestReport:
    """Ingest `arguments["source"]` into `arguments["project"]`; `arguments` are what a continuation repeats.

    `local`: for the user of this machine. Raises `NotFound` for an unknown project, `ModelMismatch` for one of another
    model unless it is to be rebuilt, and what `Sources` raises.
    """
    backends, deadline = context.backends, context.deadline
    project = backends.projects.get(arguments["project"])
    if backends.collections.model(project.collection) is None:
        raise lost_index(project)
    project = rebound(project, backends)
    if project.embed_model != model_for(project, backends).fingerprint and not options.rebuild:
        raise other_model(project, backends)

    def located(local: bool) -> tuple[str, Feed]:
        return _located(arguments["source"], project, context, again=options.rebuild, local=local)

    def writer(job: Job, _cursor: IngestCursor) -> Write:
        sources, local = backends.sources, job.request["local"]
        bound = _bound(project, backends, deadline, again=options.rebuild)
        references = References()
        if named := options.references or project.references:
            references = parse_csl_json(sources.read(sources.locate(named, local=local), local=local))
        again = job.job_id if options.rebuild else None
        return DocumentWriter(
            bound,
            backends,
            deadline,
            references=references,
            languages=options.languages,
            again=again,
            lookup=options.lookup,
        ).write_document

    return IngestRun(context, KIND, project.project_id, arguments, located, writer, local=local).run(job_id)


def _located(source: str, project: Project, context: RunContext, *, again: bool, local: bool) -> tuple[str, Feed]:
    """Where the documents of a source are, and the feed of them."""
    backends = context.backends
    if source.strip().partition("?")[0] == ZOTERO:
        feed = ZoteroFeed(parsed(source), project, backends, context.deadline, again=again)
        return feed.location, feed
    if (sent := upload_in(source)) is not None:
        return source, UploadFeed(backends.blobs, sent)
    if (pmids := papers_in(source)) is not None:
        return source, PaperFeed(backends.documents, pmids)
    location = backends.sources.locate(source, local=local)
    return location, FileFeed(backends.sources, location, local)


def _bound(project: Project, backends: Backends, deadline: Deadline, *, again: bool) -> Project:
    """The project, its index rebuilt for the model of the papers if that is wanted `again` and another one."""
    model = backends.embeddings
    if project.embed_model == model.fingerprint or not again:
        return project

    def embed(texts: Sequence[str]) -> "Vectors":
        deadline.check("the project was embedded again")
        return model.embed(texts)

    backends.collections.rebuild(project.collection, model.fingerprint, model.dim, embed)
    return rebound(project, backends)


def other_model(project: Project, backends: Backends) -> ModelMismatch:
    """The failure for a project of another model than the configured one."""
    return ModelMismatch(
        f"Project {project.project_id!r} holds vectors of another embedding model than the one configured; set "
        "force_rebuild to embed it again by this one, or configure the model that it was made with",
        project_model=project.embed_model,
        configured_model=backends.embeddings.fingerprint,
    )

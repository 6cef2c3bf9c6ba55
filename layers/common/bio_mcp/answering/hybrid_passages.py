"""Passages of projects among the hits of a search of everything."""

from collections.abc import Collection, Sequence

from bio_mcp.answering.hybrid_hits import CHUNK, Found, Hit, HybridQuestion
from bio_mcp.answering.project_search import ProjectHit, ProjectQuestion, search_projects
from bio_mcp.deadline import Deadline
from bio_mcp.ingesting.projects import model_for
from bio_mcp.ports import Backends
from bio_mcp.ports.projects import Project
from bio_mcp.retrieval.excerpts import snippet
from bio_mcp.retrieval.project_chunks import ChunkFilters

MOST_PROJECTS = 10  # searched by a question that names none


def passages(question: HybridQuestion, backends: Backends, deadline: Deadline) -> Found:
    """Find passages of the projects that the question names, or of the first `MOST_PROJECTS`.

    Those in Thai are found by the Thai words of a question, those in English by its English ones; the model that
    compares meaning reads English alone.
    """
    projects, warnings = _projects(question.project_ids, backends)
    if not projects:
        return Found((), warnings)
    asked = ProjectQuestion(
        question.asked.english or question.asked.text,
        tuple(each.project_id for each in projects),
        hybrid=True,
        filters=ChunkFilters(year_from=question.year_from, year_to=question.year_to),
        top_k=min(question.top_k, *(each.top_k for each in projects)),
        terms=question.asked.terms,
        by_meaning=bool(question.asked.english),
    )
    found = search_projects(asked, backends, deadline)
    terms = frozenset(term for term, _ in question.asked.terms)
    return Found([_hit(each, terms) for each in found.hits], [*warnings, *found.warnings])


def _projects(named: Sequence[str], backends: Backends) -> tuple[list[Project], list[str]]:
    """The projects to search, and a sentence on those that are left out although nobody said so."""
    if named:
        return [backends.projects.get(each) for each in dict.fromkeys(named)], []
    there = backends.projects.all()
    fit = [each for each in there if each.hybrid_enabled and _is_searched(each, backends)][:MOST_PROJECTS]
    if len(fit) == len(there):
        return fit, []
    left_out = f"{len(there) - len(fit)} of {len(there)} projects were not searched"
    return fit, [f"{left_out}: name those to search in filters.projects."]


def _is_searched(project: Project, backends: Backends) -> bool:
    """Whether the project's model is here."""
    return project.embed_model == model_for(project, backends).fingerprint


def _hit(hit: ProjectHit, terms: Collection[str]) -> Hit:
    chunk, work = hit.chunk, hit.chunk.work
    return Hit(
        id=chunk.chunk_id,
        kind=CHUNK,
        title=work.title or work.doc_id,
        snippet=snippet(hit.text, terms),
        score=hit.score,
        source=work.citekey or work.source or work.doc_id,
        pmid=hit.pmid,
        project=hit.project.project_id,
        pages=chunk.page_span,
        retraction=hit.retraction,
    )

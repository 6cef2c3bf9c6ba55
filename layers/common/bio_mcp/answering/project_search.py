"""Search projects: passages of somebody's own documents, by meaning alone or by words and meaning together.

Scores compare between calls and projects: a cosine, or reciprocal ranks divided by the most that they can be.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from bio_mcp.answering import retractions
from bio_mcp.answering.retrieving import readable
from bio_mcp.deadline import NEVER, Deadline
from bio_mcp.errors import HybridUnavailable, InvalidInput, ModelMismatch
from bio_mcp.ingesting.projects import lost_index, model_for
from bio_mcp.literature.records import RetractionStatus
from bio_mcp.ports import Backends
from bio_mcp.ports.projects import Project
from bio_mcp.retrieval.analysis import query_terms
from bio_mcp.retrieval.overlaps import new_text
from bio_mcp.retrieval.project_chunks import ChunkFilters, ChunkMatch, ChunkQuery, ProjectChunk
from bio_mcp.retrieval.reciprocal_ranks import reciprocal_ranks

TOP_K = 6  # hits, where neither the question nor the project says otherwise


@dataclass(frozen=True, slots=True)
class ProjectQuestion:
    """A question to projects, which all are asked alike. `hybrid`: by words too, those of `text` unless there are
    `terms`; `by_meaning`: by the vector of `text`.

    Without `top_k` there are `TOP_K` hits, or as many as each project allows.
    """

    text: str
    project_ids: tuple[str, ...]
    hybrid: bool
    filters: ChunkFilters = field(default_factory=ChunkFilters)
    top_k: int | None = None
    terms: tuple[tuple[str, float], ...] = ()
    by_meaning: bool = True


@dataclass(frozen=True, slots=True)
class ProjectHit:
    """A passage that was found. `text` is the chunk's, without what a better hit of its document has of it.

    The corpus may know the `pmid` of a DOI. `retraction` is None for a paper that it does not have.
    """

    project: Project
    chunk: ProjectChunk
    score: float
    text: str
    sim: float | None = None
    bm25: float | None = None
    pmid: str | None = None
    retraction: RetractionStatus | None = None


@dataclass(frozen=True, slots=True)
class ProjectHits:
    """Hits, best first, with the fingerprint of the model that compared them and sentences for the user."""

    hits: tuple[ProjectHit, ...]
    model: str
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Match:
    project: Project
    match: ChunkMatch
    score: float


def search_projects(question: ProjectQuestion, backends: Backends, deadline: Deadline = NEVER) -> ProjectHits:
    """Find the passages of the projects that fit the question.

    Raises `NotFound` for an unknown project, `HybridUnavailable` and `InvalidInput` where one does not allow what is
    asked, `ModelMismatch` for one of another model, `IndexUnavailable` for one that lost its index.
    """
    text = readable(question.text)
    projects = [backends.projects.get(each) for each in dict.fromkeys(question.project_ids)]
    top_k = min(_allowed(question, each) for each in projects)
    models = {each.project_id: model_for(each, backends) for each in projects}
    for each in projects:
        _check_index(each, models[each.project_id].fingerprint, backends)
    found: list[_Match] = []
    deadline.check("embedding the question")
    terms = (question.terms or query_terms(text)) if question.hybrid else ()
    different = {each.fingerprint: each for each in models.values()} if question.by_meaning else {}
    vectors = {fingerprint: model.embed_questions([text])[0] for fingerprint, model in different.items()}
    for each in projects:
        asked = ChunkQuery(terms, vectors.get(each.embed_model), question.filters, model=each.embed_model)
        deadline.check(f"searching {each.project_id}")
        found += _scored(each, backends.collections.search(each.collection, asked), question.hybrid)
    deadline.check("reading what became of the papers")
    hits = _with_retractions(_best(found, top_k), backends)
    warnings = [*_retracted(hits), *(() if hits else _empty(projects, question.filters, backends))]
    return ProjectHits(hits, models[projects[0].project_id].fingerprint, tuple(warnings))


def _allowed(question: ProjectQuestion, project: Project) -> int:
    """How many hits the project allows this question. Raises for more, and for words where it has none."""
    if question.hybrid and not project.hybrid_enabled:
        raise HybridUnavailable(
            f"Project {project.project_id!r} is not searched by words: use query, which searches it by meaning",
            project_id=project.project_id,
        )
    if question.top_k is not None and question.top_k > project.top_k:
        raise InvalidInput(
            f"top_k: {question.top_k} is more than project {project.project_id!r} returns, which is {project.top_k}",
            project_id=project.project_id,
            top_k=project.top_k,
        )
    return min(question.top_k or TOP_K, project.top_k)


def _check_index(project: Project, model: str, backends: Backends) -> None:
    """Raise `ModelMismatch` for an index of another model, `IndexUnavailable` for one that is lost."""
    held = backends.collections.model(project.collection)
    if held is None:  # a project is made after its index, so an empty answer would hide a loss
        raise lost_index(project)
    if held[0] != model:
        raise ModelMismatch(
            f"Project {project.project_id!r} holds vectors of {held[0]}, and the configured model is {model}: "
            "configure that model again, or ingest with force_rebuild to embed its passages anew",
            project_id=project.project_id,
            collection_model=held[0],
            configured_model=model,
        )


def _scored(project: Project, matches: Sequence[ChunkMatch], hybrid: bool) -> list[_Match]:
    """The matches with their scores: reciprocal ranks of both legs, or cosines clipped to [0, 1]."""
    if not hybrid:
        return [_Match(project, each, min(1.0, max(0.0, each.sim))) for each in matches if each.sim is not None]
    scores = reciprocal_ranks([_leg(matches, "bm25"), _leg(matches, "sim")])
    return [_Match(project, each, scores[each.chunk.chunk_id]) for each in matches]


def _leg(matches: Iterable[ChunkMatch], name: str) -> list[str]:
    """The chunks that a leg returned, best first."""
    scored = [(getattr(each, name), each.chunk.chunk_id) for each in matches]
    return [id_ for _, id_ in sorted((-score, id_) for score, id_ in scored if score is not None)]


def _best(found: Iterable[_Match], top_k: int) -> list[ProjectHit]:
    """The best `top_k` that have something new to say."""
    hits: list[ProjectHit] = []
    for each in sorted(found, key=_order):
        chunk, match = each.match.chunk, each.match
        text = new_text(chunk, (hit.chunk for hit in hits))
        if text:
            hits.append(ProjectHit(each.project, chunk, round(each.score, 6), text, match.sim, match.bm25))
        if len(hits) == top_k:
            break
    return hits


def _order(each: _Match) -> tuple[float, float, str, str]:
    return -each.score, -(each.match.sim or 0.0), each.match.chunk.chunk_id, each.project.project_id


def _with_retractions(hits: Sequence[ProjectHit], backends: Backends) -> tuple[ProjectHit, ...]:
    """The hits with what the corpus knows of their papers now, not when they were ingested, or notices say."""
    projects = [each.project.project_id for each in hits]
    papers = retractions.known([each.chunk.work for each in hits], backends, projects)
    return tuple(replace(each, pmid=pmid, retraction=status) for each, (pmid, status) in zip(hits, papers, strict=True))


def _retracted(hits: Iterable[ProjectHit]) -> Iterator[str]:
    return retractions.warnings((each.chunk.work, retractions.Known(each.pmid, each.retraction)) for each in hits)


def _empty(projects: Iterable[Project], filters: ChunkFilters, backends: Backends) -> Iterator[str]:
    """Why nothing was found."""
    for each in projects:
        if not backends.collections.count(each.collection):
            yield f"Project {each.project_id!r} holds no passages yet: ingest_from_source brings documents in."
        elif filters:
            yield f"No passage of project {each.project_id!r} passes the filters."

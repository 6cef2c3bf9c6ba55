"""Somebody's own literature: what projects there are, what they hold, and the searches."""

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeVar

from bio_mcp.answering.locating import locate
from bio_mcp.answering.project_search import ProjectHit, ProjectHits, ProjectQuestion, search_projects
from bio_mcp.answering.retractions import known, warnings
from bio_mcp.errors import InvalidInput
from bio_mcp.literature.addresses import doi_page, pubmed_page
from bio_mcp.ports import Backends
from bio_mcp.ports.projects import Project
from bio_mcp.retrieval.excerpts import cut
from bio_mcp.retrieval.overlaps import is_same_work, unrepeated
from bio_mcp.retrieval.project_chunks import ChunkFilters, Work
from bio_mcp.retrieval.ranking import rounded
from bio_mcp.tool import Context, tool
from bio_mcp.tools import budget
from bio_mcp.tools.families import CITELOOM, SPARSE_MODEL
from bio_mcp.tools.payloads import FULLTEXT, KEYWORDS, PAYLOAD_KEYS, flat_payload, full_text, further, nested_payload
from bio_mcp.tools.projects.locating import LONGEST_ANSWER, LocatedQuote, Quote, place_of
from bio_mcp.tools.projects.shapes import (
    ChunkQuestion,
    CollectionState,
    DensePassages,
    DenseQuestion,
    FoundChunks,
    HybridPassages,
    HybridQuestion,
    Indexes,
    Inspection,
    ListedProject,
    Passage,
    PassageFilters,
    ProjectList,
    Projects,
    ProjectSearch,
    Storage,
)

NOT_FOUND = (
    "No text looks like the quote. It may be a paraphrase, which query_hybrid and rag_search find by its meaning, or "
    "of a document that is not here."
)
FUSION = "RRF"
ROOM_BESIDE = 2_000  # characters of an answer beside the passages that it shows
LONGEST = budget.DEFAULT
NOTICES = ("project_documents.find",)  # about documents that the corpus does not have

Passages = TypeVar("Passages", bound=FoundChunks)


@tool(
    "list_projects",
    family=CITELOOM,
    scope="read",
    command="projects list",
    timeout=2,
    output_listed=False,
    in_default_list=True,
    longest=budget.DEFAULT,
)
def list_projects(request: Projects, backends: Backends) -> ProjectList:
    """List the projects: libraries of the user's own documents, each with a search index of its own."""
    first = int(request.cursor or 0)
    listed = [
        ListedProject(
            **_models(each),
            id=each.project_id,
            collection=each.collection,
            hybrid_enabled=each.hybrid_enabled,
            top_k=each.top_k,
        )
        for each in backends.projects.all()[first:]
    ]
    answer = ProjectList(projects=listed, count=len(listed))

    def without(rest: Sequence[Any]) -> dict[str, Any]:
        return {**_fewer(len(listed), rest), "next_cursor": str(first + len(listed) - len(rest))}

    return budget.within(answer, "projects", budget.DEFAULT, without)


def _models(project: Project) -> dict[str, Any]:
    """The fields that name what a project is searched by."""
    sparse = SPARSE_MODEL if project.hybrid_enabled else None
    return {"embed_model": project.embed_model, "dense_model": project.embed_model, "sparse_model": sparse}


def _fewer(total: int, rest: Sequence[Any]) -> dict[str, Any]:
    return {"count": total - len(rest), "left_out": len(rest)}


@tool("inspect_collection", family=CITELOOM, scope="read", command="projects inspect", timeout=5, output_listed=False)
def inspect_collection(request: Inspection, backends: Backends, context: Context) -> CollectionState:
    """Inspect a project's index: size, models, fields, some passages."""
    project = backends.projects.get(request.project)
    held = backends.collections.model(project.collection)
    size = backends.collections.count(project.collection)
    context.deadline.check("reading the sample")
    chunks = backends.collections.sample(project.collection, request.sample) if request.sample else []
    shown = [(nested_payload(each, project), flat_payload(each, project)) for each in chunks]
    fits = budget.fitting([len(json.dumps(each)) for each in shown], budget.DEFAULT - ROOM_BESIDE)
    return CollectionState(
        **_models(replace(project, embed_model=held[0]) if held else project),
        project=project.project_id,
        collection=project.collection,
        size=size,
        named_vectors=["dense", "sparse"] if project.hybrid_enabled else ["dense"],
        payload_keys=list(PAYLOAD_KEYS),
        indexes=Indexes(keyword=list(KEYWORDS), fulltext=list(FULLTEXT) if project.hybrid_enabled else []),
        storage=Storage(on_disk_vectors=False, on_disk_hnsw=False),
        sample=[nested for nested, _ in shown[:fits]],
        sample_payloads=[flat for _, flat in shown[:fits]],
        warnings=[
            *([] if held else ["The project has no index: nothing was ingested yet, or it was lost."]),
            *([f"{len(shown) - fits} passages did not fit in the answer"] if fits < len(shown) else []),
        ],
    )


@tool("find_chunks", family=CITELOOM, scope="read", timeout=8, output_listed=False, longest=LONGEST, also_uses=NOTICES)
def find_chunks(request: ChunkQuestion, backends: Backends, context: Context) -> FoundChunks:
    """Find passages of a project by meaning alone; the answer is as query_hybrid has it."""
    found = _search(request, request.query, backends, context)
    return _answer(FoundChunks(**_fields(found, request)), request.max_characters)


@tool("query", family=CITELOOM, scope="read", timeout=8, output_listed=False, longest=LONGEST, also_uses=NOTICES)
def query(request: DenseQuestion, backends: Backends, context: Context) -> DensePassages:
    """Find passages as find_chunks does, and name the model."""
    found = _search(request, request.text, backends, context)
    return _answer(DensePassages(**_fields(found, request), model=found.model), request.max_characters)


@tool(
    "query_hybrid",
    family=CITELOOM,
    scope="read",
    command="projects search",
    timeout=15,
    in_default_list=True,
    longest=budget.DEFAULT,
    also_uses=NOTICES,
)
def query_hybrid(request: HybridQuestion, backends: Backends, context: Context) -> HybridPassages:
    """Find passages of the user's own documents by words and meaning together.

    Each has citekey, section and pages to cite it by. Scores compare between calls.
    """
    found = _search(request, request.text or request.query, backends, context, hybrid=True)
    names = {"hybrid_enabled": True, "dense_model": found.model, "sparse_model": SPARSE_MODEL, "fusion": FUSION}
    return _answer(HybridPassages(**_fields(found, request) | names), request.max_characters)


@tool(
    "locateQuote",
    family=CITELOOM,
    scope="read",
    command="locate",
    timeout=15,
    output_listed=False,
    longest=LONGEST_ANSWER,
    beyond="whether a quotation is true to its source, and where it stands there",
)
def locate_quote(request: Quote, backends: Backends, context: Context) -> LocatedQuote:
    """Find where a quoted sentence is from, and whether it is quoted exactly.

    Answers with document, section, pages and offsets, and every word that differs; "not found" is an answer.
    """
    places = locate(request.quote, backends, context.deadline, request.project, request.doc_id)
    papers = known(works := [each.work for each in places], backends)
    answer = LocatedQuote(
        found="not found" if not places else "exactly" if places[0].similarity == 1 else "nearly",
        places=[place_of(each, paper) for each, paper in zip(places, papers, strict=True)],
        warnings=[*warnings(zip(works, papers, strict=True))] if places else [NOT_FOUND],
    )
    return budget.within(answer, "places", LONGEST_ANSWER, lambda rest: {"left_out": len(rest)})


def _search(
    request: ProjectSearch, text: str, backends: Backends, context: Context, *, hybrid: bool = False
) -> ProjectHits:
    question = ProjectQuestion(
        text=text,
        project_ids=(request.project, *request.projects),
        hybrid=hybrid,
        filters=_filters(request.filters),
        top_k=request.top_k if "top_k" in request.model_fields_set else None,
    )
    return search_projects(question, backends, context.deadline)


def _filters(given: PassageFilters | None) -> ChunkFilters:
    """The filters of the index. Raises `InvalidInput` for a range of years that is none."""
    if given is None:
        return ChunkFilters()
    if given.year and (given.year_from or given.year_to):
        raise InvalidInput("filters.year: give one year, or year_from and year_to")
    if given.year_from and given.year_to and given.year_from > given.year_to:
        raise InvalidInput(f"filters.year_from: {given.year_from} is after year_to, {given.year_to}")
    return ChunkFilters(
        tags=frozenset(given.tags),
        citekeys=frozenset(filter(None, [given.citekey])),
        authors=frozenset(given.authors),
        doc_ids=frozenset(filter(None, [given.doc_id])),
        year_from=given.year or given.year_from,
        year_to=given.year or given.year_to,
        section_prefix=given.section_prefix,
    )


def _fields(found: ProjectHits, request: ProjectSearch) -> dict[str, Any]:
    texts = _full_texts(found.hits) if request.include_full_text else [None] * len(found.hits)
    items = [_passage(each, request, text) for each, text in zip(found.hits, texts, strict=True)]
    return {"items": items, "count": len(items), "warnings": list(found.warnings)}


def _full_texts(hits: Sequence[ProjectHit]) -> list[str | None]:
    """The whole text of each hit without what those before it have; None where it has no other."""
    texts = [full_text(each.chunk) for each in hits]
    return [
        unrepeated(
            text, [texts[at] for at, other in enumerate(hits[:place]) if is_same_work(hit.chunk.work, other.chunk.work)]
        )
        or None
        for place, (hit, text) in enumerate(zip(hits, texts, strict=True))
    ]


def _passage(hit: ProjectHit, request: ProjectSearch, whole: str | None) -> Passage:
    """The hit as clients see it. Fields that say nothing are left out, but for the contract's."""
    chunk, work, most = hit.chunk, hit.chunk.work, hit.project.max_characters
    more: dict[str, Any] = {
        "truncated": len(hit.text) > most,
        "title": work.title,
        "year": work.year,
        "pmid": hit.pmid,
        "url": _url(work, hit.pmid),
        "retraction": hit.retraction,
        "bm25": rounded(hit.bm25),
        "project": hit.project.project_id if request.projects else None,
        "metadata": further(chunk.metadata),
    }
    return Passage(
        render_text=cut(hit.text, most),
        score=hit.score,
        citekey=work.citekey,
        section=chunk.section,
        page_span=list(chunk.page_span) if chunk.page_span else None,
        section_path=list(chunk.section_path),
        doi=work.doi,
        full_text=whole,
        chunk_id=chunk.chunk_id,
        doc_id=work.doc_id,
        kind=chunk.kind,
        sim=rounded(hit.sim),
        **{name: value for name, value in more.items() if value},
    )


def _url(work: Work, pmid: str | None) -> str | None:
    return work.url or (doi_page(work.doi) if work.doi else None) or (pubmed_page(pmid) if pmid else None)


def _answer(answer: Passages, most: int) -> Passages:
    """The answer within its length."""

    def without(rest: Sequence[Any]) -> dict[str, Any]:
        more = f"{len(rest)} more passages did not fit in the answer; raise max_characters, or ask for no full text"
        return {**_fewer(answer.count, rest), "warnings": [*answer.warnings, more]}

    return budget.within(answer, "items", most, without)

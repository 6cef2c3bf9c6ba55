"""Somebody's own literature: what projects there are, what they hold, and the searches."""

import json
from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Annotated, Any, Literal, TypeVar

from pydantic import Field, WithJsonSchema, model_validator

from bio_mcp.answering.project_answers import answer_from_projects
from bio_mcp.answering.project_search import (
    TOP_K,
    ProjectHit,
    ProjectQuestion,
    known,
    locate,
    search_projects,
    studies,
    warnings,
)
from bio_mcp.answering.search import check_years
from bio_mcp.arguments import PaperId
from bio_mcp.errors import InvalidInput
from bio_mcp.literature.documents import SectionKind
from bio_mcp.literature.identifiers import doi_page, pubmed_page
from bio_mcp.literature.records import RetractionStatus
from bio_mcp.ports import Backends
from bio_mcp.ports import projects as ports
from bio_mcp.retrieval.excerpts import cut
from bio_mcp.retrieval.project_chunks import MAKES_ONE, ChunkFilters
from bio_mcp.retrieval.quotes import is_same_work, unrepeated
from bio_mcp.retrieval.ranking import rounded
from bio_mcp.tool import ABSENT, Context, Request, Response, said, tool, unpublished
from bio_mcp.tools import answer_size, next_steps
from bio_mcp.tools.answer_size import DEFAULT, Cursor, MaxCharacters
from bio_mcp.tools.fields import CITELOOM, PAGES, SPARSE_MODEL, ProjectId, reading_tool
from bio_mcp.tools.payloads import FULLTEXT, KEYWORDS, PAYLOAD_KEYS, flat_payload, full_text, further, nested_payload

MOST_PROJECTS = 10  # asked at once
MOST_SAMPLES = 5
MOST_DOCUMENTS = 200  # listed at once

Word = Annotated[str, Field(max_length=500, json_schema_extra=unpublished)]


class Projects(Request):
    project: ProjectId = Field(default=ABSENT, description="list its documents instead")
    cursor: Cursor = ABSENT


class Inspection(Request):
    project: ProjectId
    sample: int = Field(default=0, ge=0, le=MOST_SAMPLES, description="passages to show")


class PassageFilters(Request):
    """Which passages may be returned; conditions are joined by AND. A project that is named here is ignored."""

    tags: list[Word] = Field(default_factory=list, description="all of them")
    section_prefix: Word = Field(default=ABSENT, description="Methods > Statistics; References")
    year: int = ABSENT
    year_from: int = ABSENT
    year_to: int = ABSENT
    citekey: Word = ABSENT
    authors: list[Word] = Field(default_factory=list, description="any of these family names")
    doc_id: Word = ABSENT

    @model_validator(mode="before")
    @classmethod
    def _without_project(cls, given: Any) -> Any:
        own = ("project", "project_id")
        return {name: value for name, value in given.items() if name not in own} if isinstance(given, dict) else given


# What clients pay for once: the schema of filters stands in the input of query_hybrid.
SameFilters = Annotated[PassageFilters, WithJsonSchema({"type": "object", "description": "as in query_hybrid"})]


class ProjectSearch(Request):
    project: ProjectId
    top_k: int = Field(default=TOP_K, ge=1, le=ports.TOP_K)
    filters: SameFilters = ABSENT
    include_full_text: bool = False
    projects: list[ProjectId] = Field(
        default_factory=list, max_length=MOST_PROJECTS - 1, description="search these too"
    )
    max_characters: MaxCharacters = DEFAULT


class ChunkQuestion(ProjectSearch):
    """A question, as the first document of the contract has it."""

    query: str = Field(min_length=1)


class DenseQuestion(ProjectSearch):
    """A question, as the second document of the contract has it."""

    text: str = Field(min_length=1)


class HybridQuestion(ProjectSearch):
    """A question under either name."""

    filters: PassageFilters = ABSENT
    text: str = Field(default=ABSENT, min_length=1)
    query: str = Field(default=ABSENT, min_length=1, description="or text")

    @model_validator(mode="after")
    def _one_of_both(self) -> "HybridQuestion":
        if len({"text", "query"} & self.model_fields_set) != 1:
            raise ValueError("give the question as text or as query, exactly one of them")
        return self


class ListedProject(Response):
    """A project. `sparse_model` is null where it is not searched by words."""

    id: str
    collection: str
    embed_model: str
    dense_model: str
    sparse_model: str | None
    hybrid_enabled: bool
    top_k: int = Field(default=ports.TOP_K, description="most hits")


class ListedDocument(Response):
    """A document of a project, and how many passages of it are searched."""

    doc_id: str
    citekey: str | None = said(default=None)
    title: str | None = None
    source: str | None = said(default=None)
    passages: int = 0
    pmid: str | None = said(default=None)
    retraction: RetractionStatus = RetractionStatus.UNKNOWN


class ProjectList(Response):
    """Projects, by id; or one, and its documents. `count` is of what is listed, `left_out` of what did not fit, which
    `next_cursor` goes on with."""

    projects: list[ListedProject]
    count: int = Field(ge=0)
    documents: list[ListedDocument] = Field(default_factory=list)
    left_out: int = 0
    next_cursor: str | None = None
    warnings: list[str] = said(default_factory=list)


class Indexes(Response):
    keyword: list[str]
    fulltext: list[str]


class Storage(Response):
    """Whether the engine searches vectors from disk."""

    on_disk_vectors: bool
    on_disk_hnsw: bool


class CollectionState(Response):
    """A project's index. `sample` has payloads as the contract's first document shows them, `sample_payloads` the same
    as its second does."""

    project: str
    collection: str
    size: int = Field(ge=0)
    embed_model: str
    dense_model: str
    sparse_model: str | None
    named_vectors: list[str]
    payload_keys: list[str]
    indexes: Indexes
    storage: Storage
    sample: list[dict[str, Any]]
    sample_payloads: list[dict[str, Any]]
    warnings: list[str] = Field(default_factory=list)


class Passage(Response):
    render_text: str
    score: float = Field(ge=0, le=1)
    citekey: str | None
    section: str | None
    page_span: list[int] | None
    section_path: list[str]
    doi: str | None = None
    url: str | None = said(default=None)
    full_text: str | None = None
    truncated: bool = said(default=False)
    chunk_id: str = ""
    doc_id: str = ""
    title: str | None = said(default=None)
    year: int | None = said(default=None)
    pmid: str | None = said(default=None)
    retraction: RetractionStatus = said(default=RetractionStatus.UNKNOWN)
    kind: SectionKind = SectionKind.BODY
    study: str = said(default="", description="what the abstract states of it")
    sim: float | None = None
    bm25: float | None = said(default=None)
    project: str = said(default="")
    metadata: dict[str, Any] = said(default_factory=dict)


class FoundChunks(Response):
    items: list[Passage]
    count: int = Field(ge=0)
    warnings: list[str] = Field(default_factory=list)
    left_out: int = 0


class DensePassages(FoundChunks):
    model: str


class HybridPassages(FoundChunks):
    hybrid_enabled: bool
    dense_model: str
    sparse_model: str
    fusion: str


LONGEST_QUOTE = 1_000  # characters
LONGEST_ANSWER = 15_000  # characters, of the JSON


class Quote(Request):
    quote: str = Field(min_length=8, max_length=LONGEST_QUOTE, description="a sentence as quoted")
    project: ProjectId = Field(default=ABSENT, description="without one: the corpus of PubMed papers")
    doc_id: Annotated[str, PaperId("pmid:", unless="project")] = Field(
        default=ABSENT, max_length=500, description="look in this document alone"
    )


class QuoteDifference(Response):
    """Words of the quote, and those that the text has in their place; one of them may be empty."""

    quote: str
    text: str


class QuotePlace(Response):
    """A place that has the quote, with what cites it."""

    doc_id: str
    citekey: str | None = None
    title: str | None = None
    pmid: str | None = None
    retraction: RetractionStatus = RetractionStatus.UNKNOWN
    doi: str | None = None
    section: str | None = None
    section_path: list[str] = Field(default_factory=list)
    page_span: list[int] | None = None
    char_start: int | None = Field(default=None, description="in the document's text")
    char_end: int | None = None
    text: str = Field(description="as it stands there")
    similarity: float = Field(description="1: equal")
    differences: list[QuoteDifference] = Field(default_factory=list)


class LocatedQuote(Response):
    found: Literal["exactly", "nearly", "not found"]
    places: list[QuotePlace] = Field(description="most similar first")
    left_out: int = Field(default=0, description="further places")
    warnings: list[str] = Field(default_factory=list, description="tell the user")


NO_DOCUMENT = "It has no document that was read: ingest_from_source brings some in."
NOT_FOUND = (
    "No text looks like the quote. It may be a paraphrase, which query_hybrid or rag_search finds by its "
    "meaning, or of a document that is not here."
)
ROOM_BESIDE = 2_000  # characters of an answer beside the passages that it shows
OF_STANDING = ("project_documents.find", "documents.resolve", "documents.get_many")  # of what documents are of
OF_OTHERS = ("project_documents.find", "collections.document")  # of documents that the corpus does not have

Passages = TypeVar("Passages", bound=FoundChunks)


@reading_tool(
    "list_projects",
    family=CITELOOM,
    command="projects list",
    timeout=2,
    in_default_list=True,
    also_uses=("projects.get", "project_documents.all", *OF_STANDING),
    next_step=next_steps.after_projects,
)
def list_projects(request: Projects, backends: Backends) -> ProjectList:
    """List the projects, which are libraries of the user's own documents; or the documents of one."""
    first = int(request.cursor or 0)
    if request.project:
        return _documents(backends.projects.get(request.project), first, backends)
    listed = [_listed(each) for each in backends.projects.all()[first:]]
    empty = [] if listed or first else [f"There is no project yet: {MAKES_ONE}"]
    answer = ProjectList.of(projects=listed, count=len(listed), warnings=empty)
    last = first + len(listed)
    return answer_size.within(answer, "projects", more=lambda rest: {"next_cursor": str(last - len(rest))})


def _documents(project: ports.Project, first: int, backends: Backends) -> ProjectList:
    """The documents of a project from the `first` on, with what the corpus and stored notices know of each."""
    rest = backends.project_documents.all(project.project_id)[first:]
    shown = rest[:MOST_DOCUMENTS]
    works = [each.work for each in shown]
    papers = known(works, backends, [project.project_id] * len(works))
    listed = [
        ListedDocument.of(
            each,
            each.work,
            passages=each.chunks,
            pmid=paper.pmid,
            retraction=paper.retraction or RetractionStatus.UNKNOWN,
        )
        for each, paper in zip(shown, papers, strict=True)
    ]
    told = [*warnings(zip(works, papers, strict=True))] if listed or first else [NO_DOCUMENT]
    last, left_out = first + len(listed), len(rest) - len(listed)
    following = {"next_cursor": str(last), "left_out": left_out} if left_out else {}
    answer = ProjectList.of(
        projects=[_listed(project)], count=len(listed), documents=listed, warnings=told, **following
    )
    return answer_size.within(answer, "documents", more=lambda cut: {"next_cursor": str(last - len(cut))})


def _listed(project: ports.Project) -> ListedProject:
    sparse = SPARSE_MODEL if project.hybrid_enabled else None
    return ListedProject.of(project, id=project.project_id, dense_model=project.embed_model, sparse_model=sparse)


@tool("inspect_collection", family=CITELOOM, scope="read", command="projects inspect", timeout=5)
def inspect_collection(request: Inspection, backends: Backends, context: Context) -> CollectionState:
    """Inspect a project's index: size, models, fields, some passages."""
    project = backends.projects.get(request.project)
    held = backends.collections.model(project.collection)
    model = held[0] if held else project.embed_model
    size = backends.collections.count(project.collection)
    context.deadline.check("reading the sample")
    chunks = backends.collections.sample(project.collection, request.sample) if request.sample else []
    shown = [(nested_payload(each, project), flat_payload(each, project)) for each in chunks]
    fits = answer_size.fitting([len(json.dumps(each)) for each in shown], answer_size.DEFAULT - ROOM_BESIDE)
    return CollectionState(
        embed_model=model,
        dense_model=model,
        sparse_model=SPARSE_MODEL if project.hybrid_enabled else None,
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


@reading_tool("find_chunks", family=CITELOOM, timeout=8, also_uses=OF_OTHERS)
def find_chunks(request: ChunkQuestion, backends: Backends, context: Context) -> FoundChunks:
    """Find passages of a project by meaning alone: take query_hybrid, unless its project is not searched by words."""
    return _search(FoundChunks, request, request.query, backends, context)


@reading_tool("query", family=CITELOOM, timeout=8, also_uses=OF_OTHERS)
def query(request: DenseQuestion, backends: Backends, context: Context) -> DensePassages:
    """Find passages as find_chunks does, and name the model: take query_hybrid."""
    return _search(DensePassages, request, request.text, backends, context)


@reading_tool(
    "query_hybrid",
    family=CITELOOM,
    command="projects search",
    output_listed=True,
    timeout=15,
    in_default_list=True,
    also_uses=OF_OTHERS,
)
def query_hybrid(request: HybridQuestion, backends: Backends, context: Context) -> HybridPassages:
    """Find passages of the user's own documents by words and meaning, each with citekey, section and pages to cite.

    Take it before find_chunks and query, which go by meaning alone, for a project that is not searched by words.
    """
    return _search(HybridPassages, request, request.text or request.query, backends, context)


class AskedProjects(Request):
    question: str = Field(min_length=1)
    projects: list[ProjectId] = Field(min_length=1, max_length=MOST_PROJECTS)


class ProjectStatement(Response):
    """A sentence as it stands in a document, with what cites it."""

    quote: str
    project: str
    doc_id: str
    citekey: str | None = None
    title: str | None = None
    authors: list[str] = Field(default_factory=list)
    year: int | None = None
    journal: str | None = None
    pmid: str | None = None
    section: str | None = None
    page_span: list[int] | None = None
    retraction: RetractionStatus = RetractionStatus.UNKNOWN
    study: str = said(default="", description="what the abstract states of it")


class AnsweredFromProjects(Response):
    """Sentences that answer, the most direct first. Without any `reason` says why; `passages` are then the nearest."""

    statements: list[ProjectStatement]
    passages: list[ProjectStatement]
    reason: str = ""
    warnings: list[str] = Field(default_factory=list, description="tell the user")


@reading_tool("ask_projects", family=PAGES, timeout=20)
def ask_projects(request: AskedProjects, backends: Backends, context: Context) -> AnsweredFromProjects:
    """Answer a question from projects by sentences of their documents, word for word, and list the passages found."""
    given = answer_from_projects(request.question, request.projects, backends, context.deadline)
    stated = studies(given.hits, backends)

    def shown(hit: ProjectHit, quote: str) -> ProjectStatement:
        work = hit.chunk.work
        return ProjectStatement.of(
            hit.chunk,
            work,
            hit,
            quote=quote,
            project=hit.project.project_id,
            retraction=hit.retraction or RetractionStatus.UNKNOWN,
            study=stated[work.doc_id],
        )

    answer = AnsweredFromProjects(
        statements=[shown(each.hit, each.quote) for each in given.statements],
        passages=[shown(each, cut(each.text, each.project.max_characters)) for each in given.hits],
        reason=given.reason,
        warnings=list(given.warnings),
    )
    return answer_size.within(answer, "passages")


@reading_tool(
    "locateQuote",
    family=CITELOOM,
    command="projects locate",
    timeout=15,
    in_default_list=True,
    longest=LONGEST_ANSWER,
    beyond="whether a quotation is true to its source, and where it stands there",
    also_uses=("documents.resolve",),
)
def locate_quote(request: Quote, backends: Backends, context: Context) -> LocatedQuote:
    """Find where a quoted sentence is from, and whether it is quoted exactly.

    Answers with document, section, pages and offsets, and every word that differs; "not found" is an answer.
    """
    places = locate(request.quote, backends, context.deadline, request.project, request.doc_id)
    papers = known(works := [each.work for each in places], backends)
    answer = LocatedQuote(
        found="not found" if not places else "exactly" if places[0].similarity == 1 else "nearly",
        places=[
            QuotePlace.of(
                each,
                each.work,
                pmid=paper.pmid,
                retraction=paper.retraction or RetractionStatus.UNKNOWN,
                differences=[QuoteDifference.of(one) for one in each.differences],
            )
            for each, paper in zip(places, papers, strict=True)
        ],
        warnings=[*warnings(zip(works, papers, strict=True))] if places else [NOT_FOUND],
    )
    return answer_size.within(answer, "places", LONGEST_ANSWER)


def _search(kind: type[Passages], request: ProjectSearch, text: str, backends: Backends, context: Context) -> Passages:
    """The passages within the length of an answer; `kind` decides how they are searched and what is said of it."""
    question = ProjectQuestion(
        text=text,
        project_ids=(request.project, *request.projects),
        hybrid=kind is HybridPassages,
        filters=_filters(request.filters),
        top_k=request.top_k if "top_k" in request.model_fields_set else None,
    )
    found = search_projects(question, backends, context.deadline)
    texts = _full_texts(found.hits) if request.include_full_text else [None] * len(found.hits)
    stated = studies(found.hits, backends)
    items = [_passage(each, request, text, stated) for each, text in zip(found.hits, texts, strict=True)]
    models = {"model": found.model, "dense_model": found.model, "sparse_model": SPARSE_MODEL}
    how = SimpleNamespace(**models, hybrid_enabled=True, fusion="RRF")
    answer = kind.of(how, items=items, count=len(items), warnings=found.warnings)
    did_not_fit = "{} more passages did not fit in the answer; ask for more characters, or for no full text"
    return answer_size.within(
        answer,
        "items",
        request.max_characters,
        more=lambda rest: {"warnings": [*found.warnings, did_not_fit.format(len(rest))]},
    )


def _filters(given: PassageFilters | None) -> ChunkFilters:
    """The filters of the index. Raises `InvalidInput` for a range of years that is none."""
    given = given or PassageFilters()
    if given.year and (given.year_from or given.year_to):
        raise InvalidInput("give one year, or a first and a last one", field="filters.year")
    check_years(given.year_from, given.year_to)
    return ChunkFilters(
        tags=frozenset(given.tags),
        citekeys=frozenset(filter(None, [given.citekey])),
        authors=frozenset(given.authors),
        doc_ids=frozenset(filter(None, [given.doc_id])),
        year_from=given.year or given.year_from,
        year_to=given.year or given.year_to,
        section_prefix=given.section_prefix,
    )


def _full_texts(hits: Sequence[ProjectHit]) -> list[str | None]:
    """The whole text of each hit without what those before it have; None where it has no other."""
    texts = [full_text(each.chunk) for each in hits]
    shown: list[str | None] = []
    for place, hit in enumerate(hits):
        before = [texts[at] for at in range(place) if is_same_work(hit.chunk.work, hits[at].chunk.work)]
        shown.append(unrepeated(texts[place], before) or None)
    return shown


def _passage(hit: ProjectHit, request: ProjectSearch, whole: str | None, stated: Mapping[str, str]) -> Passage:
    """The hit as clients see it, with what its document says of its study. Fields that say nothing are left out, but
    for the contract's."""
    chunk, work, most = hit.chunk, hit.chunk.work, hit.project.max_characters
    return Passage.of(
        chunk,
        work,
        hit,
        render_text=cut(hit.text, most),
        full_text=whole,
        truncated=len(hit.text) > most,
        url=work.url or (doi_page(work.doi) if work.doi else None) or (pubmed_page(hit.pmid) if hit.pmid else None),
        sim=rounded(hit.sim),
        bm25=rounded(hit.bm25),
        study=stated[work.doc_id],
        project=hit.project.project_id if request.projects else None,
        metadata=further(chunk.metadata),
    )

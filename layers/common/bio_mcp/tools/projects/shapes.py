"""Inputs and answers of the tools that read projects."""

from typing import Annotated, Any

from pydantic import Field, WithJsonSchema, model_validator

from bio_mcp.answering.project_search import TOP_K
from bio_mcp.literature.parsed import SectionKind
from bio_mcp.literature.records import RetractionStatus
from bio_mcp.ports import projects as ports
from bio_mcp.schemas import unpublished
from bio_mcp.tool import Request, Response
from bio_mcp.tools.budget import DEFAULT, Cursor, MaxCharacters
from bio_mcp.tools.families import ProjectId

_ABSENT: Any = None  # an optional input is absent, never null, so its type is the plain one
MOST_PROJECTS = 10  # asked at once
MOST_SAMPLES = 5

Word = Annotated[str, Field(max_length=500, json_schema_extra=unpublished)]


class Projects(Request):
    """Where in the list to begin."""

    cursor: Cursor = _ABSENT


class Inspection(Request):
    """The project to look at."""

    project: ProjectId
    sample: int = Field(default=0, ge=0, le=MOST_SAMPLES, description="passages to show")


class PassageFilters(Request):
    """Which passages may be returned; conditions are joined by AND. A project that is named here is ignored."""

    tags: list[Word] = Field(default_factory=list, description="all of them")
    section_prefix: Word = Field(default=_ABSENT, description="Methods > Statistics")
    year: int = _ABSENT
    year_from: int = _ABSENT
    year_to: int = _ABSENT
    citekey: Word = _ABSENT
    authors: list[Word] = Field(default_factory=list, description="any of these family names")
    doc_id: Word = _ABSENT

    @model_validator(mode="before")
    @classmethod
    def _without_project(cls, given: Any) -> Any:
        own = ("project", "project_id")
        return {name: value for name, value in given.items() if name not in own} if isinstance(given, dict) else given


# What clients pay for once: the schema of filters stands in the input of query_hybrid.
SameFilters = Annotated[PassageFilters, WithJsonSchema({"type": "object", "description": "as in query_hybrid"})]


class ProjectSearch(Request):
    """What every search of projects is asked."""

    project: ProjectId
    top_k: int = Field(default=TOP_K, ge=1, le=ports.TOP_K)
    filters: SameFilters = _ABSENT
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

    filters: PassageFilters = _ABSENT
    text: str = Field(default=_ABSENT, min_length=1)
    query: str = Field(default=_ABSENT, min_length=1, description="or text")

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


class ProjectList(Response):
    """Projects, by id. `left_out` counts those that did not fit, which `next_cursor` goes on with."""

    projects: list[ListedProject]
    count: int = Field(ge=0)
    left_out: int = 0
    next_cursor: str | None = None


class Indexes(Response):
    """The fields that are searched, and how."""

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
    """A passage that was found, with what cites it."""

    render_text: str
    score: float = Field(ge=0, le=1)
    citekey: str | None
    section: str | None
    page_span: list[int] | None
    section_path: list[str]
    doi: str | None = None
    url: str | None = None
    full_text: str | None = None
    truncated: bool = False
    chunk_id: str = ""
    doc_id: str = ""
    title: str | None = None
    year: int | None = None
    pmid: str | None = None
    retraction: RetractionStatus = RetractionStatus.UNKNOWN
    kind: SectionKind = SectionKind.BODY
    sim: float | None = None
    bm25: float | None = None
    project: str = ""
    metadata: dict[str, Any] = Field(default_factory=dict)


class FoundChunks(Response):
    """Passages, best first."""

    items: list[Passage]
    count: int = Field(ge=0)
    warnings: list[str] = Field(default_factory=list)
    left_out: int = 0


class DensePassages(FoundChunks):
    """Passages found by meaning."""

    model: str


class HybridPassages(FoundChunks):
    """Passages found by words and meaning."""

    hybrid_enabled: bool
    dense_model: str
    sparse_model: str
    fusion: str

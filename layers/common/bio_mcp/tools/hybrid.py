"""Search everything at once."""

from typing import Any, Literal

from pydantic import Field

from bio_mcp.answering.hybrid_search import EVERY_KIND, HybridQuestion, hybrid_search
from bio_mcp.answering.search import readable
from bio_mcp.literature.records import RetractionStatus
from bio_mcp.ports import Backends
from bio_mcp.retrieval.question import parse_question
from bio_mcp.tool import ABSENT, Context, Request, Response, if_known, said, unpublished
from bio_mcp.tools import answer_size, next_steps
from bio_mcp.tools.answer_size import MayBePartial
from bio_mcp.tools.fields import TTM, ProjectId, reading_tool

MOST_PROJECTS = 10
MOST_HITS = 100


Kind = Literal["paper", "chunk", "herb", "formulation", "constituent", "indication", "drug", "contraindication"]


class HybridFilters(Request):
    types: list[Kind] = Field(default_factory=list, description="any of these")
    projects: list[ProjectId] = Field(default_factory=list, max_length=MOST_PROJECTS, description="default: all")
    year_from: int = Field(default=ABSENT, ge=1)
    year_to: int = Field(default=ABSENT, ge=1)


class HybridSearch(Request):
    query: str = Field(min_length=1)
    lang: Literal["th", "en", "auto"] = "auto"
    filters: HybridFilters = ABSENT
    top_k: int = Field(default=10, ge=1, le=MOST_HITS, json_schema_extra=unpublished)
    max_characters: answer_size.MaxCharacters = answer_size.DEFAULT


class HybridHit(Response):
    """Something that was found. Fields that say nothing are left out, but for the contract's."""

    id: str
    type: str
    title: str
    snippet: str
    score: float
    source: str
    pmid: str = said(default="")
    project: str = said(default="")
    pages: list[int] = said(default_factory=list)
    authors: str = said(default="", description="the first two")
    journal: str = said(default="", description="abbreviated")
    year: int = if_known(description="of publication")
    url: str = said(default="", description="of the DOI, else of PubMed")
    study: str = said(default="", description="what the abstract states of it")
    retraction: RetractionStatus = said(default=RetractionStatus.UNKNOWN)


class HybridHits(MayBePartial):
    """Hits, best first. `status` is "partial" where hits are missing; `warnings` are for the user.

    `english` is what a Thai question was looked up as.
    """

    hits: list[HybridHit]
    english: str = ""
    warnings: list[str] = Field(default_factory=list)


@reading_tool(
    "hybrid_search",
    family=TTM,
    timeout=15,
    also_uses=("project_documents.find",),
    next_step=next_steps.after_everything,
)
def hybrid_search_tool(request: HybridSearch, backends: Backends, context: Context) -> HybridHits:
    """Search papers, passages of projects and names in the herb graph together, in English or Thai. Scores compare.

    For papers alone take rag_search, for one project query_hybrid.
    """
    given = request.filters or HybridFilters()
    question = HybridQuestion(
        asked=parse_question(readable(request.query), None if request.lang == "auto" else request.lang),
        top_k=request.top_k,
        kinds=frozenset(given.types) or EVERY_KIND,
        project_ids=tuple(given.projects),
        year_from=given.year_from,
        year_to=given.year_to,
    )
    found = hybrid_search(question, backends, context.deadline)
    thai: dict[str, Any] = {"english": question.asked.english} if question.asked.thai else {}
    answer = HybridHits(
        hits=[HybridHit.of(each, each.cited, type=each.kind) for each in found.hits],
        reasons=list(found.reasons),
        warnings=list(found.warnings),
        **thai,
    )
    most = request.max_characters - answer_size.AUDIT
    return answer_size.within(answer, "hits", most, "ask for more characters")

"""What inputs of several tools share: their families, PMIDs and ids of documents, and which papers a search may use."""

from functools import partial
from logging import Logger
from typing import Annotated, Any

from pydantic import AfterValidator, Field, WithJsonSchema

from bio_mcp import errors
from bio_mcp.answering.search import check_years, journal_keys
from bio_mcp.errors import InvalidInput
from bio_mcp.literature.identifiers import bare_pmid
from bio_mcp.literature.quality import DESIGNS
from bio_mcp.retrieval.analysis import ANALYSIS_VERSION
from bio_mcp.retrieval.passages import Filters
from bio_mcp.tool import ABSENT, Family, Request, tool, unpublished
from bio_mcp.tools import answer_size

QueryKey = Annotated[str, Field(min_length=1, max_length=200, json_schema_extra=unpublished)]
ProjectId = Annotated[str, Field(min_length=1, max_length=200, json_schema_extra=unpublished)]

BIO_MCP = Family("rag", errors.BIO_MCP)
PUBMED = Family("pubmed", errors.PUBMED)
CITELOOM = Family("projects", errors.CITELOOM)
REVIEW = Family("review", errors.BIO_MCP)
CHATGPT = Family("chatgpt", errors.BIO_MCP, by_name_only=True)  # `search` and `fetch`, as its deep research wants
TTM = Family("ttm", errors.TTM, prefix="tool.", audited=True)

live_tool = partial(tool, family=PUBMED, scope="live", timeout=27, open_world=True, longest=answer_size.DEFAULT)
"""Declares a tool that asks services outside, by whose lists no answer is longer than usual."""
reading_tool = partial(tool, scope="read", longest=answer_size.DEFAULT)
"""Declares a tool that reads what is stored here, and whose answer is no longer than usual."""

SPARSE_MODEL = f"bio-mcp/bm25-{ANALYSIS_VERSION}"  # what a project searches words by

PMID = r"^\d+$"
DOC_ID = r"^pmid:[0-9]+$"


def _checked(text: str) -> str:
    try:
        return bare_pmid(text)
    except InvalidInput as problem:
        raise ValueError(str(problem)) from None


AnsweredPmid = Annotated[str, Field(pattern=PMID, max_length=40, json_schema_extra=unpublished)]
"""A PMID in an answer, as NCBI or the corpus has it: only what a caller gives is checked."""
Pmid = Annotated[AnsweredPmid, AfterValidator(_checked)]
DocId = Annotated[
    str,
    Field(pattern=DOC_ID, max_length=40, json_schema_extra=unpublished),
    AfterValidator(lambda text: f"pmid:{_checked(text.removeprefix('pmid:'))}"),
]

_TYPES = {name: ui for ui, (_, name) in DESIGNS.items()}

Journal = Annotated[str, Field(max_length=300, json_schema_extra=unpublished)]


class SearchFilters(Request):
    """Conditions on papers, joined by AND."""

    year_from: int = Field(default=ABSENT, ge=1, description="of publication")
    year_to: int = Field(default=ABSENT, ge=1, description="of publication")
    journals: list[Journal] = Field(default_factory=list, description="any of these NLM ids or full titles")
    publication_types: list[str] = Field(
        default_factory=list, description="any of these MeSH UIs or names, e.g. meta-analysis"
    )


# What clients pay for once: the schema of filters stands in the input of rag.search.
SameFilters = Annotated[SearchFilters, WithJsonSchema({"type": "object", "description": "as in rag_search"})]


def filters_of(given: SearchFilters | None) -> Filters:
    """The filters of the index. Raises `InvalidInput` for a reversed range of years and an unknown publication type."""
    given = given or SearchFilters()
    check_years(given.year_from, given.year_to)
    return Filters(
        year_from=given.year_from,
        year_to=given.year_to,
        journals=frozenset(name for each in given.journals for name in journal_keys(each)),
        publication_types=frozenset(_publication_type(each) for each in given.publication_types),
    )


def _publication_type(named: str) -> str:
    """The MeSH UI of a type given by name or UI. Raises `InvalidInput`, which lists the names, for any other text."""
    ui = _TYPES.get(named.strip().lower(), named.strip().upper())
    if not (ui.startswith("D") and ui[1:].isdecimal()):
        choices = ", ".join(_TYPES)
        raise InvalidInput(
            f"{named!r} is unknown; give a MeSH UI or one of: {choices}", field="filters.publication_types"
        )
    return ui


def log_report(log: Logger, what: str, report: Any, **named: Any) -> None:
    """Log the progress of a job, and its warnings once it has ended."""
    extra = {**named, "state": report.state, "job_id": report.job_id}
    log.info("%sed", what, extra=extra)  # by which alarms count
    if report.state in ("complete", "incomplete") and not report.ended:
        for warning in report.warnings:
            log.warning("%s: %s", what, warning, extra=extra)

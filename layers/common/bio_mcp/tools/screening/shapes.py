"""Inputs and answers of the tools for screening."""

from typing import Annotated, Any, Literal

from pydantic import Field

from bio_mcp.schemas import unpublished
from bio_mcp.tool import Request, Response
from bio_mcp.tools.families import ProjectId, QueryKey
from bio_mcp.tools.pmids import AnsweredPmid, Pmid

_ABSENT: Any = None  # an optional input is absent, never null, so its type is the plain one
RecordId = Annotated[str, Field(min_length=1, max_length=600, json_schema_extra=unpublished)]
Stage = Literal["abstract", "full_text"]
Shown = Literal["next", "include", "exclude", "maybe", "report"]


class OfReview(Request):
    """Which review: that of a project, or of what a query key follows."""

    project: ProjectId = _ABSENT
    query_key: QueryKey = _ABSENT
    stage: Stage = "abstract"


class Screen(OfReview):
    """What to show of the review."""

    show: Shown = Field(default="next", description="next to decide, those decided so, or PRISMA counts and searches")
    top_k: int = Field(default=10, ge=1, le=100)
    criteria: str = Field(default=_ABSENT, min_length=1, description="inclusion criteria, while few are decided")
    after: RecordId = Field(default=_ABSENT, description="with include, exclude, maybe: go on after this paper")


class PaperLabel(Request):
    """A decision."""

    paper: RecordId = Field(description="PMID, or the id that screenPapers gives")
    decision: Literal["include", "exclude", "maybe", "none"] = Field(description="none takes it back")
    reason: str = Field(default=_ABSENT, min_length=1, max_length=500, json_schema_extra=unpublished)


class LabelPapers(OfReview):
    """Papers to bring into the review, and decisions."""

    labels: list[PaperLabel] = _ABSENT
    pmids: list[Pmid] = Field(default=_ABSENT, description="papers to add")
    term: str = Field(default=_ABSENT, min_length=1, description="add what PubMed finds")
    collect: bool = Field(default=False, description="add the project's papers, or what the query key's term finds")


class Counts(Response):
    """Records of the stage, by decision."""

    records: int
    include: int
    exclude: int
    maybe: int
    undecided: int


class StoppingEstimate(Response):
    """Whether enough was found; with 95 % confidence where the assumption holds."""

    may_stop: bool = Field(description="at least 95 % of the relevant papers were found")
    recall_at_least: float | None
    missed_at_most: int
    p_value: float
    assumes: str


class ScreenedPaper(Response):
    """A paper of a review."""

    paper: str
    title: str
    url: str | None = None
    year: int | None = None
    abstract: str | None = None
    score: float | None = None
    why: list[str] = Field(default_factory=list)
    retraction: str | None = None
    decision: str | None = None
    reason: str | None = None
    decided_at: str | None = None


class Reason(Response):
    """Reports that were excluded for a reason."""

    reason: str
    count: int


class Prisma(Response):
    """The counts of a PRISMA 2020 flow diagram."""

    identified: int
    from_databases: int
    from_other_methods: int
    duplicates_removed: int
    screened: int
    excluded: int
    sought: int
    not_retrieved: int
    assessed: int
    excluded_by_reason: list[Reason]
    included: int
    undecided: int


class Search(Response):
    """A search, as PRISMA-S reports it."""

    at: str
    database: str
    platform: str | None
    term: str | None
    found: int
    new: int | None = Field(description="that no search before had")
    method: str
    note: str | None = None


class Screened(Response):
    """Papers of a review, or its report."""

    stage: Stage
    papers: list[ScreenedPaper]
    counts: Counts
    stopping: StoppingEstimate
    ranked_by: str | None = None
    left_out: int = 0
    prisma: Prisma | None = None
    searches: list[Search] | None = None
    warnings: list[str] = Field(default_factory=list)


class Labelled(Response):
    """What a call changed."""

    added: int
    known: int = Field(description="papers to add that were there")
    labelled: int
    unchanged: int
    unknown: list[AnsweredPmid | str] = Field(description="neither in the review nor in PubMed")
    left: int = Field(description="papers not read in time: the same call again goes on")
    counts: Counts
    warnings: list[str] = Field(default_factory=list)

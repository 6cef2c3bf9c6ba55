"""Inputs and answers of the tools that ask services beside NCBI."""

from typing import Annotated, Literal

from pydantic import Field

from bio_mcp.literature.notices import NoticeKind
from bio_mcp.literature.records import RetractionStatus
from bio_mcp.ports.europe_pmc import Order
from bio_mcp.querying.versions import Found
from bio_mcp.tool import Request, Response
from bio_mcp.tools.families import ProjectId
from bio_mcp.tools.pmids import Pmid

Status = Literal["complete", "partial"]
Id = Annotated[str, Field(min_length=1, max_length=512)]


class EuropePmcQuestion(Request):
    """What to search Europe PMC for."""

    query: str = Field(default="", max_length=1_500, description="Europe PMC's syntax")
    citing: str = Field(default="", max_length=512, description="id of a paper or preprint: only what cites it")
    preprintsOnly: bool = True
    order: Order = "relevance"
    maxResults: int = Field(default=20, ge=1, le=100)
    cursor: str = Field(default="", max_length=500)
    includeAbstracts: bool = False


class LinkedVersion(Response):
    """Another version of a work, and who says so."""

    assertedBy: str
    url: str
    pmid: str | None = None
    doi: str | None = None
    preprintId: str | None = None
    note: str = ""
    retraction: RetractionStatus = RetractionStatus.UNKNOWN


class EuropePmcHit(Response):
    """A record; `journal` is a preprint's server. `publishedAs`: the articles that a preprint became."""

    source: str
    id: str
    title: str
    authors: list[str]
    journal: str
    date: str
    year: int | None
    pmid: str | None
    pmcid: str | None
    doi: str | None
    isPreprint: bool
    isOpenAccess: bool
    citedBy: int
    url: str
    abstract: str | None = None
    retraction: RetractionStatus
    publishedAs: list[LinkedVersion] = Field(default_factory=list)
    preprints: list[LinkedVersion] = Field(default_factory=list)


class EuropePmcHits(Response):
    """A page of `totalFound` records; `cursor` asks for the next one, null at the end."""

    totalFound: int
    effectiveQuery: str
    results: list[EuropePmcHit]
    cursor: str | None
    status: Status = "complete"
    reasons: list[str] = Field(default_factory=list)


class MetricsQuestion(Request):
    """The papers to give figures of."""

    pmids: list[Pmid] = Field(min_length=1, max_length=200)


class PaperMetrics(Response):
    """Figures of a paper by NIH iCite. `relativeCitationRatio`: 1.0 is the median of NIH-funded papers of its field and
    year, null where not computed."""

    pmid: str
    year: int | None
    citationCount: int
    citationsPerYear: float | None
    relativeCitationRatio: float | None
    nihPercentile: float | None
    isProvisional: bool
    isClinical: bool
    isResearchArticle: bool
    citedByClinicalArticles: list[str]
    references: int
    retraction: RetractionStatus


class MetricsAnswer(Response):
    """Figures in the order asked for; `unknown` are PMIDs that iCite does not have."""

    papers: list[PaperMetrics]
    unknown: list[str]
    status: Status = "complete"
    reasons: list[str] = Field(default_factory=list)


class VersionsQuestion(Request):
    """The papers to look up."""

    ids: list[Id] = Field(min_length=1, max_length=20, description="PMIDs, PMCIDs, DOIs and PPR ids, mixed")


class PublishedNotice(Response):
    """A notice about a work, and who says so."""

    kind: NoticeKind
    label: str
    date: str
    doi: str | None
    assertedBy: str


class FoundWork(Response):
    """A work. `unknown`: a service failed, so it may exist. `retraction` is the graver of PubMed's and Crossref's."""

    requested: str
    found: Found
    title: str
    pmid: str | None
    doi: str | None
    isPreprint: bool
    publishedAs: list[LinkedVersion]
    preprints: list[LinkedVersion]
    retraction: RetractionStatus
    notices: list[PublishedNotice]


class VersionsAnswer(Response):
    """Works in the order asked for."""

    works: list[FoundWork]
    status: Status = "complete"
    reasons: list[str] = Field(default_factory=list)


class NoticesQuestion(Request):
    """The project to check."""

    project: ProjectId


class NotedWork(Response):
    """A document of the project about which there is a notice."""

    doc_id: str
    title: str | None
    citekey: str | None
    doi: str | None
    retraction: RetractionStatus
    notices: list[PublishedNotice]


class NoticesAnswer(Response):
    """What was found about the `checked` documents that have a DOI and no PMID; Crossref lacks `unknown` of them."""

    project: str
    checked: int
    unknown: int
    works: list[NotedWork]
    status: Status = "complete"
    reasons: list[str] = Field(default_factory=list)

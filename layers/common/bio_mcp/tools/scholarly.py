"""Services beside NCBI: preprints, open access, citation figures, notices of publishers."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated

from pydantic import Field

from bio_mcp.arguments import PaperId
from bio_mcp.errors import InvalidInput
from bio_mcp.ingesting.notices import Noted, note_notices
from bio_mcp.literature.identifiers import europe_pmc_page, is_pmid, parse_pmid, preprint_id
from bio_mcp.literature.notices import Notice, NoticeKind, graver, status_of
from bio_mcp.literature.records import RetractionStatus
from bio_mcp.ports import Backends
from bio_mcp.ports.scholarly import EuropePmcRecord, Order
from bio_mcp.query_terms import unbalanced
from bio_mcp.querying import versions
from bio_mcp.querying.search import required
from bio_mcp.querying.versions import Found, retraction_statuses
from bio_mcp.tool import Context, Request, Response
from bio_mcp.tools import answer_size
from bio_mcp.tools.answer_size import MayBePartial
from bio_mcp.tools.fields import BY_OTHER_IDS, REVIEW, Pmid, ProjectId, live_tool

Id = Annotated[str, Field(min_length=1, max_length=512)]


class EuropePmcQuestion(Request):
    query: str = Field(default="", max_length=1_500, description="Europe PMC's syntax")
    citing: Annotated[str, PaperId()] = Field(
        default="", max_length=512, description="id of a paper or preprint: only what cites it"
    )
    preprintsOnly: bool = True
    order: Order = "relevance"
    maxResults: int = Field(default=20, ge=1, le=100)
    cursor: str = Field(default="", max_length=500)
    includeAbstracts: bool = False


class LinkedVersion(Response):
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


class EuropePmcHits(MayBePartial):
    """A page of `totalFound` records; `cursor` asks for the next one, null at the end."""

    totalFound: int
    effectiveQuery: str
    results: list[EuropePmcHit]
    cursor: str | None


class MetricsQuestion(Request):
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


class MetricsAnswer(MayBePartial):
    """Figures in the order asked for; `unknown` are PMIDs that iCite does not have."""

    papers: list[PaperMetrics]
    unknown: list[str]


class VersionsQuestion(Request):
    ids: list[Id] = Field(min_length=1, max_length=20, description="PMIDs, PMCIDs, DOIs and PPR ids, mixed")


class PublishedNotice(Response):
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


class VersionsAnswer(MayBePartial):
    """Works in the order asked for."""

    works: list[FoundWork]


class NoticesQuestion(Request):
    project: ProjectId


class NotedWork(Response):
    """A document of the project about which there is a notice."""

    doc_id: str
    title: str | None
    citekey: str | None
    doi: str | None
    retraction: RetractionStatus
    notices: list[PublishedNotice]


class NoticesAnswer(MayBePartial):
    """What was found about the `checked` documents that have a DOI and no PMID; Crossref lacks `unknown` of them."""

    project: str
    checked: int
    unknown: int
    works: list[NotedWork]


Statuses = Mapping[str | None, RetractionStatus]
MOST_AUTHORS = 10


@live_tool("searchEuropePmc", family=REVIEW, beyond="PubMed has few preprints", also_uses=BY_OTHER_IDS)
def search_europe_pmc(request: EuropePmcQuestion, backends: Backends, context: Context) -> EuropePmcHits:
    """Search preprints live at Europe PMC, each with the article that it became; or all that Europe PMC has."""
    query = effective_query(request)
    with required():
        page = backends.europe_pmc.search(
            query, request.maxResults, order=request.order, cursor=request.cursor, deadline=context.deadline
        )
    reasons: list[str] = []
    pmids = [pmid for each in page.records for pmid in (each.pmid, *(linked.id for linked in each.articles))]
    known = [each for each in pmids if each and is_pmid(each)]
    statuses = retraction_statuses(known, backends.pubmed, context.deadline, reasons)
    answer = EuropePmcHits(
        totalFound=page.count,
        effectiveQuery=query,
        results=[_hit(each, statuses, with_abstract=request.includeAbstracts) for each in page.records],
        cursor=page.following,
        reasons=reasons,
    )
    advice = "ask again from the same cursor with a smaller maxResults"
    return answer_size.within(answer, "results", advice=advice, more=lambda _: {"cursor": request.cursor})


def effective_query(request: EuropePmcQuestion) -> str:
    """The query that is sent. Raises `InvalidInput` for one that is unbalanced, or with nothing to search for."""
    if problem := unbalanced(request.query):
        raise InvalidInput(f"{problem}", field="query")
    parts = [f"({request.query.strip()})"] if request.query.strip() else []
    if request.citing:
        preprint = preprint_id(request.citing)
        parts.append(f"CITES:{preprint}_PPR" if preprint else f"CITES:{parse_pmid(request.citing)}_MED")
    if not parts:
        raise InvalidInput("give a query, or citing")
    return " AND ".join([*parts, *(["SRC:PPR"] if request.preprintsOnly else [])])


def _hit(record: EuropePmcRecord, statuses: Statuses, *, with_abstract: bool) -> EuropePmcHit:
    more = len(record.authors) - MOST_AUTHORS
    return EuropePmcHit.of(
        record,
        authors=[*record.authors[:MOST_AUTHORS], *([f"and {more} more"] if more > 0 else [])],
        isPreprint=record.source == "PPR",
        isOpenAccess=record.is_open,
        url=europe_pmc_page(record.source, record.id),
        abstract=record.abstract if with_abstract else None,
        retraction=statuses[record.pmid],
        publishedAs=_links(map(versions.linked, record.articles), statuses),
        preprints=_links(map(versions.linked, record.preprints), statuses),
    )


def _links(others: Iterable[versions.OtherVersion], statuses: Statuses) -> list[LinkedVersion]:
    return [LinkedVersion.of(each, retraction=statuses[each.pmid]) for each in others]


@live_tool(
    "getCitationMetrics",
    family=REVIEW,
    beyond="how much a paper is cited, for its field and age",
    also_uses=BY_OTHER_IDS,
)
def get_citation_metrics(request: MetricsQuestion, backends: Backends, context: Context) -> MetricsAnswer:
    """Give citation counts and relative citation ratios of papers, by NIH iCite."""
    pmids = list(dict.fromkeys(request.pmids))
    with required():
        found = backends.metrics.of(pmids, deadline=context.deadline)
    reasons: list[str] = []
    statuses = retraction_statuses(found, backends.pubmed, context.deadline, reasons)
    answer = MetricsAnswer(
        papers=[
            PaperMetrics.of(
                each,
                nihPercentile=each.percentile,
                isResearchArticle=each.is_research,
                citedByClinicalArticles=each.cited_by_clinical,
                references=len(each.references),
                retraction=statuses[each.pmid],
            )
            for each in found.values()
        ],
        unknown=[each for each in pmids if each not in found],
        reasons=reasons,
    )
    return answer_size.within(answer, "papers", advice="ask for the last PMIDs by themselves")


@live_tool("findVersions", family=REVIEW, beyond="what became of a preprint, and notices about papers without a PMID")
def find_versions(request: VersionsQuestion, backends: Backends, context: Context) -> VersionsAnswer:
    """Find the article that a preprint became, an article's preprints, and retractions and corrections of each, by
    Europe PMC and Crossref (with Retraction Watch)."""
    works, reasons = versions.versions(request.ids, backends, context.deadline)
    pmids = [pmid for each in works for pmid in (each.pmid, *(other.pmid for other in each.articles))]
    statuses = retraction_statuses(pmids, backends.pubmed, context.deadline, reasons)
    answer = VersionsAnswer(works=[_work(each, statuses) for each in works], reasons=reasons)
    return answer_size.within(answer, "works", advice="ask for the last ids by themselves")


def _work(work: versions.Work, statuses: Statuses) -> FoundWork:
    by_crossref = RetractionStatus.UNKNOWN if work.notices is None else status_of(work.notices)
    return FoundWork.of(
        work,
        requested=work.asked,
        publishedAs=_links(work.articles, statuses),
        preprints=_links(work.preprints, statuses),
        retraction=graver(by_crossref, statuses[work.pmid]),
        notices=[PublishedNotice.of(each, assertedBy=each.source) for each in work.notices or ()],
    )


@live_tool(
    "checkNotices",
    family=REVIEW,
    scope="ingest",
    beyond="documents of projects that PubMed does not have are retracted, too",
    read_only=False,
    also_uses=("project_documents.find", "project_documents.put", "leases.take"),
)
def check_notices(request: NoticesQuestion, backends: Backends, context: Context) -> NoticesAnswer:
    """Ask Crossref (with Retraction Watch) about a project's documents without a PMID; its searches then flag them.

    For single papers take findVersions.
    """

    def registered(dois: Sequence[str]) -> dict[str, Sequence[Notice]]:
        works = backends.notices.of(dois, deadline=context.deadline)
        return {doi: work.notices for doi, work in works.items()}

    with required():
        noted = note_notices(request.project, registered, backends)
    return noted_answer(request.project, noted)


def noted_answer(project: str, noted: Noted) -> NoticesAnswer:
    works = [
        NotedWork.of(
            each.document.work,
            retraction=each.status,
            notices=[PublishedNotice.of(one, assertedBy=one.source) for one in each.document.notices],
        )
        for each in noted.documents
    ]
    answer = NoticesAnswer.of(noted, project=project, works=works)
    return answer_size.within(answer, "works", advice="the project's searches flag them all")

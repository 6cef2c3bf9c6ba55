"""Services beside NCBI: preprints and their articles, citation figures, notices of publishers."""

from collections.abc import Iterable, Mapping, Sequence

from bio_mcp.errors import InvalidInput
from bio_mcp.ingesting.noticing import Noted, NotedDocument, note_notices
from bio_mcp.literature.addresses import europe_pmc_page
from bio_mcp.literature.identifiers import is_pmid, parse_pmid, preprint_id
from bio_mcp.literature.notices import Notice, graver, status_of
from bio_mcp.literature.records import RetractionStatus
from bio_mcp.ports import Backends
from bio_mcp.ports.europe_pmc import EuropePmcRecord
from bio_mcp.ports.metrics import Metrics
from bio_mcp.query_terms import unbalanced
from bio_mcp.querying import versions
from bio_mcp.querying.partial import required
from bio_mcp.querying.retractions import retraction_statuses
from bio_mcp.tool import Context, tool
from bio_mcp.tools import budget
from bio_mcp.tools.families import REVIEW
from bio_mcp.tools.scholarly.shapes import (
    EuropePmcHit,
    EuropePmcHits,
    EuropePmcQuestion,
    FoundWork,
    LinkedVersion,
    MetricsAnswer,
    MetricsQuestion,
    NotedWork,
    NoticesAnswer,
    NoticesQuestion,
    PaperMetrics,
    PublishedNotice,
    VersionsAnswer,
    VersionsQuestion,
)

Statuses = Mapping[str | None, RetractionStatus]
TIMEOUT_S = 27
MOST_AUTHORS = 10


@tool(
    "searchEuropePmc",
    family=REVIEW,
    scope="live",
    beyond="PubMed has few preprints",
    timeout=TIMEOUT_S,
    open_world=True,
    output_listed=False,
    longest=budget.DEFAULT,
)
def search_europe_pmc(request: EuropePmcQuestion, backends: Backends, context: Context) -> EuropePmcHits:
    """Search preprints live at Europe PMC, each with the article that it became; or all that Europe PMC has."""
    query = effective_query(request)
    with required():
        page = backends.europe_pmc.search(
            query, request.maxResults, order=request.order, cursor=request.cursor, deadline=context.deadline
        )
    reasons: list[str] = []
    pmids = [pmid for each in page.records for pmid in (each.pmid, *(linked.id for linked in each.articles))]
    statuses = retraction_statuses(filter(_is_pmid, pmids), backends.pubmed, context.deadline, reasons)
    answer = EuropePmcHits(
        totalFound=page.count,
        effectiveQuery=query,
        results=[_hit(each, statuses, with_abstract=request.includeAbstracts) for each in page.records],
        cursor=page.following,
        status="partial" if reasons else "complete",
        reasons=reasons,
    )
    more = "ask again from the same cursor with a smaller maxResults"
    return budget.within(
        answer, "results", budget.DEFAULT, lambda rest: budget.partial(reasons, rest, more) | {"cursor": request.cursor}
    )


def _is_pmid(text: str | None) -> bool:
    return text is not None and is_pmid(text)


def effective_query(request: EuropePmcQuestion) -> str:
    """The query that is sent. Raises `InvalidInput` for one that is unbalanced, or with nothing to search for."""
    if problem := unbalanced(request.query):
        raise InvalidInput(f"query: {problem}")
    parts = [f"({request.query.strip()})"] if request.query.strip() else []
    if request.citing:
        parts.append(f"CITES:{_cited(request.citing)}")
    if not parts:
        raise InvalidInput("give a query, or citing")
    return " AND ".join([*parts, *(["SRC:PPR"] if request.preprintsOnly else [])])


def _cited(text: str) -> str:
    """The id of what is cited, as Europe PMC's query names it. Raises `InvalidInput`."""
    preprint = preprint_id(text)
    return f"{preprint}_PPR" if preprint else f"{parse_pmid(text)}_MED"


def _hit(record: EuropePmcRecord, statuses: Statuses, *, with_abstract: bool) -> EuropePmcHit:
    more = len(record.authors) - MOST_AUTHORS
    return EuropePmcHit(
        source=record.source,
        id=record.id,
        title=record.title,
        authors=[*record.authors[:MOST_AUTHORS], *([f"and {more} more"] if more > 0 else [])],
        journal=record.journal,
        date=record.date,
        year=record.year,
        pmid=record.pmid,
        pmcid=record.pmcid,
        doi=record.doi,
        isPreprint=record.source == "PPR",
        isOpenAccess=record.is_open,
        citedBy=record.cited_by,
        url=europe_pmc_page(record.source, record.id),
        abstract=record.abstract if with_abstract else None,
        retraction=statuses.get(record.pmid, RetractionStatus.UNKNOWN),
        publishedAs=_links(map(versions.linked, record.articles), statuses),
        preprints=_links(map(versions.linked, record.preprints), statuses),
    )


def _links(others: Iterable[versions.OtherVersion], statuses: Statuses) -> list[LinkedVersion]:
    return [
        LinkedVersion(
            assertedBy=each.asserted_by,
            url=each.url,
            pmid=each.pmid,
            doi=each.doi,
            preprintId=each.preprint_id,
            note=each.note,
            retraction=statuses.get(each.pmid, RetractionStatus.UNKNOWN),
        )
        for each in others
    ]


@tool(
    "getCitationMetrics",
    family=REVIEW,
    scope="live",
    beyond="how much a paper is cited, for its field and age",
    timeout=TIMEOUT_S,
    open_world=True,
    output_listed=False,
    longest=budget.DEFAULT,
)
def get_citation_metrics(request: MetricsQuestion, backends: Backends, context: Context) -> MetricsAnswer:
    """Give citation counts and relative citation ratios of papers, by NIH iCite."""
    pmids = list(dict.fromkeys(request.pmids))
    with required():
        found = backends.metrics.of(pmids, deadline=context.deadline)
    reasons: list[str] = []
    statuses = retraction_statuses(found, backends.pubmed, context.deadline, reasons)
    answer = MetricsAnswer(
        papers=[_figures(each, statuses) for each in found.values()],
        unknown=[each for each in pmids if each not in found],
        status="partial" if reasons else "complete",
        reasons=reasons,
    )
    more = "ask for the last PMIDs by themselves"
    return budget.within(answer, "papers", budget.DEFAULT, lambda rest: budget.partial(reasons, rest, more))


def _figures(metrics: Metrics, statuses: Statuses) -> PaperMetrics:
    return PaperMetrics(
        pmid=metrics.pmid,
        year=metrics.year,
        citationCount=metrics.citation_count,
        citationsPerYear=metrics.citations_per_year,
        relativeCitationRatio=metrics.relative_citation_ratio,
        nihPercentile=metrics.percentile,
        isProvisional=metrics.is_provisional,
        isClinical=metrics.is_clinical,
        isResearchArticle=metrics.is_research,
        citedByClinicalArticles=list(metrics.cited_by_clinical),
        references=len(metrics.references),
        retraction=statuses.get(metrics.pmid, RetractionStatus.UNKNOWN),
    )


@tool(
    "findVersions",
    family=REVIEW,
    scope="live",
    beyond="what became of a preprint, and notices about papers without a PMID",
    timeout=TIMEOUT_S,
    open_world=True,
    output_listed=False,
    longest=budget.DEFAULT,
)
def find_versions(request: VersionsQuestion, backends: Backends, context: Context) -> VersionsAnswer:
    """Find the article that a preprint became, an article's preprints, and retractions and corrections of each, by
    Europe PMC and Crossref (with Retraction Watch)."""
    works, reasons = versions.versions(request.ids, backends, context.deadline)
    pmids = [pmid for each in works for pmid in (each.pmid, *(other.pmid for other in each.articles))]
    statuses = retraction_statuses(pmids, backends.pubmed, context.deadline, reasons)
    answer = VersionsAnswer(
        works=[_work(each, statuses) for each in works], status="partial" if reasons else "complete", reasons=reasons
    )
    more = "ask for the last ids by themselves"
    return budget.within(answer, "works", budget.DEFAULT, lambda rest: budget.partial(reasons, rest, more))


def _work(work: versions.Work, statuses: Statuses) -> FoundWork:
    by_crossref = RetractionStatus.UNKNOWN if work.notices is None else status_of(work.notices)
    return FoundWork(
        requested=work.asked,
        found=work.found,
        title=work.title,
        pmid=work.pmid,
        doi=work.doi,
        isPreprint=work.is_preprint,
        publishedAs=_links(work.articles, statuses),
        preprints=_links(work.preprints, statuses),
        retraction=graver(by_crossref, statuses.get(work.pmid, RetractionStatus.UNKNOWN)),
        notices=[_notice(each) for each in work.notices or ()],
    )


def _notice(notice: Notice) -> PublishedNotice:
    return PublishedNotice(
        kind=notice.kind, label=notice.label, date=notice.date, doi=notice.doi, assertedBy=notice.source
    )


@tool(
    "checkNotices",
    family=REVIEW,
    scope="ingest",
    beyond="documents of projects that PubMed does not have are retracted, too",
    timeout=TIMEOUT_S,
    read_only=False,
    idempotent=True,
    open_world=True,
    output_listed=False,
    longest=budget.DEFAULT,
    also_uses=("project_documents.find", "project_documents.put"),
)
def check_notices(request: NoticesQuestion, backends: Backends, context: Context) -> NoticesAnswer:
    """Ask Crossref (with Retraction Watch) about a project's documents without a PMID; its searches then flag them."""
    with required():
        noted = note_notices(request.project, lambda dois: _registered(dois, backends, context), backends)
    return noted_answer(request.project, noted)


def _registered(dois: Sequence[str], backends: Backends, context: Context) -> dict[str, Sequence[Notice]]:
    works = backends.notices.of(dois, deadline=context.deadline)
    return {doi: work.notices for doi, work in works.items()}


def noted_answer(project: str, noted: Noted) -> NoticesAnswer:
    """What was noted about a project."""
    answer = NoticesAnswer(
        project=project,
        checked=noted.checked,
        unknown=noted.unknown,
        works=[_noted(each) for each in noted.documents],
        status="complete",
    )
    more = "the project's searches flag them all"
    return budget.within(answer, "works", budget.DEFAULT, lambda rest: budget.partial([], rest, more))


def _noted(noted: NotedDocument) -> NotedWork:
    work = noted.document.work
    return NotedWork(
        doc_id=work.doc_id,
        title=work.title,
        citekey=work.citekey,
        doi=work.doi,
        retraction=noted.status,
        notices=[_notice(each) for each in noted.document.notices],
    )

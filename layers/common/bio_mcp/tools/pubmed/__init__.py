"""Read PubMed itself, live."""

from collections.abc import Sequence
from contextlib import suppress
from typing import Annotated, Any, Literal

from pydantic import Field

from bio_mcp.browsing import fetching, relating, searching
from bio_mcp.browsing.honesty import Status, answered_or_told_why
from bio_mcp.browsing.terms import DateRange, DateType, cleaned, effective_term, unfiltered
from bio_mcp.deadline import Deadline
from bio_mcp.errors import DeadlineExceeded, NotFound, UpstreamFailed
from bio_mcp.literature.citing import cite
from bio_mcp.literature.records import RetractionStatus
from bio_mcp.ports import Backends
from bio_mcp.pubmed import CITED_IN, REFERENCES, SIMILAR, request_url
from bio_mcp.schemas import unpublished
from bio_mcp.tool import Context, Request, Response, resource, tool
from bio_mcp.tools.families import PUBMED
from bio_mcp.tools.pubmed.details import ArticleDetails, cited, full
from bio_mcp.tools.pubmed.hits import PMID, BriefSummary, RelatedArticle, brief, related
from bio_mcp.tools.pubmed.standing import PubmedStatistics, ServerStanding, server_standing, statistics

TIMEOUT_S = 26  # a front end waits 29 s; queueing and pauses between tries are in it, a cold start is not
ROOM = 1_500_000  # characters of an answer: twice in one MCP result, and escaped, that is 5 of Lambda's 6 MB
FRESH_S = 60
DAY = r"^\d{4}(/\d{2}(/\d{2})?)?$"
SORTS = {"relevance": "relevance", "pub_date": "pub_date", "author": "Author", "journal_name": "JournalName"}
LINKS = {"pubmed_similar_articles": SIMILAR, "pubmed_citedin": CITED_IN, "pubmed_references": REFERENCES}
_ABSENT: Any = None  # an optional input is absent, never null


Pmid = Annotated[str, Field(pattern=PMID, max_length=40, json_schema_extra=unpublished)]


class PubmedDates(Request):
    minDate: str = Field(default=_ABSENT, pattern=DAY)
    maxDate: str = Field(default=_ABSENT, pattern=DAY)
    dateType: DateType = "pdat"


class SearchPubmed(Request):
    queryTerm: str = Field(min_length=3, description="PubMed search syntax")
    maxResults: int = Field(default=20, ge=1, le=1000)
    sortBy: Literal["relevance", "pub_date", "author", "journal_name"] = "relevance"
    dateRange: PubmedDates = Field(default=_ABSENT, description="YYYY[/MM[/DD]], either end may be open")
    filterByPublicationTypes: list[str] = Field(default=_ABSENT, description="any of these, e.g. Review")
    fetchBriefSummaries: int = Field(default=0, ge=0, le=100, description="summaries of this many first hits")


class PubmedHits(Response):
    searchParameters: dict[str, Any]
    effectiveESearchTerm: str
    totalFound: int = Field(ge=0)
    retrievedPmidCount: int = Field(ge=0)
    pmids: list[Pmid]
    briefSummaries: list[BriefSummary]
    eSearchUrl: str
    eSummaryUrl: str | None = None
    queryTranslation: str = ""
    droppedTerms: list[str] = Field(default_factory=list, description="not searched for")
    suggestedTerm: str | None = Field(default=None, description="PubMed's spelling")
    status: Status = "complete"
    reasons: list[str] = Field(default_factory=list)
    warnings: list[str] = Field(default_factory=list)


class FetchArticles(Request):
    pmids: list[Pmid] = Field(min_length=1, max_length=200)
    detailLevel: Literal["abstract_plus", "full_xml", "medline_text", "citation_data"] = Field(
        default="abstract_plus", description="full_xml and medline_text: NCBI's own text, in `content`"
    )
    includeMeshTerms: bool = True
    includeGrantInfo: bool = False


class FetchRequests(Response):
    urls: list[str]
    requestMethod: Literal["GET", "POST"]


class FetchedArticles(Response):
    requestedPmids: list[Pmid]
    articles: list[ArticleDetails] = Field(default_factory=list)
    notFoundPmids: list[Pmid]
    eFetchDetails: FetchRequests
    content: str | None = None
    contentType: str | None = None
    leftOutPmids: list[Pmid] = Field(default_factory=list, description="did not fit: ask for them next")
    status: Status = "complete"
    reasons: list[str] = Field(default_factory=list)


class RelateArticles(Request):
    sourcePmid: Pmid
    relationshipType: Literal["pubmed_similar_articles", "pubmed_citedin", "pubmed_references", "citation_formats"] = (
        "pubmed_similar_articles"
    )
    maxRelatedResults: int = Field(default=5, ge=1, le=50)
    citationStyles: list[Literal["ris", "bibtex", "apa_string", "mla_string"]] = Field(default=["ris"])
    moreStyles: list[Literal["vancouver", "csl_json"]] = Field(default=_ABSENT, description="citation styles besides")


class ArticleRelations(Response):
    sourcePmid: str = Field(pattern=PMID)
    relationshipType: str
    relatedArticles: list[RelatedArticle]
    citations: dict[str, str]
    retrievedCount: int = Field(ge=0)
    eLinkUrl: str | None = None
    totalCount: int | None = Field(default=None, description="related articles that there are")
    score_kind: relating.ScoreKind = Field(
        default="none", description="relative: share of the source's score for itself; order: by place only"
    )
    sourceRetraction: RetractionStatus = RetractionStatus.UNKNOWN
    status: Status = "complete"
    reasons: list[str] = Field(default_factory=list)
    warnings: list[str] = Field(default_factory=list)


@tool("searchPubMedArticles", family=PUBMED, timeout=TIMEOUT_S, open_world=True)
def search_pubmed(request: SearchPubmed, backends: Backends, context: Context) -> PubmedHits:
    """Search PubMed live: PMIDs and, on request, short summaries; tells what was really searched.

    Use fetchArticleDetails for abstracts.
    """
    term = _term(request)
    many = min(request.fetchBriefSummaries, request.maxResults)
    asked = searching.Search(term, cleaned(request.queryTerm), request.maxResults, SORTS[request.sortBy], many)
    found = searching.search(asked, backends.pubmed, context.deadline)
    page, summed = found.page, many > 0 and bool(found.page.ids)
    reasons = [*found.reasons, *unfiltered(request.filterByPublicationTypes or (), page.dropped)]
    return PubmedHits(
        searchParameters=request.model_dump(exclude_unset=True) | _chosen(request),
        effectiveESearchTerm=term,
        totalFound=page.count,
        retrievedPmidCount=len(page.ids),
        pmids=list(page.ids),
        briefSummaries=[brief(each) for each in found.summaries],
        eSearchUrl=request_url("esearch", db="pubmed", term=term, retmax=request.maxResults, sort=asked.sort),
        eSummaryUrl=request_url("esummary", db="pubmed", version="2.0", id=",".join(page.ids[:many]))
        if summed
        else None,
        queryTranslation=page.translation,
        droppedTerms=list(page.dropped),
        suggestedTerm=found.spelling,
        status="partial" if reasons else "complete",
        reasons=reasons,
        warnings=list(found.warnings),
    )


def _term(request: SearchPubmed) -> str:
    dates = request.dateRange
    days = DateRange(dates.minDate, dates.maxDate, dates.dateType) if dates else None
    return effective_term(request.queryTerm, days, request.filterByPublicationTypes or ())


def _chosen(request: SearchPubmed) -> dict[str, Any]:
    """The parameters that have a value whether they were given or not."""
    return {name: getattr(request, name) for name in ("maxResults", "sortBy", "fetchBriefSummaries")}


@tool("fetchArticleDetails", family=PUBMED, timeout=TIMEOUT_S, open_world=True)
def fetch_details(request: FetchArticles, backends: Backends, context: Context) -> FetchedArticles:
    """Fetch records from PubMed by PMID: abstract, authors, journal, MeSH, standing; or NCBI's own XML or text."""
    pmids = fetching.asked_for(request.pmids)
    asked: dict[str, Any] = {"requestedPmids": pmids}
    if request.detailLevel in ("full_xml", "medline_text"):
        return _raw(request, asked, backends, context.deadline)
    found = fetching.articles(pmids, backends.pubmed, context.deadline)
    mesh, short = request.includeMeshTerms, request.detailLevel == "citation_data"
    details = [cited(each, mesh) if short else full(each, mesh, request.includeGrantInfo) for each in found.values()]
    fitting = _fitting(details)
    return FetchedArticles(
        **asked,
        articles=details[:fitting],
        notFoundPmids=[pmid for pmid in pmids if pmid not in found],
        eFetchDetails=_requests(pmids, retmode="xml"),
        **_left_out([each.pmid for each in details[fitting:]]),
    )


def _raw(request: FetchArticles, asked: dict[str, Any], backends: Backends, deadline: Deadline) -> FetchedArticles:
    pmids = asked["requestedPmids"]
    style: fetching.Style = "xml" if request.detailLevel == "full_xml" else "medline"
    found = fetching.raw(pmids, style, ROOM, backends.pubmed, deadline)
    params = {"retmode": "xml"} if style == "xml" else {"rettype": "medline", "retmode": "text"}
    return FetchedArticles(
        **asked,
        articles=[
            ArticleDetails(pmid=pmid, title=title, retraction=found.standings[pmid])
            for pmid, title in found.titles.items()
        ],
        notFoundPmids=[pmid for pmid in pmids if pmid not in found.titles and pmid not in found.left_out],
        eFetchDetails=_requests(pmids, **params),
        content=found.text,
        contentType="application/xml" if style == "xml" else "text/plain",
        **_left_out(list(found.left_out)),
    )


def _fitting(details: Sequence[ArticleDetails]) -> int:
    """How many of the first there is room for; one always."""
    used = 0
    for place, each in enumerate(details):
        used += len(each.model_dump_json(exclude_unset=True))
        if used > ROOM and place:
            return place
    return len(details)


def _left_out(pmids: Sequence[str]) -> dict[str, Any]:
    if not pmids:
        return {"status": "complete", "reasons": []}
    reason = f"the answer would be too long; {len(pmids)} records were left out, ask for leftOutPmids next"
    return {"status": "partial", "reasons": [reason], "leftOutPmids": list(pmids)}


def _requests(pmids: Sequence[str], **params: str) -> FetchRequests:
    """Every request is a POST, so that no list is too long; the address gives the same by GET."""
    return FetchRequests(urls=[request_url("efetch", db="pubmed", id=",".join(pmids), **params)], requestMethod="POST")


@tool("getArticleRelationships", family=PUBMED, timeout=TIMEOUT_S, open_world=True)
def relate(request: RelateArticles, backends: Backends, context: Context) -> ArticleRelations:
    """Find articles similar to a PubMed article, citing it or cited by it; or cite it in RIS, BibTeX, APA, MLA."""
    [pmid] = fetching.asked_for([request.sourcePmid], "sourcePmid")
    if request.relationshipType == "citation_formats":
        return _citations(pmid, request, backends, context.deadline)
    link_name = LINKS[request.relationshipType]
    found = relating.related(pmid, link_name, request.maxRelatedResults, backends.pubmed, context.deadline)
    own = found.summaries.get(pmid)
    return ArticleRelations(
        sourcePmid=pmid,
        relationshipType=request.relationshipType,
        relatedArticles=[related(each, found.summaries.get(each), found.scores.get(each)) for each in found.links],
        citations={},
        retrievedCount=len(found.links),
        eLinkUrl=request_url("elink", dbfrom="pubmed", db="pubmed", cmd=found.command, linkname=link_name, id=pmid),
        totalCount=found.total,
        score_kind=found.score_kind,
        sourceRetraction=own.retraction if own else RetractionStatus.UNKNOWN,
        status="partial" if found.reasons else "complete",
        reasons=list(found.reasons),
        warnings=list(found.warnings),
    )


def _citations(pmid: str, request: RelateArticles, backends: Backends, deadline: Deadline) -> ArticleRelations:
    article = fetching.articles([pmid], backends.pubmed, deadline).get(pmid)
    if article is None:
        raise NotFound(f"PubMed has no record {pmid}; look for it with searchPubMedArticles", pmid=pmid)
    styles = dict.fromkeys([*request.citationStyles, *(request.moreStyles or ())])
    return ArticleRelations(
        sourcePmid=pmid,
        relationshipType=request.relationshipType,
        relatedArticles=[],
        citations={style: cite(article, style) for style in styles},
        retrievedCount=0,
        eLinkUrl=None,
        sourceRetraction=article.retraction,
        status="complete",
        reasons=[],
        warnings=[],
    )


@resource("pubmed-connect://info", name="pubmed-info", family=PUBMED, timeout=10, open_world=True, blob=True)
def pubmed_info(backends: Backends, context: Context) -> ServerStanding:
    """This server, and how it stands with NCBI at this moment."""
    last = backends.pubmed.contact().last
    if last is None or (backends.now() - last).total_seconds() > FRESH_S:
        with suppress(UpstreamFailed, DeadlineExceeded):
            backends.pubmed.check(deadline=context.deadline.share(5))
    return server_standing(backends.pubmed.contact())


@resource("pubmed-connect://stats/pubmed", name="pubmed-stats", family=PUBMED, timeout=20, open_world=True, blob=True)
def pubmed_stats(backends: Backends, context: Context) -> PubmedStatistics:
    """PubMed's size, last update, search fields and link names, as EInfo gives them."""
    with answered_or_told_why():
        return statistics(backends.pubmed.einfo(deadline=context.deadline))

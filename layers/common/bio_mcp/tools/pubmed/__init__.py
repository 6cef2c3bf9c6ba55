"""Live tools for PubMed: search, fetch, related articles, citations."""

from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from typing import Any, Literal

from pydantic import Field

from bio_mcp.deadline import Deadline
from bio_mcp.errors import DeadlineExceeded, NotFound, UpstreamFailed
from bio_mcp.literature.citing import cite
from bio_mcp.literature.eutils import request_url
from bio_mcp.literature.records import RetractionStatus
from bio_mcp.ports import Backends
from bio_mcp.ports.pubmed import CITED_IN, REFERENCES, SIMILAR
from bio_mcp.querying import fetching, relating, searching
from bio_mcp.querying.partial import required
from bio_mcp.querying.terms import DateRange, DateType, clean, effective_term, unknown_type_reasons
from bio_mcp.tool import Context, Request, Response, resource, tool
from bio_mcp.tools import budget
from bio_mcp.tools.families import PUBMED
from bio_mcp.tools.pmids import PMID, AnsweredPmid, Pmid
from bio_mcp.tools.pubmed.fetched import FetchArticles, FetchedArticles, parsed_answer, printed_answer
from bio_mcp.tools.pubmed.hits import BriefSummary, RelatedArticle, Status, brief, related
from bio_mcp.tools.pubmed.server_status import PubmedStatistics, ServerStatus, describe_server, statistics

TIMEOUT_S = 26  # a front end waits 29 s; queueing and pauses between tries are in it, a cold start is not
FRESH_S = 60
DAY = r"^\d{4}(/\d{2}(/\d{2})?)?$"
SORTS = {"relevance": "relevance", "pub_date": "pub_date", "author": "Author", "journal_name": "JournalName"}
LINKS = {"pubmed_similar_articles": SIMILAR, "pubmed_citedin": CITED_IN, "pubmed_references": REFERENCES}
_ABSENT: Any = None  # an optional input is absent, never null


class PubmedDates(Request):
    """A date range; either end may be open."""

    minDate: str = Field(default=_ABSENT, pattern=DAY)
    maxDate: str = Field(default=_ABSENT, pattern=DAY)
    dateType: DateType = Field(default="pdat", description="pdat: published; edat: entered; mdat: changed")


class SearchPubmed(Request):
    """A search of PubMed."""

    queryTerm: str = Field(min_length=3, description="PubMed search syntax")
    maxResults: int = Field(default=20, ge=1, le=1000)
    sortBy: Literal["relevance", "pub_date", "author", "journal_name"] = "relevance"
    dateRange: PubmedDates = Field(default=_ABSENT, description="YYYY[/MM[/DD]], either end may be open")
    filterByPublicationTypes: list[str] = Field(default=_ABSENT, description="any of these, e.g. Review")
    fetchBriefSummaries: int = Field(default=0, ge=0, le=100, description="summaries of this many first hits")


class PubmedHits(Response):
    """Hits of a search, with the term that was searched and what PubMed made of it."""

    searchParameters: dict[str, Any]
    effectiveESearchTerm: str
    totalFound: int = Field(ge=0)
    retrievedPmidCount: int = Field(ge=0)
    pmids: list[AnsweredPmid]
    briefSummaries: list[BriefSummary]
    eSearchUrl: str
    eSummaryUrl: str | None = None
    queryTranslation: str = ""
    droppedTerms: list[str] = Field(default_factory=list, description="not searched for")
    suggestedTerm: str | None = Field(default=None, description="PubMed's spelling")
    status: Status = "complete"
    reasons: list[str] = Field(default_factory=list)
    warnings: list[str] = Field(default_factory=list)


class RelateArticles(Request):
    """The article, and what to find or how to cite it."""

    sourcePmid: Pmid
    relationshipType: Literal["pubmed_similar_articles", "pubmed_citedin", "pubmed_references", "citation_formats"] = (
        "pubmed_similar_articles"
    )
    maxRelatedResults: int = Field(default=5, ge=1, le=50)
    citationStyles: list[Literal["ris", "bibtex", "apa_string", "mla_string"]] = Field(
        default=["ris"], description="of citation_formats; moreStyles has vancouver, csl_json"
    )
    moreStyles: list[Literal["vancouver", "csl_json"]] = Field(default=_ABSENT)
    maxCharacters: budget.MaxCharacters = budget.DEFAULT


class ArticleRelations(Response):
    """Related articles in order, or citations by style; never both."""

    sourcePmid: str = Field(pattern=PMID)
    relationshipType: str
    relatedArticles: list[RelatedArticle]
    citations: dict[str, str]
    retrievedCount: int = Field(ge=0)
    eLinkUrl: str | None = None
    totalCount: int | None = Field(default=None, description="of all there are")
    score_kind: relating.ScoreKind = Field(
        default="none", description="relative: share of the source's own; order: by place only"
    )
    sourceRetraction: RetractionStatus = RetractionStatus.UNKNOWN
    status: Status = "complete"
    reasons: list[str] = Field(default_factory=list)
    warnings: list[str] = Field(default_factory=list)


@tool(
    "searchPubMedArticles",
    family=PUBMED,
    scope="live",
    command="pubmed search",
    timeout=TIMEOUT_S,
    open_world=True,
    in_default_list=True,
    longest=budget.DEFAULT,
)
def search_pubmed(request: SearchPubmed, backends: Backends, context: Context) -> PubmedHits:
    """Search PubMed live: PMIDs and, on request, short summaries; reports the term that was searched.

    Use fetchArticleDetails for abstracts.
    """
    term = _term(request)
    many = min(request.fetchBriefSummaries, request.maxResults)
    search = searching.Search(term, clean(request.queryTerm), request.maxResults, SORTS[request.sortBy], many)
    result = searching.search(search, backends.pubmed, context.deadline)
    page = result.page
    reasons = [*result.reasons, *unknown_type_reasons(request.filterByPublicationTypes or (), page.dropped)]
    answer = PubmedHits(
        searchParameters=request.model_dump(exclude_unset=True) | _chosen(request),
        effectiveESearchTerm=term,
        totalFound=page.count,
        retrievedPmidCount=len(page.ids),
        pmids=list(page.ids),
        briefSummaries=[brief(each) for each in result.summaries],
        eSearchUrl=request_url("esearch", db="pubmed", term=term, retmax=request.maxResults, sort=search.sort),
        eSummaryUrl=_summary_url(page.ids[:many]),
        queryTranslation=page.translation,
        droppedTerms=list(page.dropped),
        suggestedTerm=result.spelling,
        status="partial" if reasons else "complete",
        reasons=reasons,
        warnings=list(result.warnings),
    )
    more = "ask for fewer of them, or fetchArticleDetails for citation_data"
    return budget.within(
        answer, "briefSummaries", budget.DEFAULT, lambda rest: budget.partial(answer.reasons, rest, more)
    )


def _summary_url(pmids: Sequence[str]) -> str | None:
    return request_url("esummary", db="pubmed", version="2.0", id=",".join(pmids)) if pmids else None


def _term(request: SearchPubmed) -> str:
    dates = request.dateRange
    days = DateRange(dates.minDate, dates.maxDate, dates.dateType) if dates else None
    return effective_term(request.queryTerm, days, request.filterByPublicationTypes or ())


def _chosen(request: SearchPubmed) -> dict[str, Any]:
    """Parameters that have a value whether they were given or not."""
    return {name: getattr(request, name) for name in ("maxResults", "sortBy", "fetchBriefSummaries")}


@tool(
    "fetchArticleDetails",
    family=PUBMED,
    scope="live",
    command="pubmed fetch",
    timeout=TIMEOUT_S,
    open_world=True,
    in_default_list=True,
    output_listed=False,
    longest=budget.DEFAULT,
)
def fetch_details(request: FetchArticles, backends: Backends, context: Context) -> FetchedArticles:
    """Fetch records from PubMed by PMID: abstract, authors, journal, MeSH, retraction; or NCBI's own XML or text."""
    pmids = list(dict.fromkeys(request.pmids))
    if request.detailLevel in ("full_xml", "medline_text"):
        style: fetching.Style = "xml" if request.detailLevel == "full_xml" else "medline"
        return printed_answer(request, pmids, fetching.raw(pmids, style, backends.pubmed, context.deadline))
    return parsed_answer(request, pmids, fetching.articles(pmids, backends.pubmed, context.deadline))


@tool(
    "getArticleRelationships",
    family=PUBMED,
    scope="live",
    command="pubmed related",
    timeout=TIMEOUT_S,
    open_world=True,
    longest=budget.DEFAULT,
)
def relate(request: RelateArticles, backends: Backends, context: Context) -> ArticleRelations:
    """Find articles similar to a PubMed article, citing it or cited by it; or cite it in RIS, BibTeX, APA, MLA."""
    pmid = request.sourcePmid
    if request.relationshipType == "citation_formats":
        return _citations(pmid, request, backends, context.deadline)
    link_name = LINKS[request.relationshipType]
    result = relating.related(pmid, link_name, request.maxRelatedResults, backends.pubmed, context.deadline)
    own = result.summaries.get(pmid)
    answer = ArticleRelations(
        sourcePmid=pmid,
        relationshipType=request.relationshipType,
        relatedArticles=[related(each, result.summaries.get(each), result.scores.get(each)) for each in result.links],
        citations={},
        retrievedCount=len(result.links),
        eLinkUrl=request_url("elink", dbfrom="pubmed", db="pubmed", cmd=result.command, linkname=link_name, id=pmid),
        totalCount=result.total,
        score_kind=result.score_kind,
        sourceRetraction=own.retraction if own else RetractionStatus.UNKNOWN,
        status="partial" if result.reasons else "complete",
        reasons=list(result.reasons),
        warnings=[*result.warnings, *_not_cited(request)],
    )
    return budget.within(answer, "relatedArticles", request.maxCharacters, partial(_fewer, answer))


def _not_cited(request: RelateArticles) -> list[str]:
    """The warning for citation styles without `citation_formats`: the answer has similar articles instead."""
    given = request.model_fields_set
    if "relationshipType" in given or not given & {"citationStyles", "moreStyles"}:
        return []
    return ["These are similar articles; to cite this one, ask with relationshipType citation_formats."]


def _fewer(answer: ArticleRelations, rest: Sequence[RelatedArticle]) -> dict[str, Any]:
    short = budget.partial(answer.reasons, rest, "raise maxCharacters")
    return {"retrievedCount": len(answer.relatedArticles) - len(rest), **short}


def _citations(pmid: str, request: RelateArticles, backends: Backends, deadline: Deadline) -> ArticleRelations:
    """The article in each requested style. Raises `NotFound` for a PMID that PubMed does not have."""
    article = fetching.articles([pmid], backends.pubmed, deadline).get(pmid)
    if article is None:
        raise NotFound(f"PubMed has no record {pmid}; look for it with searchPubMedArticles", pmid=pmid)
    more = request.moreStyles or []
    asked = request.citationStyles if "citationStyles" in request.model_fields_set or not more else []
    return ArticleRelations(
        sourcePmid=pmid,
        relationshipType=request.relationshipType,
        relatedArticles=[],
        citations={style: cite(article, style) for style in dict.fromkeys([*asked, *more])},
        retrievedCount=0,
        eLinkUrl=None,
        sourceRetraction=article.retraction,
        status="complete",
        reasons=[],
        warnings=[],
    )


@resource(
    "pubmed-connect://info", name="pubmed-info", family=PUBMED, scope="live", timeout=10, open_world=True, blob=True
)
def pubmed_info(backends: Backends, context: Context) -> ServerStatus:
    """This server, and its connection to NCBI at this moment."""
    last = backends.pubmed.contact().last
    if last is None or (backends.now() - last).total_seconds() > FRESH_S:
        with suppress(UpstreamFailed, DeadlineExceeded):
            backends.pubmed.check(deadline=context.deadline.share(5))
    return describe_server(backends.pubmed.contact())


@resource(
    "pubmed-connect://stats/pubmed",
    name="pubmed-stats",
    family=PUBMED,
    scope="live",
    timeout=20,
    open_world=True,
    blob=True,
)
def pubmed_stats(backends: Backends, context: Context) -> PubmedStatistics:
    """PubMed's size, last update, search fields and link names, from EInfo."""
    with required():
        return statistics(backends.pubmed.einfo(deadline=context.deadline))

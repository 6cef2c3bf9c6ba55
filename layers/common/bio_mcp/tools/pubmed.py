"""Live tools for PubMed: search, fetch, related articles, citations."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Annotated, Any, Literal

from pydantic import Field

from bio_mcp import __version__
from bio_mcp.arguments import Day
from bio_mcp.deadline import Deadline
from bio_mcp.errors import DeadlineExceeded, UpstreamFailed
from bio_mcp.literature.citing import cite
from bio_mcp.literature.clock import instant, utc
from bio_mcp.literature.identifiers import pubmed_page, registrations, request_url
from bio_mcp.literature.records import MONTHS, Article, Author, Journal, RetractionStatus
from bio_mcp.ports import Backends
from bio_mcp.ports.ncbi import CITED_IN, REFERENCES, SIMILAR, DocSummary
from bio_mcp.querying import search as querying
from bio_mcp.querying.search import DateRange, DateType, clean, effective_term, required, unknown_type_reasons
from bio_mcp.retrieval.chunking import abstract_text
from bio_mcp.tool import ABSENT, Context, Request, Response, resource, said, stated
from bio_mcp.tools import answer_size, next_steps
from bio_mcp.tools.answer_size import MayBePartial
from bio_mcp.tools.fields import BY_OTHER_IDS, PMID, PUBMED, AnsweredPmid, Pmid, live_tool

NAMED = 5  # authors named before "et al."


class BriefSummary(Response):
    """A hit in a line. Dates are ISO 8601, as precise as printed."""

    pmid: str = Field(pattern=PMID)
    title: str | None
    authors: str | None
    source: str | None
    pubDate: str | None
    epubDate: str | None = None
    doi: str | None = None
    retraction: RetractionStatus = RetractionStatus.UNKNOWN


class RelatedArticle(Response):
    """A related article in a line; `score` is its similarity, 0 to 1, where NCBI gives one."""

    pmid: str = Field(pattern=PMID)
    title: str | None = None
    authors: str | None = None
    score: float | None = None
    linkUrl: str
    source: str | None = None
    retraction: RetractionStatus = RetractionStatus.UNKNOWN


def _shown(summary: DocSummary) -> dict[str, Any]:
    """First authors, as "Doe J, Smith A, et al."; journal or book with the printed date, "J Example Sci. 2023 Mar"."""
    authors = [*summary.authors[:NAMED], *(["et al."] if len(summary.authors) > NAMED else [])]
    where = (summary.source or summary.journal or "").rstrip(".")
    source = ". ".join(part for part in (where, summary.pdat) if part)
    return {"authors": ", ".join(authors) or None, "source": source or None}


def _day(printed: str | None) -> str | None:
    """The date as ISO 8601, as precise as printed; the printed form where it is no date."""
    from bio_mcp.literature.medline.dates import medline_date  # loads the XML parser, which a search may not need

    return (medline_date(printed).iso or printed) if printed else None


class PubmedAuthor(Response):
    """A person or a group (`collectiveName`). `affiliationIndices` point into the article's `affiliations`."""

    lastName: str | None = None
    firstName: str | None = None
    initials: str | None = None
    affiliation: str | None = None
    collectiveName: str | None = said(default=None)
    suffix: str = said(default=ABSENT)
    orcid: str = said(default=ABSENT)
    affiliationIndices: list[int] = said(default_factory=list)


class PublicationDate(Response):
    """A date as precise as printed; `medlineDate` is the printed form."""

    year: int | None = None
    month: str | None = None
    day: int | None = None
    medlineDate: str | None = None


class JournalIssue(Response):
    """Journal, volume, issue and pages; of a chapter, its book."""

    title: str | None = None
    isoAbbreviation: str | None = None
    volume: str | None = None
    issue: str | None = None
    pages: str | None = None
    publicationDate: PublicationDate = Field(default_factory=PublicationDate)
    issn: str | None = None


class MeshTerm(Response):
    """A heading with one qualifier; a heading with several qualifiers makes several."""

    descriptorName: str
    qualifierName: str | None = None
    isMajorTopic: bool = False
    ui: str | None = None


class PubmedGrant(Response):
    grantId: str | None = None
    agency: str | None = None
    country: str | None = None


class ArticleDetails(Response):
    """An article; fields that were not requested, or that the record lacks, are absent."""

    pmid: str = Field(pattern=PMID)
    title: str | None
    abstractText: str | None = None
    authors: list[PubmedAuthor] = Field(default_factory=list)
    journalInfo: JournalIssue = Field(default_factory=JournalIssue)
    publicationTypes: list[str] = Field(default_factory=list)
    keywords: list[str] = Field(default_factory=list)
    meshTerms: list[MeshTerm] = Field(default_factory=list)
    grantList: list[PubmedGrant] = Field(default_factory=list)
    doi: str | None = None
    pmcid: str | None = None
    book: dict[str, str] = ABSENT
    retraction: RetractionStatus = RetractionStatus.UNKNOWN
    corrections: list[str] = said(default_factory=list)
    affiliations: list[str] = said(default_factory=list)
    trials: list[dict[str, str]] = said(default=ABSENT)


def details_of(article: Article, request: "FetchArticles") -> ArticleDetails:
    """What a citation needs, or all details. `keywords` are the authors', or the MeSH headings where they gave none."""
    mesh, short = request.includeMeshTerms, request.detailLevel == "citation_data"
    places = [place for each in article.authors for place in each.affiliations] if request.includeAffiliations else []
    index = {} if short else {place: at for at, place in enumerate(dict.fromkeys(places))}
    details: dict[str, Any] = {}
    if book := article.book:
        details["book"] = stated(
            title=book.title, publisher=book.publisher, edition=book.edition, accession=book.accession
        )
    if mesh:
        details["meshTerms"] = list(_mesh(article))
    if not short:
        headings = [heading.name for heading in article.mesh] if mesh else []
        details |= {
            "abstractText": abstract_text(article) or None,
            "publicationTypes": [each.name for each in article.publication_types],
            "keywords": list(article.keywords) or headings,
            "corrections": _corrections(article),
            "affiliations": list(index),
            "trials": registrations(article),
        }
        if request.includeGrantInfo:
            details["grantList"] = [PubmedGrant.of(each, grantId=each.number) for each in article.grants]
    return ArticleDetails.of(
        pmid=article.pmid,
        title=article.title,
        authors=[_author(each, index) for each in article.authors],
        journalInfo=_journal(article),
        doi=article.doi,
        pmcid=article.pmcid,
        retraction=article.retraction,
        **details,
    )


def _author(author: Author, index: Mapping[str, int]) -> PubmedAuthor:
    """A group or a person; `index` maps an affiliation to its place in the article's list."""
    places = [index[place] for place in author.affiliations if place in index]
    if author.collective_name:
        return PubmedAuthor.of(collectiveName=author.collective_name, orcid=author.orcid, affiliationIndices=places)
    return PubmedAuthor.of(author, firstName=author.fore_name, affiliationIndices=places)


def _journal(article: Article) -> JournalIssue:
    """For a chapter, its book's title and date."""
    journal, book = article.journal or Journal(), article.book
    dated = article.publication_date or (book and book.contribution_date) or article.electronic_date
    date = PublicationDate()
    if dated:
        month = MONTHS[dated.month - 1] if dated.month else None
        date = PublicationDate.of(dated, month=month, medlineDate=dated.text)
    title = journal.title or (book and book.title) or None
    return JournalIssue.of(journal, title=title, pages=article.pages, publicationDate=date)


def _mesh(article: Article) -> Iterator[MeshTerm]:
    """One row per heading and qualifier."""
    for heading in article.mesh:
        pairs: list[tuple[str | None, bool]] = [(each.name, heading.major or each.major) for each in heading.qualifiers]
        for qualifier, major in pairs or [(None, heading.major)]:
            yield MeshTerm(descriptorName=heading.name, qualifierName=qualifier, isMajorTopic=major, ui=heading.ui)


def _corrections(article: Article) -> list[str]:
    """Notices about the article (retractions, errata, concerns): "RetractionIn: PMID 123, J Test. 2020"."""
    apart = ("Cites", "Comment", "Associated", "SummaryForPatients", "OriginalReport")
    notices = [each for each in article.corrections if not each.kind.startswith(apart)]
    places = [[each.pmid and f"PMID {each.pmid}", each.citation] for each in notices]
    return [f"{each.kind}: {', '.join(filter(None, place))}" for each, place in zip(notices, places, strict=True)]


class FetchArticles(Request):
    pmids: list[Pmid] = Field(min_length=1, max_length=200)
    detailLevel: Literal["abstract_plus", "full_xml", "medline_text", "citation_data"] = Field(
        default="abstract_plus", description="full_xml and medline_text: NCBI's own text, in `content`"
    )
    includeMeshTerms: bool = True
    includeGrantInfo: bool = False
    includeAffiliations: bool = False
    maxCharacters: answer_size.MaxCharacters = answer_size.DEFAULT


class FetchRequests(Response):
    """Addresses that return the same records from NCBI, without key and e-mail."""

    urls: list[str]
    requestMethod: Literal["GET", "POST"]


class FetchedArticles(MayBePartial):
    """Fetched records. Each requested PMID is in `articles`, `notFoundPmids` or `leftOutPmids`."""

    requestedPmids: list[AnsweredPmid]
    articles: list[ArticleDetails] = Field(default_factory=list)
    notFoundPmids: list[AnsweredPmid]
    eFetchDetails: FetchRequests
    content: str = ABSENT
    contentType: str = ABSENT
    leftOutPmids: list[AnsweredPmid] = Field(default_factory=list, description="did not fit: ask for them next")


def printed_answer(request: FetchArticles, pmids: list[str], raw: querying.Raw, base: str) -> FetchedArticles:
    """Answer with the records as NCBI prints them, the first ones where all are too long.

    Raises `UpstreamFailed`, not retryable, for a single record over the limit of an answer.
    """
    xml = raw.style == "xml"
    params = {"retmode": "xml"} if xml else {"rettype": "medline", "retmode": "text"}
    whole = FetchedArticles(
        requestedPmids=pmids,
        articles=[
            ArticleDetails(pmid=pmid, title=title, retraction=status) for pmid, (title, status) in raw.headers.items()
        ],
        notFoundPmids=[pmid for pmid in pmids if pmid not in raw.headers],
        eFetchDetails=_requests(base, pmids, **params),
        content=raw.text,
        contentType="application/xml" if xml else "text/plain",
        reasons=[],
    )
    if answer_size.length(whole) <= request.maxCharacters:
        return whole
    *records, tail = querying.pieces(raw)
    frame = whole.model_copy(update={"articles": [], "content": tail, **_left_out(whole.articles)})
    pairs = zip(records, whole.articles, strict=True)
    lengths = [len(json.dumps(text, ensure_ascii=False)) + answer_size.length(article) for text, article in pairs]
    if lengths[0] > answer_size.MOST:
        raise UpstreamFailed("this record is too long to be sent; ask for it as abstract_plus", retryable=False)
    fits = answer_size.fitting(lengths, request.maxCharacters - answer_size.length(frame))
    content = "".join([*records[:fits], tail])
    rest = _left_out(whole.articles[fits:]) if fits < len(records) else {}
    return whole.model_copy(update={"articles": whole.articles[:fits], "content": content, **rest})


def _left_out(articles: Sequence[ArticleDetails]) -> dict[str, Any]:
    more = "ask for leftOutPmids next, or raise maxCharacters"
    return {"leftOutPmids": [each.pmid for each in articles], **answer_size.partial([], articles, more)}


def _requests(base: str, pmids: Sequence[str], **params: str) -> FetchRequests:
    """The request that was made. It was a POST, so that no list is too long; its address returns the same by GET."""
    url = request_url(base, "efetch", db="pubmed", id=",".join(pmids), **params)
    return FetchRequests(urls=[url], requestMethod="POST")


MCP_VERSION = "2026-07-28"  # the newest revision that the doors speak


class NcbiCompliance(Response):
    apiUsageStatus: str
    toolIdentifier: str
    ncbiUsagePolicyUrl: str
    currentRateLimitAdherence: str


class OperationalStatus(Response):
    """Connection to NCBI, as the last request ended.

    `ncbiStatus` is Nominal, Failing (the last request failed) or Unknown (nothing asked yet); `budgetLeft` is the
    requests left in this second.
    """

    lastNcbiConnectivityCheck: str | None
    ncbiStatus: str
    internalQueueLength: int
    budgetLeft: int | None
    lastSuccess: str | None
    lastFailure: str | None


class ServerStatus(Response):
    serverName: str
    serverVersion: str
    description: str
    contactEmail: str | None
    mcpSpecVersion: str
    ncbiCompliance: NcbiCompliance
    supportedEutilities: list[str]
    operationalStatus: OperationalStatus
    documentationUrl: str


class AvailableField(Response):
    """A search field of PubMed; `name` is its tag."""

    name: str
    fullName: str
    description: str
    isDate: bool
    isNumerical: bool
    termCount: str | None
    isHidden: bool


class AvailableLink(Response):
    name: str
    description: str
    dbTo: str


class PubmedStatistics(Response):
    """PubMed as EInfo describes it; `lastUpdate` is ISO 8601 UTC."""

    databaseName: str
    menuName: str = ""
    description: str
    totalRecordCount: int = Field(ge=0)
    lastUpdate: str
    availableSearchFields: list[AvailableField]
    availableLinkNames: list[AvailableLink]
    eInfoUrl: str


def _updated(printed: str) -> str:
    """Convert "2025/06/25 07:12", US Eastern, to ISO 8601 UTC; other forms are returned as printed."""
    match = re.fullmatch(r"(\d{4})/(\d\d)/(\d\d)(?: (\d\d:\d\d))?", printed.strip())
    return utc("-".join(match.groups()[:3]) + (f"T{match[4]}" if match[4] else "")) if match else printed


TIMEOUT_S = 26  # a front end waits 29 s; queueing and pauses between tries are in it, a cold start is not
FRESH_S = 60
DAY = r"^\d{4}(/\d{2}(/\d{2})?)?$"
SORTS = {"relevance": "relevance", "pub_date": "pub_date", "author": "Author", "journal_name": "JournalName"}
LINKS = {"pubmed_similar_articles": SIMILAR, "pubmed_citedin": CITED_IN, "pubmed_references": REFERENCES}


class PubmedDates(Request):
    """A date range; either end may be open."""

    minDate: Annotated[str, Day("/")] = Field(default=ABSENT, pattern=DAY)
    maxDate: Annotated[str, Day("/")] = Field(default=ABSENT, pattern=DAY)
    dateType: DateType = Field(default="pdat", description="pdat: published; edat: entered; mdat: changed")


class SearchPubmed(Request):
    queryTerm: str = Field(min_length=3, description="PubMed search syntax")
    maxResults: int = Field(default=20, ge=1, le=1000)
    sortBy: Literal["relevance", "pub_date", "author", "journal_name"] = "relevance"
    dateRange: PubmedDates = Field(default=ABSENT, description="YYYY[/MM[/DD]], either end may be open")
    filterByPublicationTypes: list[str] = Field(default=ABSENT, description="any of these, e.g. Review")
    fetchBriefSummaries: int = Field(default=0, ge=0, le=100, description="summaries of this many first hits")


class PubmedHits(MayBePartial):
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
    warnings: list[str] = Field(default_factory=list)


class RelateArticles(Request):
    sourcePmid: Pmid
    relationshipType: Literal["pubmed_similar_articles", "pubmed_citedin", "pubmed_references", "citation_formats"] = (
        "pubmed_similar_articles"
    )
    maxRelatedResults: int = Field(default=5, ge=1, le=50)
    citationStyles: list[Literal["ris", "bibtex", "apa_string", "mla_string"]] = Field(
        default=["ris"], description="of citation_formats; moreStyles has vancouver, csl_json"
    )
    moreStyles: list[Literal["vancouver", "csl_json"]] = Field(default=ABSENT)
    maxCharacters: answer_size.MaxCharacters = answer_size.DEFAULT


class ArticleRelations(MayBePartial):
    """Related articles in order, or citations by style; never both."""

    sourcePmid: str = Field(pattern=PMID)
    relationshipType: str
    relatedArticles: list[RelatedArticle]
    citations: dict[str, str]
    retrievedCount: int = Field(ge=0)
    eLinkUrl: str | None = None
    totalCount: int | None = Field(default=None, description="of all there are")
    score_kind: querying.ScoreKind = Field(
        default="none", description="relative: share of the source's own; order: by place only"
    )
    sourceRetraction: RetractionStatus = RetractionStatus.UNKNOWN
    warnings: list[str] = Field(default_factory=list)


@live_tool(
    "searchPubMedArticles",
    command="pubmed search",
    timeout=TIMEOUT_S,
    in_default_list=True,
    output_listed=True,
    next_step=next_steps.after_pubmed_search,
)
def search_pubmed(request: SearchPubmed, backends: Backends, context: Context) -> PubmedHits:
    """Search PubMed live: PMIDs and, on request, short summaries; reports the term that was searched.

    Use fetchArticleDetails for abstracts.
    """
    dates, types = request.dateRange, request.filterByPublicationTypes or ()
    days = DateRange(dates.minDate, dates.maxDate, dates.dateType) if dates else None
    term = effective_term(request.queryTerm, days, types)
    many = min(request.fetchBriefSummaries, request.maxResults)
    words, retmax, sort = clean(request.queryTerm), request.maxResults, SORTS[request.sortBy]
    result = querying.search(term, words, backends.pubmed, context.deadline, retmax=retmax, sort=sort, summaries=many)
    page, ids, base = result.page, result.page.ids[:many], backends.pubmed.contact().address
    reasons = [*result.reasons, *unknown_type_reasons(types, page.dropped)]
    answer = PubmedHits(
        searchParameters=request.model_dump(exclude_unset=True)
        | {name: getattr(request, name) for name in ("maxResults", "sortBy", "fetchBriefSummaries")},
        effectiveESearchTerm=term,
        totalFound=page.count,
        retrievedPmidCount=len(page.ids),
        pmids=list(page.ids),
        briefSummaries=[
            BriefSummary.of(each, **_shown(each), pubDate=_day(each.pdat), epubDate=_day(each.epdat))
            for each in result.summaries
        ],
        eSearchUrl=request_url(base, "esearch", db="pubmed", term=term, retmax=retmax, sort=sort),
        eSummaryUrl=request_url(base, "esummary", db="pubmed", version="2.0", id=",".join(ids)) if ids else None,
        queryTranslation=page.translation,
        droppedTerms=list(page.dropped),
        suggestedTerm=result.spelling,
        reasons=reasons,
        warnings=list(page.warnings),
    )
    advice = "ask for fewer of them, or fetch the citations of the PMIDs"
    return answer_size.within(answer, "briefSummaries", advice=advice)


@live_tool(
    "fetchArticleDetails",
    command="pubmed fetch",
    timeout=TIMEOUT_S,
    in_default_list=True,
    also_uses=(*BY_OTHER_IDS, "pubmed.esummary"),
)
def fetch_details(request: FetchArticles, backends: Backends, context: Context) -> FetchedArticles:
    """Fetch records from PubMed by PMID: abstract, authors, journal, MeSH, retraction; or NCBI's own XML or text."""
    pmids, base = list(dict.fromkeys(request.pmids)), backends.pubmed.contact().address
    if request.detailLevel in ("full_xml", "medline_text"):
        style: querying.Style = "xml" if request.detailLevel == "full_xml" else "medline"
        return printed_answer(request, pmids, querying.raw(pmids, style, backends.pubmed, context.deadline), base)
    records = querying.articles(pmids, backends.pubmed, context.deadline)
    answer = FetchedArticles(
        requestedPmids=pmids,
        articles=[details_of(each, request) for each in records.values()],
        notFoundPmids=[pmid for pmid in pmids if pmid not in records],
        eFetchDetails=_requests(base, pmids, retmode="xml"),
        reasons=[],
    )
    return answer_size.within(answer, "articles", request.maxCharacters, more=_left_out)


@live_tool(
    "getArticleRelationships",
    command="pubmed related",
    timeout=TIMEOUT_S,
    in_default_list=True,
    output_listed=True,
    also_uses=BY_OTHER_IDS,
    next_step=next_steps.after_relations,
)
def relate(request: RelateArticles, backends: Backends, context: Context) -> ArticleRelations:
    """Find articles similar to a PubMed article, citing it or cited by it; or cite it in RIS, BibTeX, APA, MLA."""
    pmid = request.sourcePmid
    if request.relationshipType == "citation_formats":
        return _citations(pmid, request, backends, context.deadline)
    link_name = LINKS[request.relationshipType]
    result = querying.related(pmid, link_name, request.maxRelatedResults, backends.pubmed, context.deadline)
    own, base = result.summaries.get(pmid), backends.pubmed.contact().address
    shown = [result.summaries.get(each) or DocSummary(each) for each in result.links]  # of some only the PMID is known
    answer = ArticleRelations(
        sourcePmid=pmid,
        relationshipType=request.relationshipType,
        relatedArticles=[
            RelatedArticle.of(each, **_shown(each), score=result.scores.get(each.pmid), linkUrl=pubmed_page(each.pmid))
            for each in shown
        ],
        citations={},
        retrievedCount=len(result.links),
        eLinkUrl=request_url(
            base, "elink", dbfrom="pubmed", db="pubmed", cmd=result.command, linkname=link_name, id=pmid
        ),
        totalCount=result.total,
        score_kind=result.score_kind,
        sourceRetraction=own.retraction if own else RetractionStatus.UNKNOWN,
        reasons=list(result.reasons),
        warnings=[*result.warnings, *_not_cited(request)],
    )
    return answer_size.within(
        answer,
        "relatedArticles",
        request.maxCharacters,
        "ask for more characters",
        lambda rest: {"retrievedCount": len(result.links) - len(rest)},
    )


def _not_cited(request: RelateArticles) -> list[str]:
    """The warning for citation styles without `citation_formats`: the answer has similar articles instead."""
    given = request.model_fields_set
    if "relationshipType" in given or not given & {"citationStyles", "moreStyles"}:
        return []
    return ["These are similar articles; to cite this one, ask with relationshipType citation_formats."]


def _citations(pmid: str, request: RelateArticles, backends: Backends, deadline: Deadline) -> ArticleRelations:
    """The article in each requested style. Raises `NotFound` for a PMID that PubMed does not have."""
    article = querying.articles([pmid], backends.pubmed, deadline).get(pmid)
    if article is None:
        raise querying.unknown_pmid(pmid)
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
        reasons=[],
        warnings=[],
    )


@resource(
    "pubmed-connect://info", name="pubmed-info", family=PUBMED, scope="live", timeout=10, open_world=True, blob=True
)
def pubmed_info(backends: Backends, context: Context) -> ServerStatus:
    """This server, and its connection to NCBI at this moment."""
    last = backends.pubmed.contact().last
    if last is None or abs(backends.now() - last).total_seconds() > FRESH_S:
        with suppress(UpstreamFailed, DeadlineExceeded):
            backends.pubmed.check(deadline=context.deadline.share(5))
    contact = backends.pubmed.contact()
    key = "with API key" if contact.keyed else "without API key"
    times = (contact.last, contact.answered, contact.failed)
    checked, answered, failed = (instant(each) if each else None for each in times)
    return ServerStatus(
        serverName="bio-mcp",
        serverVersion=__version__,
        description="Biomedical literature over MCP: PubMed live by NCBI's E-utilities, and a corpus of one's own.",
        contactEmail=contact.email,
        mcpSpecVersion=MCP_VERSION,
        ncbiCompliance=NcbiCompliance(
            apiUsageStatus="NCBI API Key in use" if contact.keyed else "no NCBI API key: 3 requests/sec",
            toolIdentifier=contact.tool,
            ncbiUsagePolicyUrl="https://www.ncbi.nlm.nih.gov/books/NBK25497/",
            currentRateLimitAdherence=f"Targeting <{contact.limit} requests/sec ({key}) via request queuing.",
        ),
        supportedEutilities=["ESearch", "EFetch", "ESummary", "ELink", "EInfo", "ESpell"],
        operationalStatus=OperationalStatus(
            lastNcbiConnectivityCheck=checked,
            ncbiStatus="Unknown" if not checked else "Nominal" if contact.last == contact.answered else "Failing",
            internalQueueLength=contact.waiting,
            budgetLeft=contact.left,
            lastSuccess=answered,
            lastFailure=failed,
        ),
        documentationUrl="docs/tools.md",
    )


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
        database = backends.pubmed.einfo(deadline=context.deadline)
    return PubmedStatistics.of(
        database,
        databaseName="PubMed" if database.name == "pubmed" else database.name,
        totalRecordCount=database.count,
        lastUpdate=_updated(database.last_update),
        availableSearchFields=[
            AvailableField.of(each, termCount=None if each.terms is None else str(each.terms))
            for each in database.fields
        ],
        availableLinkNames=[AvailableLink.of(each) for each in database.links],
        eInfoUrl=request_url(backends.pubmed.contact().address, "einfo", db="pubmed"),
    )

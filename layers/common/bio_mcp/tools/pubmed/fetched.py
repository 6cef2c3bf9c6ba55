"""Records by PMID: the request, and the answer within its length."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from pydantic import Field

from bio_mcp.errors import UpstreamFailed
from bio_mcp.literature.eutils import request_url
from bio_mcp.literature.records import Article
from bio_mcp.querying import fetching
from bio_mcp.tool import Request, Response
from bio_mcp.tools import budget
from bio_mcp.tools.pmids import AnsweredPmid, Pmid
from bio_mcp.tools.pubmed.details import ABSENT, ArticleDetails, citation_details, full_details
from bio_mcp.tools.pubmed.hits import Status


class FetchArticles(Request):
    """The records to fetch, and how much of each."""

    pmids: list[Pmid] = Field(min_length=1, max_length=200)
    detailLevel: Literal["abstract_plus", "full_xml", "medline_text", "citation_data"] = Field(
        default="abstract_plus", description="full_xml and medline_text: NCBI's own text, in `content`"
    )
    includeMeshTerms: bool = True
    includeGrantInfo: bool = False
    includeAffiliations: bool = False
    maxCharacters: budget.MaxCharacters = budget.DEFAULT


class FetchRequests(Response):
    """Addresses that return the same records from NCBI, without key and e-mail."""

    urls: list[str]
    requestMethod: Literal["GET", "POST"]


class FetchedArticles(Response):
    """Fetched records. Each requested PMID is in `articles`, `notFoundPmids` or `leftOutPmids`."""

    requestedPmids: list[AnsweredPmid]
    articles: list[ArticleDetails] = Field(default_factory=list)
    notFoundPmids: list[AnsweredPmid]
    eFetchDetails: FetchRequests
    content: str = ABSENT
    contentType: str = ABSENT
    leftOutPmids: list[AnsweredPmid] = Field(default_factory=list, description="did not fit: ask for them next")
    status: Status = "complete"
    reasons: list[str] = Field(default_factory=list)


def parsed_answer(request: FetchArticles, pmids: list[str], records: Mapping[str, Article]) -> FetchedArticles:
    """Answer with the parsed records, in the requested detail, the first ones where all are too long."""
    mesh, short = request.includeMeshTerms, request.detailLevel == "citation_data"
    answer = FetchedArticles(
        requestedPmids=pmids,
        articles=[
            citation_details(each, mesh) if short else full_details(each, *_wanted(request))
            for each in records.values()
        ],
        notFoundPmids=[pmid for pmid in pmids if pmid not in records],
        eFetchDetails=_requests(pmids, retmode="xml"),
        status="complete",
        reasons=[],
    )
    return budget.within(answer, "articles", request.maxCharacters, _left_out)


def _wanted(request: FetchArticles) -> tuple[bool, bool, bool]:
    return request.includeMeshTerms, request.includeGrantInfo, request.includeAffiliations


def printed_answer(request: FetchArticles, pmids: list[str], raw: fetching.Raw) -> FetchedArticles:
    """Answer with the records as NCBI prints them, the first ones where all are too long.

    Raises `UpstreamFailed`, not retryable, for a single record over the limit of an answer.
    """
    whole = _printed(pmids, raw)
    if budget.length(whole) <= request.maxCharacters:
        return whole
    *records, tail = fetching.pieces(raw)
    frame = whole.model_copy(update={"articles": [], "content": tail, **_left_out(whole.articles)})
    pairs = zip(records, whole.articles, strict=True)
    lengths = [len(json.dumps(text, ensure_ascii=False)) + budget.length(article) for text, article in pairs]
    if lengths[0] > budget.MOST:
        raise UpstreamFailed("this record is too long to be sent; ask for it as abstract_plus", retryable=False)
    fits = budget.fitting(lengths, request.maxCharacters - budget.length(frame))
    content = "".join([*records[:fits], tail])
    rest = _left_out(whole.articles[fits:]) if fits < len(records) else {}
    return whole.model_copy(update={"articles": whole.articles[:fits], "content": content, **rest})


def _printed(pmids: list[str], raw: fetching.Raw) -> FetchedArticles:
    """All records as NCBI prints them, whatever their length."""
    xml = raw.style == "xml"
    params = {"retmode": "xml"} if xml else {"rettype": "medline", "retmode": "text"}
    return FetchedArticles(
        requestedPmids=pmids,
        articles=[
            ArticleDetails(pmid=pmid, title=title, retraction=raw.retractions[pmid])
            for pmid, title in raw.titles.items()
        ],
        notFoundPmids=[pmid for pmid in pmids if pmid not in raw.titles],
        eFetchDetails=_requests(pmids, **params),
        content=raw.text,
        contentType="application/xml" if xml else "text/plain",
        status="complete",
        reasons=[],
    )


def _left_out(articles: Sequence[ArticleDetails]) -> dict[str, Any]:
    more = "ask for leftOutPmids next, or raise maxCharacters"
    return {"leftOutPmids": [each.pmid for each in articles], **budget.partial([], articles, more)}


def _requests(pmids: Sequence[str], **params: str) -> FetchRequests:
    """The request that was made. It was a POST, so that no list is too long; its address returns the same by GET."""
    return FetchRequests(urls=[request_url("efetch", db="pubmed", id=",".join(pmids), **params)], requestMethod="POST")

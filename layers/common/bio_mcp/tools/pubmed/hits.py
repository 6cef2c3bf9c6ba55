"""Articles in a line: hits of a search, and related articles."""

from collections.abc import Sequence
from typing import Literal

from pydantic import Field

from bio_mcp.literature.addresses import pubmed_page
from bio_mcp.literature.records import RetractionStatus
from bio_mcp.ports.pubmed import DocSummary
from bio_mcp.tool import Response
from bio_mcp.tools.pmids import PMID

Status = Literal["complete", "partial"]  # when NCBI fails at the whole, the failure says so
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


def brief(summary: DocSummary) -> BriefSummary:
    """Summarise a hit in a line."""
    return BriefSummary(
        pmid=summary.pmid,
        title=summary.title,
        authors=first_authors(summary.authors),
        source=source(summary),
        pubDate=day(summary.pdat),
        epubDate=day(summary.epdat),
        doi=summary.doi,
        retraction=summary.retraction,
    )


def related(pmid: str, summary: DocSummary | None, score: float | None) -> RelatedArticle:
    """Describe a related article; only its PMID is known without a summary."""
    return RelatedArticle(
        pmid=pmid,
        title=summary.title if summary else None,
        authors=first_authors(summary.authors) if summary else None,
        score=score,
        linkUrl=pubmed_page(pmid),
        source=source(summary) if summary else None,
        retraction=summary.retraction if summary else RetractionStatus.UNKNOWN,
    )


def first_authors(authors: Sequence[str]) -> str | None:
    """The first authors: "Doe J, Smith A, et al."; None without authors."""
    shown = [*authors[:NAMED], *(["et al."] if len(authors) > NAMED else [])]
    return ", ".join(shown) or None


def source(summary: DocSummary) -> str | None:
    """Journal or book, and printed date: "J Example Sci. 2023 Mar"."""
    where = (summary.source or summary.journal or "").rstrip(".")
    return ". ".join(part for part in (where, summary.pdat) if part) or None


def day(printed: str | None) -> str | None:
    """The date as ISO 8601, as precise as printed; the printed form where it is no date."""
    from bio_mcp.literature.medline.dates import medline_date  # loads the XML parser, which a search may not need

    return (medline_date(printed).iso or printed) if printed else None

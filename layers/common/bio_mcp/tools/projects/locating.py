"""Input and answer of the tool that finds where a quote is from."""

from typing import Any, Literal

from pydantic import Field

from bio_mcp.answering.locating import Place
from bio_mcp.answering.retractions import Known
from bio_mcp.literature.records import RetractionStatus
from bio_mcp.tool import Request, Response
from bio_mcp.tools.families import ProjectId

_ABSENT: Any = None  # an optional input is absent, never null, so its type is the plain one
LONGEST_QUOTE = 1_000  # characters
LONGEST_ANSWER = 15_000  # characters, of the JSON


class Quote(Request):
    """A quote, and where to look for it."""

    quote: str = Field(min_length=8, max_length=LONGEST_QUOTE, description="a sentence as quoted")
    project: ProjectId = Field(default=_ABSENT, description="without one: the corpus of PubMed papers")
    doc_id: str = Field(default=_ABSENT, max_length=500, description="look in this document alone")


class QuoteDifference(Response):
    """Words of the quote, and those that the text has in their place; one of them may be empty."""

    quote: str
    text: str


class QuotePlace(Response):
    """A place that has the quote, with what cites it."""

    doc_id: str
    citekey: str | None = None
    title: str | None = None
    pmid: str | None = None
    retraction: RetractionStatus = RetractionStatus.UNKNOWN
    doi: str | None = None
    section: str | None = None
    section_path: list[str] = Field(default_factory=list)
    page_span: list[int] | None = None
    char_start: int | None = Field(default=None, description="in the document's text")
    char_end: int | None = None
    text: str = Field(description="as it stands there")
    similarity: float = Field(description="1: equal")
    differences: list[QuoteDifference] = Field(default_factory=list)


class LocatedQuote(Response):
    """Whether the quote was found, and where."""

    found: Literal["exactly", "nearly", "not found"]
    places: list[QuotePlace] = Field(description="most similar first")
    left_out: int = Field(default=0, description="further places")
    warnings: list[str] = Field(default_factory=list, description="tell the user")


def place_of(place: Place, paper: Known) -> QuotePlace:
    """The place as clients see it, with what the corpus knows of its paper."""
    work = place.work
    return QuotePlace(
        doc_id=work.doc_id,
        citekey=work.citekey,
        title=work.title,
        pmid=paper.pmid,
        retraction=paper.retraction or RetractionStatus.UNKNOWN,
        doi=work.doi,
        section=place.section,
        section_path=list(place.section_path),
        page_span=list(place.page_span) if place.page_span else None,
        char_start=place.char_start,
        char_end=place.char_end,
        text=place.text,
        similarity=place.similarity,
        differences=[QuoteDifference(quote=each.quote, text=each.text) for each in place.differences],
    )

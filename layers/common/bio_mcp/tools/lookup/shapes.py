"""Inputs and answers of the lookup tools."""

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from bio_mcp.literature.records import RetractionStatus
from bio_mcp.querying import converting, ladder, matching
from bio_mcp.tool import Request, Response
from bio_mcp.tools import budget

Status = Literal["complete", "partial"]  # when NCBI fails at the whole, the failure says so
Text = Annotated[str, BeforeValidator(lambda given: str(given) if type(given) is int else given)]
Word = Annotated[str, Field(min_length=1, max_length=500)]


class MeshQuestion(Request):
    """The word to find headings for."""

    term: str = Field(min_length=2, max_length=500)
    maxResults: int = Field(default=5, ge=1, le=50)


class MeshTerm(Response):
    """A MeSH descriptor, qualifier or supplementary concept; `searchTerm` finds its articles in PubMed."""

    ui: str
    name: str
    kind: str
    scopeNote: str
    entryTerms: list[str]
    treeNumbers: list[str]
    searchTerm: str


class MeshTerms(Response):
    """The best headings; `totalFound` counts all."""

    totalFound: int
    terms: list[MeshTerm]
    status: Status = "complete"
    reasons: list[str] = Field(default_factory=list)


class SpellingQuestion(Request):
    """The query to check."""

    query: str = Field(min_length=1, max_length=1000)


class SpelledQuery(Response):
    """PubMed's spelling; null when it would change nothing."""

    query: str
    correctedQuery: str | None
    status: Status = "complete"


class KnownCitation(Request):
    """A reference; needs a title, or two other fields."""

    journal: str = ""
    year: Text = Field(default="", pattern=r"^(\d{4})?$")
    volume: Text = ""
    firstPage: Text = ""
    author: str = Field(default="", description="surname and initials: mann bj")
    title: str = ""


class CitationsToMatch(Request):
    """The references to match."""

    citations: list[KnownCitation] = Field(min_length=1, max_length=50)


class CitationVerdict(Response):
    """The verdict on one reference, in the order given."""

    verdict: matching.Verdict
    pmid: str | None
    citation: str | None = None
    agrees: list[str] = Field(default_factory=list)
    differs: list[str] = Field(default_factory=list)
    candidatePmids: list[str] = Field(default_factory=list)
    reason: str | None = None
    retraction: RetractionStatus = RetractionStatus.UNKNOWN


class MatchedCitations(Response):
    """Verdicts; `partial` when some could not be checked."""

    matches: list[CitationVerdict]
    status: Status = "complete"
    reasons: list[str] = Field(default_factory=list)


class IdsToConvert(Request):
    """Ids to convert, of any kind."""

    ids: list[Word] = Field(min_length=1, max_length=200, description="PMIDs, PMCIDs and DOIs, mixed")


class ConvertedId(Response):
    """The ids of one article; null where it has none or NCBI does not say."""

    requested: str
    found: converting.IdState
    pmid: str | None = None
    pmcid: str | None = None
    doi: str | None = None


class ConvertedIds(Response):
    """Conversions, in the order given; `partial` when any is unknown."""

    records: list[ConvertedId]
    status: Status = "complete"
    reasons: list[str] = Field(default_factory=list)


class FullTextQuestion(Request):
    """The article to read, and how much of it."""

    id: Word = Field(description="PMCID, PMID, DOI, or PPR id of a preprint")
    sections: list[Word] = Field(default=[], max_length=20, description="words of titles, e.g. methods; empty: all")
    maxCharacters: int = Field(default=20_000, ge=500, le=200_000)
    includeTables: bool = True


class ShownSection(Response):
    """A section without its subsections, which follow with a higher `level`; tables are text, a line per row."""

    title: str
    level: int
    text: str
    tables: list[str] = Field(default_factory=list)


class AskedPlace(Response):
    """What one place said; `url` is where a reader finds the text there."""

    place: ladder.Place
    outcome: ladder.Outcome
    detail: str = ""
    url: str | None = None
    licence: str = ""


class FullArticle(Response):
    """An article's text. `available` is false where nobody gives it away; then there is at most an abstract. `source`
    is the place that the text is from, `places` what each said that was asked."""

    pmcid: str | None
    pmid: str | None
    doi: str | None
    title: str
    available: bool
    licence: dict[str, str]
    sections: list[ShownSection]
    cutSection: str | None = None
    leftOutSections: list[str] = Field(default_factory=list)
    retraction: RetractionStatus = RetractionStatus.UNKNOWN
    status: Status = "complete"
    reasons: list[str] = Field(default_factory=list)
    source: ladder.Place | None = None
    places: list[AskedPlace] = Field(default_factory=list)


class BookQuestion(Request):
    """The book or chapter to read."""

    id: Word = Field(description="PMID or NBK accession")
    maxCharacters: budget.MaxCharacters = budget.DEFAULT


class BookRecord(Response):
    """A Bookshelf record: summary by sections, and titles of its contents."""

    pmid: str
    accession: str | None
    bookTitle: str | None
    title: str | None
    publisher: str | None
    citation: str
    sections: list[ShownSection]
    contents: list[str]
    url: str
    retraction: RetractionStatus = RetractionStatus.UNKNOWN
    status: Status = "complete"
    reasons: list[str] = Field(default_factory=list)

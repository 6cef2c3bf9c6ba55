"""What the lookup is asked, and what it answers."""

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from bio_mcp.literature.records import RetractionStatus
from bio_mcp.querying import converting, matching
from bio_mcp.tool import Request, Response

Status = Literal["complete", "partial"]  # when NCBI fails at the whole, the failure says so
Text = Annotated[str, BeforeValidator(lambda given: str(given) if type(given) is int else given)]
Word = Annotated[str, Field(min_length=1, max_length=500)]


class MeshQuestion(Request):
    term: str = Field(min_length=2, max_length=500)
    maxResults: int = Field(default=5, ge=1, le=50)


class MeshTerm(Response):
    ui: str
    name: str
    kind: str
    scopeNote: str
    entryTerms: list[str]
    treeNumbers: list[str]
    searchTerm: str


class MeshTerms(Response):
    totalFound: int
    terms: list[MeshTerm]
    status: Status = "complete"
    reasons: list[str] = Field(default_factory=list)


class SpellingQuestion(Request):
    query: str = Field(min_length=1, max_length=1000)


class SpelledQuery(Response):
    query: str
    correctedQuery: str | None
    status: Status = "complete"


class KnownCitation(Request):
    journal: str = ""
    year: Text = Field(default="", pattern=r"^(\d{4})?$")
    volume: Text = ""
    firstPage: Text = ""
    author: str = Field(default="", description="surname and initials: mann bj")
    title: str = ""


class CitationsToMatch(Request):
    citations: list[KnownCitation] = Field(min_length=1, max_length=50)


class CitationVerdict(Response):
    verdict: matching.Verdict
    pmid: str | None
    citation: str | None = None
    agrees: list[str] = Field(default_factory=list)
    differs: list[str] = Field(default_factory=list)
    candidatePmids: list[str] = Field(default_factory=list)
    reason: str | None = None
    retraction: RetractionStatus = RetractionStatus.UNKNOWN


class MatchedCitations(Response):
    matches: list[CitationVerdict]
    status: Status = "complete"
    reasons: list[str] = Field(default_factory=list)


class IdsToConvert(Request):
    ids: list[Word] = Field(min_length=1, max_length=200, description="PMIDs, PMCIDs and DOIs, mixed")


class ConvertedId(Response):
    requested: str
    found: converting.IdState
    pmid: str | None = None
    pmcid: str | None = None
    doi: str | None = None


class ConvertedIds(Response):
    records: list[ConvertedId]
    status: Status = "complete"
    reasons: list[str] = Field(default_factory=list)


class FullTextQuestion(Request):
    id: Word = Field(description="PMCID, PMID or DOI")
    sections: list[Word] = Field(default=[], max_length=20, description="words of titles, e.g. methods; empty: all")
    maxCharacters: int = Field(default=20_000, ge=500, le=200_000)
    includeTables: bool = True


class ShownSection(Response):
    title: str
    level: int
    text: str
    tables: list[str] = Field(default_factory=list)


class FullArticle(Response):
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


class BookQuestion(Request):
    id: Word = Field(description="PMID or NBK accession")


class BookRecord(Response):
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

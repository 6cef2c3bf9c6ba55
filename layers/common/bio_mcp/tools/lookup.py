"""A librarian's services beside search: MeSH headings, spelling, ids, citation matching, full text, books."""

import re
from typing import Annotated

from pydantic import Field

from bio_mcp.arguments import PaperId
from bio_mcp.errors import InvalidInput, NotFound
from bio_mcp.literature.citing import cite
from bio_mcp.literature.citing.works import Work
from bio_mcp.literature.documents import Table
from bio_mcp.literature.records import Article, RetractionStatus
from bio_mcp.literature.references.works import CitedWork
from bio_mcp.ports import Backends
from bio_mcp.ports.ncbi import MeshRecord
from bio_mcp.querying import full_text, identifiers
from bio_mcp.querying import search as fetching
from bio_mcp.querying.search import required
from bio_mcp.querying.versions import retraction_statuses
from bio_mcp.tool import Context, Request, Response, said, stated
from bio_mcp.tools import answer_size, next_steps
from bio_mcp.tools.answer_size import MayBePartial
from bio_mcp.tools.fields import BY_OTHER_IDS, live_tool

Word = Annotated[str, Field(min_length=1, max_length=500)]


class MeshQuestion(Request):
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


class MeshTerms(MayBePartial):
    """The best headings; `totalFound` counts all."""

    totalFound: int
    terms: list[MeshTerm]


class SpellingQuestion(Request):
    query: str = Field(min_length=1, max_length=1000)


class SpelledQuery(MayBePartial):
    """PubMed's spelling; null when it would change nothing."""

    query: str
    correctedQuery: str | None


class KnownCitation(Request):
    """A reference; needs a title, or two other fields."""

    journal: str = ""
    year: str = Field(default="", pattern=r"^(\d{4})?$")
    volume: str = ""
    firstPage: str = ""
    author: str = Field(default="", description="surname and initials: mann bj")
    title: str = ""


class CitationsToMatch(Request):
    citations: list[KnownCitation] = Field(min_length=1, max_length=50)


class CitationVerdict(Response):
    """The verdict on one reference, in the order given."""

    verdict: identifiers.Verdict
    pmid: str | None
    citation: str | None = None
    agrees: list[str] = Field(default_factory=list)
    differs: list[str] = Field(default_factory=list)
    candidatePmids: list[str] = Field(default_factory=list)
    reason: str | None = None
    retraction: RetractionStatus = RetractionStatus.UNKNOWN


class MatchedCitations(MayBePartial):
    """Verdicts; `partial` when some could not be checked."""

    matches: list[CitationVerdict]


class IdsToConvert(Request):
    ids: list[Word] = Field(min_length=1, max_length=200, description="PMIDs, PMCIDs and DOIs, mixed")


class ConvertedId(Response):
    """The ids of one article; null where it has none or NCBI does not say."""

    requested: str
    found: identifiers.IdState
    pmid: str | None = None
    pmcid: str | None = None
    doi: str | None = None


class ConvertedIds(MayBePartial):
    """Conversions, in the order given; `partial` when any is unknown."""

    records: list[ConvertedId]


class FullTextQuestion(Request):
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

    place: full_text.Place
    outcome: full_text.Outcome
    detail: str = said(default="")
    url: str | None = said(default=None)
    licence: str = said(default="")


class FullArticle(MayBePartial):
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
    source: full_text.Place | None = None
    places: list[AskedPlace] = Field(default_factory=list)


class BookQuestion(Request):
    id: Annotated[Word, PaperId()] = Field(description="PMID or NBK accession")
    maxCharacters: answer_size.MaxCharacters = answer_size.DEFAULT


class BookRecord(MayBePartial):
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


_NBK = re.compile(r"NBK\d{1,9}", re.IGNORECASE)


@live_tool(
    "lookupMeshTerms", command="pubmed mesh", beyond="headings to search with", next_step=next_steps.after_headings
)
def lookup_mesh(request: MeshQuestion, backends: Backends, context: Context) -> MeshTerms:
    """Find MeSH headings for a word: definition, synonyms, tree numbers, and the term to search PubMed with."""
    with required():
        page = backends.lookup.mesh(request.term, request.maxResults, deadline=context.deadline)
    asked = request.term.casefold().strip()
    by_exactness = sorted(page.records, key=lambda each: asked not in (term.casefold() for term in each.terms))
    answer = MeshTerms(totalFound=page.count, terms=[_heading(each) for each in by_exactness])
    return answer_size.within(answer, "terms", advice="ask for a longer word")


def _heading(record: MeshRecord) -> MeshTerm:
    """A heading with the search term that finds its articles; qualifiers and substances have fields of their own."""
    field = "Supplementary Concept" if record.kind.startswith("supplemental") else "MeSH Terms"
    field = "MeSH Subheading" if record.kind == "qualifier" else field
    return MeshTerm.of(
        record,
        entryTerms=list(record.terms[1:]),
        treeNumbers=list(record.trees),
        searchTerm=f'"{record.name}"[{field}]',
    )


@live_tool(
    "checkSpelling",
    command="pubmed spell",
    longest=None,
    beyond="a query that finds nothing may be misspelt",
    next_step=next_steps.after_spelling,
)
def check_spelling(request: SpellingQuestion, backends: Backends, context: Context) -> SpelledQuery:
    """Spell-check a query with PubMed; correctedQuery is null when nothing would change."""
    with required():
        spelling = backends.pubmed.espell(request.query, deadline=context.deadline)
    return SpelledQuery(query=request.query, correctedQuery=spelling.corrected)


@live_tool("matchCitations", command="pubmed match", beyond="references of a manuscript, to their records")
def match_citations(request: CitationsToMatch, backends: Backends, context: Context) -> MatchedCitations:
    """Find the PMIDs of papers by journal, year and page: matched, doubtful, ambiguous, not_found.

    For references as they are written take checkBibliography.
    """
    cited = [_cited(each, place) for place, each in enumerate(request.citations, 1)]
    matches, reasons = identifiers.match(cited, backends.lookup, backends.pubmed, context.deadline)
    answer = MatchedCitations(matches=[_verdict(each) for each in matches], reasons=reasons)
    return answer_size.within(answer, "matches", advice="send the last citations again by themselves")


def _cited(known: KnownCitation, place: int) -> CitedWork:
    """The citation without `|`, which separates fields in NCBI's request. Raises `InvalidInput` for too few fields."""
    parts = (known.journal, known.year, known.volume, known.firstPage, known.author)
    if not known.title.strip() and sum(bool(part.strip()) for part in parts) < 2:
        raise InvalidInput(f"citation {place} is too incomplete; give a title, or journal, year, volume and first page")
    journal, year, volume, page, author = (" ".join(part.replace("|", " ").split()) for part in parts)
    return CitedWork(known.title, (author,) if author else (), journal, year, volume, pages=page)


def _verdict(matched: identifiers.Matched) -> CitationVerdict:
    article = matched.article
    return CitationVerdict.of(
        matched,
        citation=cite(article, "vancouver") if article else None,
        candidatePmids=matched.candidates,
        retraction=article.retraction if article else RetractionStatus.UNKNOWN,
    )


@live_tool(
    "convertArticleIds",
    command="pubmed ids",
    in_default_list=True,
    beyond="people name papers by PMID, PMCID or DOI",
)
def convert_ids(request: IdsToConvert, backends: Backends, context: Context) -> ConvertedIds:
    """Convert between PMID, PMCID and DOI. unknown: NCBI failed, so the id may still exist."""
    converted, reasons = identifiers.convert(request.ids, backends.lookup, backends.pubmed, context.deadline)
    answer = ConvertedIds(
        records=[ConvertedId.of(each.ids, requested=each.asked, found=each.state) for each in converted],
        status="partial" if any(each.state == "unknown" for each in converted) else "complete",
        reasons=list(reasons),
    )
    return answer_size.within(answer, "records", advice="send the last ids again by themselves")


@live_tool(
    "getFullText",
    command="pubmed text",
    in_default_list=True,
    beyond="the abstract does not say how it was done",
    also_uses=("europe_pmc.articles", "europe_pmc.full_text", "open_access.copies"),
)
def get_full_text(request: FullTextQuestion, backends: Backends, context: Context) -> FullArticle:
    """Read an article's open text by sections, with tables and licence: from PubMed Central, else Europe PMC or the
    preprint; else where a legal copy is."""
    climbed = full_text.find_full_text(request.id, backends, context.deadline)
    article = climbed.text or full_text.NOTHING
    wanted = full_text.choose(article.sections, request.sections)
    if request.sections and not wanted and article.sections:
        titles = "; ".join(each.title for each in article.sections if each.level == 1)
        raise NotFound(f"no section has such a title; there are: {titles}", pmcid=article.pmcid)
    shown = full_text.fit(wanted, request.maxCharacters, request.includeTables)
    left = ["not every section fits; ask by name for those left out, or for more characters"]
    reasons = full_text.reasons_of(climbed) + (left if shown.cut or shown.left_out else [])
    statuses = retraction_statuses([climbed.ids.pmid], backends.pubmed, context.deadline, reasons)
    licence = stated(name=article.licence.name, url=article.licence.url, text=article.licence.text[:600])
    return FullArticle.of(
        climbed.ids,
        title=article.title or climbed.title,
        available=climbed.has_text,
        licence=licence,
        sections=[ShownSection.of(each, tables=map(_printed, each.tables)) for each in shown.sections],
        cutSection=shown.cut,
        leftOutSections=shown.left_out,
        retraction=statuses[climbed.ids.pmid],
        source=climbed.place,
        places=[AskedPlace.of(each) for each in climbed.rungs],
        reasons=reasons,
    )


def _printed(table: Table) -> str:
    """A table as text, a line per row."""
    head = " ".join(filter(None, (table.label, table.caption)))
    return "\n".join(filter(None, (head, *table.rows, table.note)))


@live_tool(
    "getBookRecord",
    command="pubmed book",
    beyond="GeneReviews and StatPearls are in PubMed, and no articles",
    also_uses=(*BY_OTHER_IDS, "pubmed.esummary"),
)
def get_book(request: BookQuestion, backends: Backends, context: Context) -> BookRecord:
    """Read a Bookshelf chapter's record (GeneReviews, StatPearls): summary by sections, and contents."""
    article = _book(request.id.strip(), backends, context)
    book = article.book
    if book is None:
        raise NotFound(f"PMID {article.pmid} is an article and no book; read it with fetchArticleDetails")
    sections = [
        ShownSection(title=each.label or "Summary", level=1, text=each.text) for each in article.abstract if each.text
    ]
    answer = BookRecord.of(
        article,
        book,
        bookTitle=book.title,
        citation=cite(article, "vancouver"),
        sections=sections,
        url=Work(article).url,
        status="complete",
    )
    advice = f"ask for more characters, or read the chapter at {answer.url}"
    return answer_size.within(answer, "sections", request.maxCharacters, advice)


def _book(asked: str, backends: Backends, context: Context) -> Article:
    """The record with this PMID or accession. A search for an accession may return others, so it is compared."""
    from bio_mcp.literature.identifiers import parse_pmid

    pubmed, accession = backends.pubmed, asked.upper() if _NBK.fullmatch(asked) else None
    with required():
        term = f"{accession}[aid] OR {accession}"
        ids = pubmed.esearch(term, deadline=context.deadline, retmax=20).ids if accession else (parse_pmid(asked),)
    records = list(fetching.articles(ids, pubmed, context.deadline).values()) if ids else []
    if accession:
        records = [each for each in records if each.book and (each.book.accession or "").upper() == accession]
    if not records:
        raise NotFound(
            f"PubMed has no record of {asked}; look for the chapter's title with searchPubMedArticles",
            id=asked,
        )
    return records[0]

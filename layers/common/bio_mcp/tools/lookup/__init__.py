"""A librarian's services beside search: MeSH headings, spelling, ids, citation matching, full text, books."""

import re

from bio_mcp.errors import InvalidInput, NotFound
from bio_mcp.literature.citing import cite
from bio_mcp.literature.citing.works import work
from bio_mcp.literature.jats import Table, TextSection
from bio_mcp.literature.records import Article, RetractionStatus
from bio_mcp.ports import Backends
from bio_mcp.ports.ncbi import Citation, MeshRecord
from bio_mcp.querying import converting, fetching, ladder, matching, reading
from bio_mcp.querying.partial import required
from bio_mcp.querying.retractions import retraction_statuses
from bio_mcp.tool import Context, tool
from bio_mcp.tools import budget
from bio_mcp.tools.families import PUBMED
from bio_mcp.tools.lookup.shapes import (
    AskedPlace,
    BookQuestion,
    BookRecord,
    CitationsToMatch,
    CitationVerdict,
    ConvertedId,
    ConvertedIds,
    FullArticle,
    FullTextQuestion,
    IdsToConvert,
    KnownCitation,
    MatchedCitations,
    MeshQuestion,
    MeshTerm,
    MeshTerms,
    ShownSection,
    SpelledQuery,
    SpellingQuestion,
)

TIMEOUT_S = 27
_NBK = re.compile(r"NBK\d{1,9}", re.IGNORECASE)


@tool(
    "lookupMeshTerms",
    family=PUBMED,
    scope="live",
    command="lookup mesh",
    timeout=TIMEOUT_S,
    open_world=True,
    output_listed=False,
    in_default_list=True,
    longest=budget.DEFAULT,
    beyond="headings to search with",
)
def lookup_mesh(request: MeshQuestion, backends: Backends, context: Context) -> MeshTerms:
    """Find MeSH headings for a word: definition, synonyms, tree numbers, and the term to search PubMed with."""
    with required():
        page = backends.lookup.mesh(request.term, request.maxResults, deadline=context.deadline)
    asked = request.term.casefold().strip()
    by_exactness = sorted(page.records, key=lambda each: asked not in (term.casefold() for term in each.terms))
    answer = MeshTerms(totalFound=page.count, terms=[_heading(each) for each in by_exactness], status="complete")
    return budget.within(
        answer, "terms", budget.DEFAULT, lambda rest: budget.partial([], rest, "ask for a longer word")
    )


def _heading(record: MeshRecord) -> MeshTerm:
    """A heading with the search term that finds its articles; qualifiers and substances have fields of their own."""
    field = "Supplementary Concept" if record.kind.startswith("supplemental") else "MeSH Terms"
    field = "MeSH Subheading" if record.kind == "qualifier" else field
    return MeshTerm(
        ui=record.ui,
        name=record.name,
        kind=record.kind,
        scopeNote=record.scope_note,
        entryTerms=list(record.terms[1:]),
        treeNumbers=list(record.trees),
        searchTerm=f'"{record.name}"[{field}]',
    )


@tool(
    "checkSpelling",
    family=PUBMED,
    scope="live",
    command="lookup spell",
    timeout=TIMEOUT_S,
    open_world=True,
    output_listed=False,
    beyond="a query that finds nothing may be misspelt",
)
def check_spelling(request: SpellingQuestion, backends: Backends, context: Context) -> SpelledQuery:
    """Spell-check a query with PubMed; correctedQuery is null when nothing would change."""
    with required():
        spelling = backends.pubmed.espell(request.query, deadline=context.deadline)
    return SpelledQuery(query=request.query, correctedQuery=spelling.corrected, status="complete")


@tool(
    "matchCitations",
    family=PUBMED,
    scope="live",
    command="lookup match",
    timeout=TIMEOUT_S,
    open_world=True,
    output_listed=False,
    longest=budget.DEFAULT,
    beyond="references of a manuscript, to their records",
)
def match_citations(request: CitationsToMatch, backends: Backends, context: Context) -> MatchedCitations:
    """Find the PMIDs of references and check each against its record: matched, doubtful, ambiguous, not_found."""
    cited = [_to_citation(each, place) for place, each in enumerate(request.citations, 1)]
    matches, reasons = matching.match(cited, backends.lookup, backends.pubmed, context.deadline)
    answer = MatchedCitations(
        matches=[_verdict(each) for each in matches], status="partial" if reasons else "complete", reasons=reasons
    )
    more = "send the last citations again by themselves"
    return budget.within(answer, "matches", budget.DEFAULT, lambda rest: budget.partial(reasons, rest, more))


def _to_citation(known: KnownCitation, place: int) -> matching.Cited:
    """The citation without `|`, which separates fields in NCBI's request. Raises `InvalidInput` for too few fields."""
    parts = (known.journal, known.year, known.volume, known.firstPage, known.author)
    if not known.title.strip() and sum(bool(part.strip()) for part in parts) < 2:
        raise InvalidInput(f"citation {place} is too incomplete; give a title, or journal, year, volume and first page")
    return matching.Cited(Citation(*(" ".join(part.replace("|", " ").split()) for part in parts)), known.title)


def _verdict(matched: matching.Matched) -> CitationVerdict:
    article = matched.article
    return CitationVerdict(
        verdict=matched.verdict,
        pmid=matched.pmid,
        citation=cite(article, "vancouver") if article else None,
        agrees=list(matched.agrees),
        differs=list(matched.differs),
        candidatePmids=list(matched.candidates),
        reason=matched.reason,
        retraction=article.retraction if article else RetractionStatus.UNKNOWN,
    )


@tool(
    "convertArticleIds",
    family=PUBMED,
    scope="live",
    command="lookup ids",
    timeout=TIMEOUT_S,
    open_world=True,
    output_listed=False,
    longest=budget.DEFAULT,
    beyond="people name papers by PMID, PMCID or DOI",
)
def convert_ids(request: IdsToConvert, backends: Backends, context: Context) -> ConvertedIds:
    """Convert between PMID, PMCID and DOI. unknown: NCBI failed, so the id may still exist."""
    converted, reasons = converting.convert(request.ids, backends.lookup, backends.pubmed, context.deadline)
    answer = ConvertedIds(
        records=[
            ConvertedId(
                requested=each.asked, found=each.state, pmid=each.ids.pmid, pmcid=each.ids.pmcid, doi=each.ids.doi
            )
            for each in converted
        ],
        status="partial" if any(each.state == "unknown" for each in converted) else "complete",
        reasons=list(reasons),
    )
    more = "send the last ids again by themselves"
    return budget.within(answer, "records", budget.DEFAULT, lambda rest: budget.partial(reasons, rest, more))


@tool(
    "getFullText",
    family=PUBMED,
    scope="live",
    command="lookup text",
    timeout=TIMEOUT_S,
    open_world=True,
    output_listed=False,
    in_default_list=True,
    longest=budget.DEFAULT,
    beyond="the abstract does not say how it was done",
    also_uses=("europe_pmc.articles", "europe_pmc.full_text", "open_access.copies"),
)
def get_full_text(request: FullTextQuestion, backends: Backends, context: Context) -> FullArticle:
    """Read an article's open text by sections, with tables and licence: from PubMed Central, else Europe PMC or the
    preprint; else where a legal copy is."""
    climbed = ladder.climb(request.id, backends, context.deadline)
    article = climbed.text or ladder.NOTHING
    wanted = reading.choose(article.sections, request.sections)
    if request.sections and not wanted and article.sections:
        titles = "; ".join(each.title for each in article.sections if each.level == 1)
        raise NotFound(f"no section has such a title; there are: {titles}", pmcid=article.pmcid)
    shown = reading.fit(wanted, request.maxCharacters, request.includeTables)
    left = ["not every section fits; ask for leftOutSections by name, or raise maxCharacters"]
    reasons = ladder.reasons_of(climbed) + (left if shown.cut or shown.left_out else [])
    statuses = retraction_statuses([climbed.ids.pmid], backends.pubmed, context.deadline, reasons)
    licence = {"name": article.licence.name, "url": article.licence.url, "text": article.licence.text[:600]}
    return FullArticle(
        pmcid=climbed.ids.pmcid,
        pmid=climbed.ids.pmid,
        doi=climbed.ids.doi,
        title=article.title or climbed.title,
        available=climbed.has_text,
        licence={name: text for name, text in licence.items() if text},
        sections=[_section(each) for each in shown.sections],
        cutSection=shown.cut,
        leftOutSections=list(shown.left_out),
        retraction=statuses.get(climbed.ids.pmid, RetractionStatus.UNKNOWN),
        status="partial" if reasons else "complete",
        reasons=reasons,
        source=climbed.place,
        places=[_asked(each) for each in climbed.rungs],
    )


def _asked(rung: ladder.Rung) -> AskedPlace:
    named = {"detail": rung.detail, "url": rung.url, "licence": rung.licence}
    return AskedPlace(place=rung.place, outcome=rung.outcome, **{name: each for name, each in named.items() if each})


def _section(section: TextSection) -> ShownSection:
    tables = [_printed(table) for table in section.tables]
    return ShownSection(title=section.title, level=section.level, text=section.text, tables=tables)


def _printed(table: Table) -> str:
    head = " ".join(filter(None, (table.label, table.caption)))
    return "\n".join(filter(None, (head, *table.rows, table.note)))


@tool(
    "getBookRecord",
    family=PUBMED,
    scope="live",
    command="lookup book",
    timeout=TIMEOUT_S,
    open_world=True,
    output_listed=False,
    longest=budget.DEFAULT,
    beyond="GeneReviews and StatPearls are in PubMed, and no articles",
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
    answer = BookRecord(
        pmid=article.pmid,
        accession=book.accession,
        bookTitle=book.title,
        title=article.title,
        publisher=book.publisher,
        citation=cite(article, "vancouver"),
        sections=sections,
        contents=list(book.contents),
        url=work(article).url,
        retraction=article.retraction,
        status="complete",
    )
    more = f"raise maxCharacters, or read the chapter at {answer.url}"
    return budget.within(answer, "sections", request.maxCharacters, lambda rest: budget.partial([], rest, more))


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
            f"PubMed has no record of {asked}; look for the chapter's title with searchPubMedArticles", id=asked
        )
    return records[0]

"""Search the corpus."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, cast
from uuid import UUID

from pydantic import Field

from bio_mcp.answering.search import Question, Retrieved, find_reranked, journal_keys
from bio_mcp.literature.records import Document, RetractionStatus
from bio_mcp.ports import Backends
from bio_mcp.retrieval.excerpts import best_chunk, overlap, snippet
from bio_mcp.retrieval.passages import Filters, PassageQuery, StoredChunk, chunk_uuid
from bio_mcp.retrieval.quotes import unrepeated
from bio_mcp.retrieval.ranking import Places, Ranked, places_in_legs, rounded
from bio_mcp.retrieval.relevance import is_unanswered, is_weak
from bio_mcp.scope import reading_at_once
from bio_mcp.tool import ABSENT, Context, Request, Response, said, tool
from bio_mcp.tools import answer_size
from bio_mcp.tools.chatgpt import AnyQuery, Sources, source
from bio_mcp.tools.fields import BIO_MCP, CHATGPT, DOC_ID, SearchFilters, filters_of, reading_tool

JOURNALS_LOOKED_UP = 20  # of a filter, where no hit is of them


class RagSearch(Request):
    query: str = Field(min_length=1)
    top_k: int = Field(default=20, ge=1, le=100)
    quality_bias: bool = True
    filters: SearchFilters = Field(default=ABSENT, description="which papers may be returned")
    group_by_doc: bool = Field(default=True, description="one passage per paper; false: every passage")
    synonyms: bool = Field(default=True, description="also look up other names of diseases and drugs")
    max_characters: answer_size.MaxCharacters = answer_size.DEFAULT


class SearchHit(Response):
    """A passage that was found, with its paper. `sim` and `bm25` are raw; only `score` orders."""

    doc_id: str = Field(pattern=DOC_ID, description="for rag_get")
    uuid: str = Field(min_length=10, description="of the passage")
    sim: float | None = Field(default=None, description="cosine to the query")
    bm25: float | None = Field(default=None, description="null: none of its words")
    quality: float | None = Field(default=None, description="of the evidence, 0 to 9")
    score: float = Field(description="orders this answer only: the best has 1, times its quality")
    relevance: float | None = Field(default=None, ge=0, le=1, description="probability that the paper fits the query")
    title: str | None = Field(default=None, description="of the paper")
    snippet: str | None = Field(default=None, description="of the passage")
    year: int | None = Field(default=None, description="of publication")
    journal: str | None = Field(default=None, description="its title")
    retraction: RetractionStatus = RetractionStatus.UNKNOWN
    chunk_id: str | None = Field(default=None, description="the passage")
    section: str | None = Field(default=None, description="of the abstract")
    explanation: str | None = Field(default=None, description="of the score")
    word_rank: int | None = Field(default=None, description="place by words alone")
    vector_rank: int | None = Field(default=None, description="by meaning alone")
    match: Literal["weak"] = said(default=ABSENT, description="if neither meaning nor words fit")


class RagResults(Response):
    """Hits, best first, and warnings for the user."""

    results: list[SearchHit] = Field(description="best first")
    status: Literal["complete", "partial"] = Field(default="complete", description="partial: hits are missing")
    reasons: list[str] = Field(default_factory=list, description="why partial")
    warnings: list[str] = Field(default_factory=list, description="tell the user")


@reading_tool("rag.search", family=BIO_MCP, command="search", output_listed=True, timeout=8, in_default_list=True)
@reading_at_once()
def rag_search(request: RagSearch, backends: Backends, context: Context) -> RagResults:
    """Search the local corpus, papers synced from PubMed and perhaps few; searchPubMedArticles searches PubMed itself.

    By words and meaning together. `score` orders one answer, `relevance` compares; match "weak" is a hit that does not
    fit. Better evidence and newer papers rank higher unless quality_bias is false; retracted papers sink.
    """
    question = Question(request.query, filters_of(request.filters), request.quality_bias, request.synonyms)
    retrieved = find_reranked(question, backends, context.deadline)
    context.deadline.check("reading the passages")
    places = retrieved.ranked[: request.top_k]
    pmids = [each.candidate.pmid for each in places]
    documents = backends.documents.get_many(pmids)
    chunks = backends.passages.chunks(pmids, None if request.group_by_doc else retrieved.vector)
    shown = [each for each in places if each.candidate.pmid in documents and chunks.get(each.candidate.pmid)]
    view = _View(retrieved, backends.chunk_namespace, request.group_by_doc, places_in_legs(retrieved.ranked))
    hits = [hit for each in shown for hit in view.hits(each, documents, chunks)]
    if not request.group_by_doc:  # else they are in the order of their papers
        hits.sort(key=lambda hit: (-hit.score, -(hit.quality or 0), -int(hit.doc_id[5:]), hit.chunk_id or ""))
    gone = [f"{len(places) - len(shown)} papers were deleted during the search"] if len(shown) < len(places) else []
    answer = RagResults(
        results=hits[: request.top_k],
        status="partial" if gone else "complete",
        reasons=gone,
        warnings=[
            *retrieved.warnings,
            *(_unknown(request.filters.journals, documents, retrieved, backends) if request.filters else []),
            *_poor(request, retrieved, hits, backends),
        ],
    )
    advice = "ask for more characters, or for fewer papers"
    return answer_size.within(answer, "results", request.max_characters, advice)


@tool(
    "search",
    family=CHATGPT,
    scope="read",
    timeout=8,
    output_listed=True,
    beyond="deep research of ChatGPT calls tools of these names and shapes alone",
)
def search_sources(request: AnyQuery, backends: Backends, context: Context) -> Sources:
    """Search biomedical papers from PubMed by words and meaning; fetch reads one of them.

    Titles of retracted papers say so first.
    """
    found = cast(RagResults, rag_search.run(RagSearch(query=request.query), backends, context))
    hits = [hit for hit in found.results if hit.match != "weak"]
    return Sources(results=[source(hit.doc_id, hit.title, hit.retraction) for hit in hits])


def _unknown(
    named: Sequence[str], documents: Mapping[str, Document], retrieved: Retrieved, backends: Backends
) -> list[str]:
    """The warning that names journals of which the corpus has no paper."""
    journals = [each.article.journal for each in documents.values() if each.article.journal]
    seen = {(name or "").lower() for each in journals for name in (each.title, each.nlm_id)}
    unseen = [each for each in named[:JOURNALS_LOOKED_UP] if each.strip().lower() not in seen]
    one_of = {each: PassageQuery((), retrieved.vector, Filters(journals=journal_keys(each)), 1) for each in unseen}
    unknown = [journal for journal, query in one_of.items() if not backends.passages.hybrid_search(query)]
    sentence = "The corpus has no paper of the journal {}: give its NLM id or its full title, as its papers have it."
    return [sentence.format(" or ".join(map(repr, unknown)))] if unknown else []


def _poor(request: RagSearch, retrieved: Retrieved, hits: Sequence[SearchHit], backends: Backends) -> list[str]:
    """The warning that no hit fits the query, whatever the scores look like."""
    if not hits or not is_unanswered(retrieved.answerable, all(hit.match for hit in hits)):
        return []
    best = max((hit.sim for hit in hits if hit.sim is not None), default=0.0)
    filtered = " that pass the filters" if filters_of(request.filters) else ""
    return [
        f"Probably none of the papers{filtered} fits the query (the probability that one of the first ten does is "
        f"{retrieved.answerable:.2f}, the best cosine {best:.2f}); scores only order them. The corpus holds "
        f"{backends.passages.count()[0]} papers: look in PubMed itself "
        "(searchPubMedArticles), or sync a PubMed query on the topic."
    ]


@dataclass(frozen=True, slots=True)
class _View:
    """Turns ranked papers into hits."""

    retrieved: Retrieved
    namespace: UUID
    one_per_paper: bool
    places: Mapping[str, Places]

    def hits(
        self, place: Ranked, documents: Mapping[str, Document], chunks: Mapping[str, list[StoredChunk]]
    ) -> list[SearchHit]:
        """The paper's best passage, or every passage, each with its share of the score by cosine.

        Passages overlap: of each is shown what no better one has, and one that has nothing else is left out.
        """
        document, own = documents[place.candidate.pmid], chunks[place.candidate.pmid]
        if self.one_per_paper:
            chunk = best_chunk(own, place.candidate.chunk_id, self.retrieved.terms)
            return [self._hit(place, document, chunk, chunk.text)]
        best = max(chunk.sim or 0.0 for chunk in own)
        hits: list[SearchHit] = []
        for rank, chunk in enumerate(ordered := sorted(own, key=lambda each: (-(each.sim or 0.0), each.chunk_id))):
            share = max(0.0, chunk.sim or 0.0) / best if best > 0 else 1.0
            text = unrepeated(chunk.text, [each.text for each in ordered[:rank]])
            if text or not chunk.text:
                hits.append(self._hit(place, document, chunk, text, share))
        return hits

    def _hit(self, place: Ranked, document: Document, chunk: StoredChunk, text: str, share: float = 1.0) -> SearchHit:
        """One hit: the passage with the paper's fields. `text` is what it has to say, `share` its part of the paper's
        score."""
        candidate, article, terms = place.candidate, document.article, self.retrieved.terms
        by_words, by_meaning = self.places[candidate.pmid]
        title, sim = article.title or article.vernacular_title, candidate.sim if chunk.sim is None else chunk.sim
        weak = is_weak(sim, lambda: overlap(f"{title or ''} {chunk.text}", terms) / len(terms))
        return SearchHit.of(
            candidate,
            chunk,
            place,
            doc_id=f"pmid:{candidate.pmid}",
            uuid=chunk_uuid(candidate.pmid, chunk.chunk_id, self.namespace),
            sim=rounded(sim),
            bm25=rounded(candidate.bm25),
            quality=place.quality_points,
            score=round(place.score * share, 6),
            relevance=round(self.retrieved.relevance[candidate.pmid], 3),
            title=title,
            snippet=snippet(text, terms) or title,
            journal=article.journal.title if article.journal else None,
            word_rank=by_words,
            vector_rank=by_meaning,
            match="weak" if weak else ABSENT,
        )

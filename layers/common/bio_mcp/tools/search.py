"""Search the corpus."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal
from uuid import UUID

from pydantic import Field

from bio_mcp.answering.retrieving import Found, Question, find
from bio_mcp.errors import InvalidInput
from bio_mcp.literature.quality import DESIGNS
from bio_mcp.literature.records import Document, RetractionStatus
from bio_mcp.ports import Backends
from bio_mcp.retrieval.excerpts import best_chunk, snippet
from bio_mcp.retrieval.passages import Filters, StoredChunk, chunk_uuid
from bio_mcp.retrieval.ranking import Ranked
from bio_mcp.tool import Context, Request, Response, tool
from bio_mcp.tools.families import BIO_MCP

_ABSENT: Any = None  # an optional input is absent, never null, so its type is the plain one
_TYPES = {name: ui for ui, (_, name) in DESIGNS.items()}


class SearchFilters(Request):
    """Which papers may be returned; all that is given must hold."""

    year_from: int = Field(default=_ABSENT, ge=1, description="first year of publication")
    year_to: int = Field(default=_ABSENT, ge=1, description="last year of publication")
    journals: list[str] = Field(default_factory=list, description="any of these NLM ids or full titles")
    publication_types: list[str] = Field(
        default_factory=list,
        description="any of these MeSH UIs or names, e.g. randomized controlled trial, meta-analysis",
    )
    tags: list[str] = Field(default_factory=list, description="all of these")
    project: str = Field(default=_ABSENT, min_length=1)


class RagSearch(Request):
    query: str = Field(min_length=1)
    top_k: int = Field(default=20, ge=1, le=100)
    quality_bias: bool = True
    filters: SearchFilters = Field(default=_ABSENT, description="which papers may be returned")
    group_by_doc: bool = Field(default=True, description="one passage per paper; false: every passage")
    synonyms: bool = Field(default=True, description="also look up other names of diseases and drugs")


class SearchHit(Response):
    doc_id: str = Field(pattern=r"^pmid:[0-9]+$")
    uuid: str = Field(min_length=10)
    sim: float | None = Field(default=None, description="cosine")
    bm25: float | None = None
    quality: float | None = Field(default=None, description="0 to 9")
    score: float
    title: str | None = None
    snippet: str | None = None
    year: int | None = None
    journal: str | None = None
    retraction: RetractionStatus = RetractionStatus.UNKNOWN
    chunk_id: str | None = None
    section: str | None = None
    explanation: str | None = None


class RagResults(Response):
    results: list[SearchHit]
    status: Literal["complete", "partial"] = "complete"
    reasons: list[str] = Field(default_factory=list)
    warnings: list[str] = Field(default_factory=list)


@tool("rag.search", family=BIO_MCP, timeout=8)
def rag_search(request: RagSearch, backends: Backends, context: Context) -> RagResults:
    """Find the passages of PubMed abstracts that best match a question, by words and by meaning together.

    Better evidence and newer papers rank higher unless quality_bias is false; retracted papers are flagged and sink.
    """
    question = Question(request.query, _filters(request.filters), request.quality_bias, request.synonyms)
    found = find(question, backends, context.deadline)
    context.deadline.check("reading the passages")
    places = found.ranked[: request.top_k]
    pmids = [each.candidate.pmid for each in places]
    documents = backends.documents.get_many(pmids)
    chunks = backends.passages.chunks(pmids, None if request.group_by_doc else found.vector)
    shown = [each for each in places if each.candidate.pmid in documents and chunks.get(each.candidate.pmid)]
    view = _View(found, backends.chunk_namespace, request.group_by_doc)
    hits = [hit for each in shown for hit in view.hits(each, documents, chunks)]
    hits.sort(key=lambda hit: (-hit.score, -(hit.quality or 0), -int(hit.doc_id[5:]), hit.chunk_id or ""))
    gone = [f"{len(places) - len(shown)} papers were deleted during the search"] if len(shown) < len(places) else []
    return RagResults(
        results=hits[: request.top_k],
        status="partial" if gone else "complete",
        reasons=gone,
        warnings=list(found.warnings),
    )


def _filters(given: SearchFilters | None) -> Filters:
    if given is None:
        return Filters()
    if given.year_from and given.year_to and given.year_from > given.year_to:
        raise InvalidInput(f"filters.year_from: {given.year_from} is after year_to, {given.year_to}")
    journals = [each.strip() for each in given.journals]
    return Filters(
        year_from=given.year_from,
        year_to=given.year_to,
        journals=frozenset([*journals, *(each.lower() for each in journals)]),
        publication_types=frozenset(_publication_type(each) for each in given.publication_types),
        tags=frozenset(given.tags),
        project=given.project,
    )


def _publication_type(named: str) -> str:
    ui = _TYPES.get(named.strip().lower(), named.strip().upper())
    if not (ui.startswith("D") and ui[1:].isdecimal()):
        choices = ", ".join(_TYPES)
        raise InvalidInput(f"filters.publication_types: {named!r} is unknown; give a MeSH UI or one of: {choices}")
    return ui


@dataclass(frozen=True, slots=True)
class _View:
    """How ranked papers are shown."""

    found: Found
    namespace: UUID
    one_per_paper: bool

    def hits(
        self, place: Ranked, documents: Mapping[str, Document], chunks: Mapping[str, list[StoredChunk]]
    ) -> list[SearchHit]:
        """The paper's best passage, or each with the share of the score that its cosine has of the best one's."""
        document, own = documents[place.candidate.pmid], chunks[place.candidate.pmid]
        if self.one_per_paper:
            return [self._hit(place, document, best_chunk(own, place.candidate.chunk_id, self.found.terms))]
        best = max(chunk.sim or 0.0 for chunk in own)
        shares = [max(0.0, chunk.sim or 0.0) / best if best > 0 else 1.0 for chunk in own]
        return [self._hit(place, document, chunk, share) for chunk, share in zip(own, shares, strict=True)]

    def _hit(self, place: Ranked, document: Document, chunk: StoredChunk, share: float = 1.0) -> SearchHit:
        candidate, article = place.candidate, document.article
        title = article.title or article.vernacular_title
        return SearchHit(
            doc_id=f"pmid:{candidate.pmid}",
            uuid=chunk_uuid(candidate.pmid, chunk.chunk_id, self.namespace),
            sim=_rounded(candidate.sim if chunk.sim is None else chunk.sim),
            bm25=_rounded(candidate.bm25),
            quality=place.total,
            score=round(place.score * share, 6),
            title=title,
            snippet=snippet(chunk.text, self.found.terms) or title,
            year=candidate.year,
            journal=article.journal.title if article.journal else None,
            retraction=candidate.retraction,
            chunk_id=chunk.chunk_id,
            section=chunk.section,
            explanation=place.explanation,
        )


def _rounded(score: float | None) -> float | None:
    return None if score is None else round(score, 6)

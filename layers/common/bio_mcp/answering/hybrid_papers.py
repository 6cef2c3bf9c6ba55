"""Papers among the hits of a search of everything."""

from collections.abc import Iterable, Iterator, Sequence

from bio_mcp.answering.hybrid_hits import PAPER, Found, Hit, HybridQuestion
from bio_mcp.answering.retractions import FLAGGED
from bio_mcp.answering.retrieving import Question, Retrieved, find
from bio_mcp.deadline import Deadline
from bio_mcp.literature.records import Document, RetractionStatus
from bio_mcp.ports import Backends
from bio_mcp.retrieval.excerpts import best_chunk, snippet
from bio_mcp.retrieval.passages import Candidate, Filters, StoredChunk
from bio_mcp.retrieval.ranking import RETRACTED_FACTOR
from bio_mcp.retrieval.reciprocal_ranks import reciprocal_ranks

SOURCE = "PubMed"


def papers(question: HybridQuestion, backends: Backends, deadline: Deadline) -> Found:
    """Find papers of the corpus. A retracted one has half of its score."""
    filters = Filters(question.year_from, question.year_to)
    retrieved = find(Question(question.text, filters, quality_bias=False), backends, deadline)
    candidates = {each.candidate.pmid: each.candidate for each in retrieved.ranked}
    scores = reciprocal_ranks([_leg(candidates.values(), "bm25"), _leg(candidates.values(), "sim")])
    scores = {pmid: round(score * _factor(candidates[pmid]), 6) for pmid, score in scores.items()}
    best = sorted(scores, key=lambda pmid: (-scores[pmid], -int(pmid)))[: question.top_k]
    deadline.check("reading the passages")
    documents, chunks = backends.documents.get_many(best), backends.passages.chunks(best)
    shown = [pmid for pmid in best if pmid in documents and chunks.get(pmid)]
    hits = [_hit(candidates[pmid], scores[pmid], documents[pmid], chunks[pmid], retrieved) for pmid in shown]
    gone = [f"{len(best) - len(shown)} papers were deleted during the search"] if len(shown) < len(best) else []
    return Found(hits, [*retrieved.warnings, *_flagged(hits)], gone)


def _leg(candidates: Iterable[Candidate], name: str) -> list[str]:
    """PMIDs of the papers that a leg returned, best first."""
    scored = [(getattr(each, name), each.pmid) for each in candidates]
    return [pmid for _, _, pmid in sorted((-score, -int(pmid), pmid) for score, pmid in scored if score is not None)]


def _factor(candidate: Candidate) -> float:
    return RETRACTED_FACTOR if candidate.retraction is RetractionStatus.RETRACTED else 1.0


def _hit(
    candidate: Candidate, score: float, document: Document, chunks: Sequence[StoredChunk], retrieved: Retrieved
) -> Hit:
    article, terms = document.article, retrieved.terms
    title = article.title or article.vernacular_title or f"PMID {article.pmid}"
    text = snippet(best_chunk(chunks, candidate.chunk_id, terms).text, terms) or title
    return Hit(f"pmid:{article.pmid}", PAPER, title, text, score, SOURCE, article.pmid, retraction=candidate.retraction)


def _flagged(hits: Sequence[Hit]) -> Iterator[str]:
    """A sentence for each paper that should not be relied on."""
    for hit in hits:
        if hit.retraction in FLAGGED:
            yield f"PMID {hit.pmid} {FLAGGED[hit.retraction]}: say so where you cite it."
